//! Builds a graph with the crate `instant-distance`. It blocks until it is done, so it is for a thread of its own.

use instant_distance::{Builder, Point};
use serde::{Deserialize, Serialize, Serializer};

use super::super::Codes;
use super::format;
use crate::error::{Error, Result};

/// Rows that are looked at to find the links of one (`efConstruction` of the paper).
pub const EF_CONSTRUCTION: usize = 40;

/// Upper layers hold at most one row of so many: the lowest of them would hold a third of all rows and helps no search.
const ONE_OF: usize = 8;

/// What the layers of a graph are drawn from. The same rows give the same graph, as long as one thread builds it.
const SEED: u64 = 7;

/// Links of a row that `instant-distance` keeps on upper layers; twice as many on the bottom.
const M: usize = 32;

/// A row, by its number.
#[derive(Clone, Copy)]
struct Handle<'a> {
    codes: &'a Codes,
    row: u32,
}

impl Point for Handle<'_> {
    fn distance(&self, other: &Self) -> f32 {
        1.0 - self.codes.cosine(self.row as usize, other.row as usize)
    }
}

impl Serialize for Handle<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.row)
    }
}

/// What `instant_distance::Hnsw` writes of itself: its fields are private, their serialised form is not.
#[derive(Deserialize)]
struct Hnsw {
    _ef_search: usize,
    points: Vec<u32>,
    zero: Vec<[[u32; M]; 2]>,
    layers: Vec<Vec<[u32; M]>>,
}

/// The bytes of a graph over all rows of `codes` that hold a vector.
///
/// # Errors
/// `INTERNAL` when `instant-distance` writes something else than is known here.
pub fn build(codes: &Codes, ef_construction: usize) -> Result<Vec<u8>> {
    let points: Vec<Handle<'_>> =
        (0..codes.len() as u32).filter(|&row| codes.is_live(row as usize)).map(|row| Handle { codes, row }).collect();
    let builder = Builder::default().seed(SEED).ef_construction(ef_construction);
    let bytes = postcard::to_allocvec(&builder.build_hnsw(points).0).map_err(unknown)?;
    let hnsw: Hnsw = postcard::from_bytes(&bytes).map_err(unknown)?;
    drop(bytes);

    // Nodes stand in an order of the builder's own; the first of them are those of the upper layers.
    let row_of = |node: &u32| hnsw.points.get(*node as usize).copied();
    let rows_of = |links: &[u32]| links.iter().filter_map(row_of).collect::<Vec<u32>>();
    let bottom = hnsw.points.iter().zip(&hnsw.zero).map(|(&row, links)| (row, rows_of(links.as_flattened())));
    let upper = hnsw.layers.iter().filter(|layer| layer.len() * ONE_OF <= hnsw.points.len());
    let upper = upper.map(|layer| hnsw.points.iter().zip(layer).map(|(&row, links)| (row, rows_of(links))).collect());
    let layers = core::iter::once(bottom.collect()).chain(upper).collect();
    Ok(format::encode(codes.len() as u32, hnsw.points.first().copied().unwrap_or(0), layers))
}

fn unknown(error: postcard::Error) -> Error {
    Error::internal(format!("the graph that was built cannot be read: {error}"))
}
