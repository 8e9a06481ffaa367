//! Search in a graph: down the upper layers to the nearest row each, then along the links of the bottom layer, the nearest
//! row first, until the nearest that is left is farther than all that were found.

use super::super::best::{Best, Neighbour};
use super::super::codes::QueryCodes;
use super::super::filter::Filter;
use super::super::{Codes, kernel};
use super::{Graph, Layer};

/// Rows whose codes are asked for at once; the links of one row.
const BATCH: usize = kernel::BLOCK;

/// Rows that were seen, a bit each.
struct Seen(Vec<u64>);

impl Seen {
    /// Whether a row is seen for the first time.
    fn is_new(&mut self, row: u32) -> bool {
        let (word, bit) = (&mut self.0[row as usize / 64], 1 << (row % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

impl Graph {
    /// The `n` rows nearest to a query among those that the graph covers, best first, with their cosines by code. `ef` rows,
    /// `n` at least, are held while it looks (`ef` of the paper): the more, the surer and the slower.
    ///
    /// A removed row is no result but still a way: its links are followed as if it lay where the row lies that led to it.
    pub(crate) fn nearest(
        &self,
        codes: &Codes,
        query: &QueryCodes,
        n: usize,
        ef: usize,
        filter: &Filter<'_>,
    ) -> Vec<Neighbour> {
        if self.n_rows == 0 || codes.len() < self.n_rows() {
            return Vec::new();
        }
        let mut at = Neighbour { row: self.entry, cosine: f32::NEG_INFINITY };
        for layer in &self.upper {
            at = self.descend(layer, codes, query, at);
        }
        let mut found = Best::new(ef.max(n));
        // The worst of negated cosines comes first, so the nearest.
        let mut open = Best::new(usize::MAX);
        let mut seen = Seen(vec![0; self.n_rows().div_ceil(64)]);
        seen.is_new(at.row);
        if codes.is_live(at.row as usize) {
            visit(codes, query, &[at.row], filter, &mut found, &mut open);
        } else {
            open.push(at.row, 0.0);
        }
        let mut batch = Vec::with_capacity(BATCH);
        while let Some(next) = open.pop_worst() {
            let cosine = -next.cosine;
            if cosine < found.bar() {
                break;
            }
            batch.clear();
            for row in self.links(self.bottom[next.row as usize]).filter(|&row| seen.is_new(row)) {
                if codes.is_live(row as usize) {
                    batch.push(row);
                } else {
                    open.push(row, -cosine);
                }
            }
            visit(codes, query, &batch, filter, &mut found, &mut open);
        }
        let mut found = found.into_sorted();
        found.truncate(n);
        codes.scale(query, &mut found);
        found
    }

    /// The row of an upper layer from which no link leads to a nearer one, going out from `nearest`.
    fn descend(&self, layer: &Layer, codes: &Codes, query: &QueryCodes, mut nearest: Neighbour) -> Neighbour {
        let mut links = Vec::with_capacity(BATCH);
        loop {
            let Ok(at) = layer.rows.binary_search(&nearest.row) else { return nearest };
            links.clear();
            links.extend(self.links(layer.at[at]).filter(|&row| codes.is_live(row as usize)));
            let before = nearest.row;
            codes.products(query, &links, &mut |row, cosine| {
                if cosine > nearest.cosine {
                    nearest = Neighbour { row, cosine };
                }
            });
            if nearest.row == before {
                return nearest;
            }
        }
    }
}

/// Looks at rows that hold a vector: they are ways on when they are near enough, and results when the filter lets them.
fn visit(codes: &Codes, query: &QueryCodes, rows: &[u32], filter: &Filter<'_>, found: &mut Best, open: &mut Best) {
    codes.products(query, rows, &mut |row, cosine| {
        if cosine >= found.bar() {
            open.push(row, -cosine);
            if codes.lets(row, filter) {
                found.push(row, cosine);
            }
        }
    });
}
