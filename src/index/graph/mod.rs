//! A graph over the rows of [`Codes`](super::Codes) as they were at one time: each row with links to rows near it, and on
//! layers above it fewer and fewer rows with longer links (HNSW, arXiv 1603.09320).
//!
//! It is built elsewhere, because that takes minutes: [`rows`] carries the codes there, `build` makes the bytes that
//! [`Graph::decode`] takes back. It names rows by number and is worth nothing once they are renumbered.

#[cfg(any(test, feature = "graph"))]
pub mod build;
mod format;
pub mod rows;
mod search;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod test;

/// Links between rows, checked and ready to be searched. Held as it is stored, which takes a third of the space.
#[derive(Clone, Debug)]
pub struct Graph {
    bytes: Vec<u8>,
    /// Rows below this were there when it was built.
    n_rows: u32,
    entry: u32,
    /// By row, where in the bytes its links on the bottom layer are.
    bottom: Vec<u32>,
    /// The layers above, the highest first.
    upper: Vec<Layer>,
}

/// Rows of an upper layer in order of their numbers, and where in the bytes their links are.
#[derive(Clone, Debug, Default)]
struct Layer {
    rows: Vec<u32>,
    at: Vec<u32>,
}

impl Graph {
    /// Rows that it covers: those below this number.
    pub fn n_rows(&self) -> usize {
        self.n_rows as usize
    }

    /// Over rows that no link joins.
    #[cfg(test)]
    pub(super) fn without_links(n_rows: u32) -> Self {
        Self { bytes: Vec::new(), n_rows, entry: 0, bottom: Vec::new(), upper: Vec::new() }
    }

    /// Its bytes, as they are stored.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
