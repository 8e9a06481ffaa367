//! How to look: a scan of the codes, which is exact; first of the bits, where rows are many; or along a graph.

use super::best::better;
use super::bits::Bits;
use super::filter::Filter;
use super::flat::{self, RESCORE};
use super::graph::Graph;
use super::{Arena, Codes, Neighbour};
use crate::error::Result;
use crate::order::sort_by;

/// Live rows from which bits are scanned first. Source: `bench:vector`; at 10,000 rows of 384 numbers that takes half as long
/// as a scan of the codes, at 100,000 a quarter.
pub const BITS_FROM: usize = 8_192;

/// Live rows from which a graph is worth building, and is searched where there are no bits.
pub const GRAPH_FROM: usize = 50_000;

/// Live rows from which a graph is searched although there are bits. Source: `bench:vector`; at 100,000 rows of 384 numbers bits
/// take .6 ms for a recall of .996 and a graph takes as long for .98, but the time of bits grows with the rows.
pub const GRAPH_OVER_BITS: usize = 200_000;

/// Rows that a search in a graph holds while it looks. Source: `bench:vector`; at 100,000 rows recall@10 is .98 with 200, .97
/// with 100, .99 with 300.
pub const EF: usize = 200;

/// Vectors and what was built to find them faster.
#[derive(Clone, Copy, Debug)]
pub struct Searcher<'a> {
    /// The rows.
    pub codes: &'a Codes,
    /// The same rows exact, to rescore by; without them what codes say is the result.
    pub exact: Option<&'a Arena>,
    /// Their signs.
    pub bits: Option<&'a Bits>,
    /// A graph over those of them that were there when it was built.
    pub graph: Option<&'a Graph>,
}

/// A way to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// All rows by code.
    Scan,
    /// All rows by signs, and so many of them by code.
    Bits {
        /// Rows looked at by code.
        candidates: usize,
    },
    /// Along the graph, and the rows that came after it by code.
    Graph {
        /// Rows held while it looks.
        ef: usize,
    },
}

/// Rows to look at by code among `n_live` of `dims` numbers, to begin with. Source: `bench:vector`; with 500 of 10,000, 1,000
/// of 100,000, and 4,000 of 1,000,000 recall@10 is above .99 of what the codes allow. Fewer signs say less.
pub fn candidates(n_live: usize, dims: usize) -> usize {
    /// At 384 numbers one row of so many.
    const ONE_OF: usize = 256;
    const LEAST: usize = 500;
    (n_live / ONE_OF).max(LEAST) * 384 / dims.clamp(64, 384)
}

impl<'a> Searcher<'a> {
    /// Over an arena, without anything built.
    pub fn new(arena: &'a Arena) -> Self {
        Self { codes: arena, exact: Some(arena), bits: None, graph: None }
    }

    /// The plan for a query. With a filter it is always the scan, so that what a filter leaves is searched exactly. A graph is
    /// used as long as most of its rows are there, and few came after it.
    pub fn plan(&self, filter: &Filter<'_>) -> Plan {
        let n_live = self.codes.n_live();
        if !filter.is_none() {
            return Plan::Scan;
        }
        let graph_from = if self.bits.is_some() { GRAPH_OVER_BITS } else { GRAPH_FROM };
        if n_live >= graph_from && self.graph.is_some_and(|graph| self.fits(graph)) {
            Plan::Graph { ef: EF }
        } else if n_live >= BITS_FROM && self.bits.is_some() {
            Plan::Bits { candidates: candidates(n_live, self.codes.dims()) }
        } else {
            Plan::Scan
        }
    }

    /// Whether at least half as many rows as the graph covers are there, and at most a fifth as many came after it.
    fn fits(&self, graph: &Graph) -> bool {
        let n_later = self.codes.len().saturating_sub(graph.n_rows());
        self.codes.n_live().saturating_sub(n_later) >= graph.n_rows() / 2 && n_later <= graph.n_rows() / 5
    }

    /// The `k` rows nearest to `query`, as planned.
    ///
    /// # Errors
    /// Those of [`Codes::unit`] for the query.
    pub fn top_k(&self, query: &[f32], k: usize, filter: &Filter<'_>) -> Result<Vec<Neighbour>> {
        self.top_k_by(self.plan(filter), query, k, filter)
    }

    /// The same by a plan of one's own; a scan where what it needs is not there.
    ///
    /// # Errors
    /// Those of [`Codes::unit`] for the query.
    pub fn top_k_by(&self, plan: Plan, query: &[f32], k: usize, filter: &Filter<'_>) -> Result<Vec<Neighbour>> {
        let unit = self.codes.unit(query)?;
        let found = match (plan, self.bits, self.graph) {
            (Plan::Bits { candidates }, Some(bits), _) => self.by_bits(bits, candidates, &unit, k, filter),
            (Plan::Graph { ef }, _, Some(graph)) => Some(self.by_graph(graph, ef, &unit, k, filter)),
            _ => None,
        };
        Ok(found.unwrap_or_else(|| {
            let found = self.codes.nearest(&self.codes.query(&unit), n_rescored(k), filter);
            self.best(&unit, found, k)
        }))
    }

    /// Looks at `candidates` rows by code. Where signs tell little of the rows, as on vectors that lie evenly in all
    /// directions, what is found comes from among all of the candidates and not from the nearer half of them. Then there may
    /// be more beyond them: it looks at four times as many, and in the end gives `None`, for a scan.
    fn by_bits(
        &self,
        bits: &Bits,
        candidates: usize,
        unit: &[f32],
        k: usize,
        filter: &Filter<'_>,
    ) -> Option<Vec<Neighbour>> {
        /// One row of so many by code costs as much as a scan of all.
        const DEAR: usize = 8;
        let (signs, query) = (bits.query(unit), self.codes.query(unit));
        let mut candidates = candidates.max(2 * n_rescored(k));
        while candidates < self.codes.n_live() / DEAR {
            let near = bits.nearest(self.codes, &signs, candidates, filter);
            let found = self.best(unit, self.codes.nearest_of(&query, &near.rows, n_rescored(k)), k);
            if near.rows.len() < candidates || found.iter().all(|n| bits.distance(&signs, n.row) <= near.middle) {
                return Some(found);
            }
            candidates *= 4;
        }
        None
    }

    fn by_graph(&self, graph: &Graph, ef: usize, unit: &[f32], k: usize, filter: &Filter<'_>) -> Vec<Neighbour> {
        let (query, n) = (self.codes.query(unit), n_rescored(k));
        let mut found = graph.nearest(self.codes, &query, n, ef, filter);
        found.extend(self.codes.nearest_from(graph.n_rows(), &query, n, filter));
        sort_by(&mut found, better);
        found.truncate(n);
        self.best(unit, found, k)
    }

    /// The `k` best of what codes found.
    fn best(&self, unit: &[f32], mut found: Vec<Neighbour>, k: usize) -> Vec<Neighbour> {
        match self.exact {
            Some(arena) => flat::rescored(arena, unit, found, k),
            None => {
                found.truncate(k);
                found
            }
        }
    }
}

/// Rows that codes choose for exact cosines to decide among.
fn n_rescored(k: usize) -> usize {
    RESCORE.max(2 * k)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::filter::{Window, Zones};
    use super::super::synthetic::{self, Shape};
    use super::*;

    const K: usize = 10;

    /// Share of the `K` truly nearest live rows that `found` holds.
    fn recall(arena: &Arena, query: &[f32], found: &[Neighbour]) -> f64 {
        let scan = flat::top_k(arena, query, K, &Filter::NONE).unwrap();
        let hits = scan.iter().filter(|near| found.iter().any(|n| n.row == near.row)).count();
        hits as f64 / scan.len().max(1) as f64
    }

    #[test]
    fn bits_find_what_a_scan_finds() {
        for (dims, shape) in
            [(64, Shape::Clustered), (128, Shape::Clustered), (384, Shape::Clustered), (384, Shape::Uniform)]
        {
            for seed in 1u64..=2 {
                let which = format!("seed {seed}, {dims} dimensions, {shape:?}");
                let (mut arena, queries) = synthetic::arena(seed, 9000, dims, shape);
                let mut bits = Bits::of(&arena);
                // What comes later keeps the centre.
                for row in synthetic::rows(seed + 100, 1000, dims, shape) {
                    arena.push(&row).unwrap();
                }
                bits.extend(&arena);
                for removed in [0, 9] {
                    (0..arena.len()).filter(|row| row % 10 < removed).for_each(|row| {
                        arena.remove(row);
                    });
                    let searcher = Searcher { codes: &arena, exact: Some(&arena), bits: Some(&bits), graph: None };
                    let candidates = candidates(arena.n_live(), dims);
                    let mut sum = 0.0;
                    for query in &queries {
                        let found = searcher.top_k_by(Plan::Bits { candidates }, query, K, &Filter::NONE).unwrap();
                        assert!(found.iter().all(|n| arena.is_live(n.row as usize)), "{which}");
                        sum += recall(&arena, query, &found);
                    }
                    let mean = sum / queries.len() as f64;
                    let least = if shape == Shape::Uniform { 0.9 } else { 0.97 };
                    assert!(mean >= least, "{which}, {removed} of 10 removed: recall {mean}");
                }
            }
        }
    }

    #[test]
    fn codes_alone_come_close() {
        let (arena, queries) = synthetic::arena(5, 4000, 384, Shape::Clustered);
        let codes: &Codes = &arena;
        let searcher = Searcher { codes, exact: None, bits: None, graph: None };
        let sum: f64 = queries.iter().map(|q| recall(&arena, q, &searcher.top_k(q, K, &Filter::NONE).unwrap())).sum();
        assert!(sum / queries.len() as f64 >= 0.95, "recall {}", sum / queries.len() as f64);
    }

    #[test]
    fn the_plan_follows_the_filter_the_rows_and_what_is_built() {
        let (mut arena, _) = synthetic::arena(6, BITS_FROM, 8, Shape::Uniform);
        let bits = Bits::of(&arena);
        let with_bits =
            |arena: &'_ Arena, filter: &Filter<'_>| Searcher { bits: Some(&bits), ..Searcher::new(arena) }.plan(filter);
        assert!(matches!(with_bits(&arena, &Filter::NONE), Plan::Bits { .. }));
        assert_eq!(Searcher::new(&arena).plan(&Filter::NONE), Plan::Scan);
        assert_eq!(with_bits(&arena, &Filter::keeping(&|row| row > 1)), Plan::Scan);
        let (zones, window) = (Zones::default(), Window { from_ms: 0, end_ms: 1, tags: 0 });
        assert_eq!(with_bits(&arena, &Filter::NONE.within(&zones, window)), Plan::Scan);
        arena.remove(0);
        assert_eq!(with_bits(&arena, &Filter::NONE), Plan::Scan);

        // The plan asks a graph for the number of its rows alone.
        for row in synthetic::rows(7, GRAPH_OVER_BITS - arena.n_live(), 8, Shape::Uniform) {
            arena.push(&row).unwrap();
        }
        let graph = Graph::without_links(arena.len() as u32);
        let plan = |arena: &'_ Arena, bits, filter: &Filter<'_>| {
            Searcher { bits, graph: Some(&graph), ..Searcher::new(arena) }.plan(filter)
        };
        assert_eq!(plan(&arena, None, &Filter::NONE), Plan::Graph { ef: EF });
        assert_eq!(plan(&arena, Some(&bits), &Filter::NONE), Plan::Graph { ef: EF });
        assert_eq!(plan(&arena, None, &Filter::keeping(&|row| row > 1)), Plan::Scan);
        arena.remove(1);
        assert_eq!(plan(&arena, None, &Filter::NONE), Plan::Graph { ef: EF });
        assert!(matches!(plan(&arena, Some(&bits), &Filter::NONE), Plan::Bits { .. }));
        // Half of its rows are gone.
        (0..arena.len()).step_by(2).chain([3, 5]).for_each(|row| {
            arena.remove(row);
        });
        assert_eq!(plan(&arena, None, &Filter::NONE), Plan::Scan);
        // Many came after it.
        let few = Graph::without_links(arena.len() as u32 * 3 / 4);
        let searcher = Searcher { graph: Some(&few), ..Searcher::new(&arena) };
        assert_eq!(searcher.plan(&Filter::NONE), Plan::Scan);
    }
}
