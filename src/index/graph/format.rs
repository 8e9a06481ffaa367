//! A graph as bytes. Numbers of the head are little endian, those behind it are varints of seven bits a byte.
//!
//! ```text
//! 0  "MSGR"
//! 4  format version          u32
//! 8  xxh32 of what follows   u32
//! 12 n_rows                  u32   rows 0 .. n_rows are on the bottom layer, some of them without links
//! 16 entry                   u32   the row where a search begins
//! 20 upper layers            u32
//! 24 bottom layer: links of row 0, of row 1, …
//!    upper layers, the highest first: number of rows; for each, the row less the one before, and its links
//!
//! links: how many there are, the least of them, and the difference of each from the one before
//! ```

use xxhash_rust::xxh32::xxh32;

use super::{Graph, Layer};
use crate::error::{Error, ErrorCode, Result};

const MAGIC: &[u8; 4] = b"MSGR";
const VERSION: u32 = 1;
const HEAD: usize = 24;

impl Graph {
    /// Checks bytes and takes them over.
    ///
    /// # Errors
    /// `STORAGE_CORRUPT` for bytes that are not what was encoded, `VERSION_TOO_NEW` for a later format.
    pub fn decode(bytes: Vec<u8>) -> Result<Self> {
        let head = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map(u32::from_le_bytes).ok_or_else(|| damaged("its head is cut off"))
        };
        if bytes.get(..4) != Some(MAGIC) {
            return Err(damaged("it does not begin as one"));
        }
        let version = head(4)?;
        if version > VERSION {
            return Err(Error::new(
                ErrorCode::VersionTooNew,
                format!("a graph of format {version}, known is {VERSION}"),
            ));
        }
        if version != VERSION {
            return Err(damaged("its format was never written"));
        }
        let (checksum, n_rows, entry, n_layers) = (head(8)?, head(12)?, head(16)?, head(20)?);
        if xxh32(&bytes[12..], 0) != checksum {
            return Err(damaged("its checksum differs"));
        }
        let mut reader = Reader { bytes: &bytes, at: HEAD };
        let mut bottom = Vec::new();
        for _ in 0..n_rows {
            bottom.push(reader.at as u32);
            reader.skip_links(n_rows)?;
        }
        let mut upper = Vec::new();
        for _ in 0..n_layers {
            let mut layer = Layer::default();
            let mut row = 0;
            for n in 0..reader.number()? {
                row = next(row, reader.number()?, n == 0, n_rows)?;
                layer.rows.push(row);
                layer.at.push(reader.at as u32);
                reader.skip_links(n_rows)?;
            }
            upper.push(layer);
        }
        if reader.at != bytes.len() || (entry >= n_rows && n_rows > 0) {
            return Err(damaged("it does not end where it should"));
        }
        Ok(Self { n_rows, entry, bottom, upper, bytes })
    }

    /// Links written at a place of the bytes.
    pub(super) fn links(&self, at: u32) -> impl Iterator<Item = u32> {
        let mut reader = Reader { bytes: &self.bytes, at: at as usize };
        // All was read once already, so nothing can fail here.
        let n = reader.number().unwrap_or(0);
        let mut link = 0;
        (0..n).map(move |_| {
            link += reader.number().unwrap_or(0);
            link
        })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn number(&mut self) -> Result<u32> {
        let mut number = 0;
        for shift in (0..32).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(|| damaged("it ends early"))?;
            self.at += 1;
            number |= u32::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(damaged("it holds a number that is too large"))
    }

    fn skip_links(&mut self, n_rows: u32) -> Result<()> {
        let mut link = 0;
        for n in 0..self.number()? {
            link = next(link, self.number()?, n == 0, n_rows)?;
        }
        Ok(())
    }
}

/// The number after `before` in an ascending list of rows.
fn next(before: u32, step: u32, is_first: bool, n_rows: u32) -> Result<u32> {
    let row = before.checked_add(step).filter(|&row| row < n_rows && (is_first || step > 0));
    row.ok_or_else(|| damaged("it links to a row that is not there"))
}

fn damaged(why: &str) -> Error {
    Error::new(ErrorCode::StorageCorrupt, format!("a graph cannot be read: {why}"))
}

/// The rows of a layer with their links.
#[cfg(any(test, feature = "graph"))]
pub(super) type Rows = Vec<(u32, Vec<u32>)>;

/// The bytes of a graph over `n_rows` rows. Layers come from the bottom up.
#[cfg(any(test, feature = "graph"))]
pub(super) fn encode(n_rows: u32, entry: u32, layers: Vec<Rows>) -> Vec<u8> {
    let mut layers = layers.into_iter();
    let mut body = Vec::new();
    body.extend(n_rows.to_le_bytes());
    body.extend(entry.to_le_bytes());
    body.extend((layers.len().saturating_sub(1) as u32).to_le_bytes());
    let mut bottom = vec![Vec::new(); n_rows as usize];
    layers.next().unwrap_or_default().into_iter().for_each(|(row, links)| bottom[row as usize] = links);
    bottom.into_iter().for_each(|links| put_ascending(&mut body, links));
    for mut layer in layers.rev() {
        layer.sort_unstable();
        put(&mut body, layer.len() as u32);
        let mut before = 0;
        for (row, links) in layer {
            put(&mut body, row - before);
            before = row;
            put_ascending(&mut body, links);
        }
    }
    let checksum = xxh32(&body, 0);
    [&MAGIC[..], &VERSION.to_le_bytes(), &checksum.to_le_bytes(), &body].concat()
}

#[cfg(any(test, feature = "graph"))]
fn put(out: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(any(test, feature = "graph"))]
fn put_ascending(out: &mut Vec<u8>, mut rows: Vec<u32>) {
    rows.sort_unstable();
    rows.dedup();
    put(out, rows.len() as u32);
    let mut before = 0;
    for row in rows {
        put(out, row - before);
        before = row;
    }
}
