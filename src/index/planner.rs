//! How to look: a scan of the codes, which is exact, or first of the bits, where rows are many.

use super::bits::Bits;
use super::filter::Filter;
use super::flat::{self, RESCORE};
use super::{Arena, Codes, Neighbour};
use crate::error::Result;

/// Live rows from which bits are scanned first. Source: `bench:vector`; at 10,000 rows of 384 numbers that takes half as long
/// as a scan of the codes, at 100,000 a quarter.
pub const BITS_FROM: usize = 8_192;

/// Vectors and what was built to find them faster.
#[derive(Clone, Copy, Debug)]
pub struct Searcher<'a> {
    /// The rows.
    pub codes: &'a Codes,
    /// The same rows exact, to rescore by; without them what codes say is the result.
    pub exact: Option<&'a Arena>,
    /// Their signs.
    pub bits: Option<&'a Bits>,
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
        Self { codes: arena, exact: Some(arena), bits: None }
    }

    /// The plan for a query. With a filter it is always the scan, so that what a filter leaves is searched exactly.
    pub fn plan(&self, filter: &Filter<'_>) -> Plan {
        let n_live = self.codes.n_live();
        match self.bits {
            Some(_) if filter.is_none() && n_live >= BITS_FROM => {
                Plan::Bits { candidates: candidates(n_live, self.codes.dims()) }
            }
            _ => Plan::Scan,
        }
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
        let by_bits = match (plan, self.bits) {
            (Plan::Bits { candidates }, Some(bits)) => self.by_bits(bits, candidates, &unit, k, filter),
            _ => None,
        };
        Ok(by_bits.unwrap_or_else(|| {
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
                    let searcher = Searcher { codes: &arena, exact: Some(&arena), bits: Some(&bits) };
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
        let searcher = Searcher { codes, exact: None, bits: None };
        let sum: f64 = queries.iter().map(|q| recall(&arena, q, &searcher.top_k(q, K, &Filter::NONE).unwrap())).sum();
        assert!(sum / queries.len() as f64 >= 0.95, "recall {}", sum / queries.len() as f64);
    }

    #[test]
    fn a_filter_is_always_scanned() {
        let (mut arena, _) = synthetic::arena(6, 300, 16, Shape::Uniform);
        for row in synthetic::rows(7, BITS_FROM - 300, 16, Shape::Uniform) {
            arena.push(&row).unwrap();
        }
        let bits = Bits::of(&arena);
        let searcher = Searcher { bits: Some(&bits), ..Searcher::new(&arena) };
        assert!(matches!(searcher.plan(&Filter::NONE), Plan::Bits { .. }));
        assert_eq!(Searcher::new(&arena).plan(&Filter::NONE), Plan::Scan);
        assert_eq!(searcher.plan(&Filter::keeping(&|row| row > 1)), Plan::Scan);
        let (zones, window) = (Zones::default(), Window { from_ms: 0, end_ms: 1, tags: 0 });
        assert_eq!(searcher.plan(&Filter::NONE.within(&zones, window)), Plan::Scan);
        arena.remove(0);
        let searcher = Searcher { bits: Some(&bits), ..Searcher::new(&arena) };
        assert_eq!(searcher.plan(&Filter::NONE), Plan::Scan);
    }
}
