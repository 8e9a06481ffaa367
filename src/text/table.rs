//! The built-in embedder: a static table of token vectors, English and Chinese.
//!
//! File: safetensors with `q` (u8, rows x dims/2: two 4-bit codes a byte, low nibble = even dimension, code = value + 8),
//! `scale` (f16, one a row), `pieces` and `zh` (u8: newline-joined UTF-8; rows are the WordPieces, then the Chinese
//! characters and words), and metadata `model_id`, `bits`, `dims`, `sha256` (of all bytes after the header).

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::order::{sort, sort_and_dedup};

use super::tensors::Tensors;
use super::tokenize::STOP;
use super::vocabulary::{Vocabulary, for_each_bert_word};

/// Most dimensions a table may have; the sum of squares of a row's codes stays exact in f32 far beyond.
const MAX_DIMS: usize = 4096;

/// Marks that stand for nothing by themselves.
const PUNCTUATION: &str = ". , ! ? ; : ' \" - ( ) [ ] … ’ “ ” 。 ， ！ ？ ； ： 、";

/// Token vectors with the tokenizer that picks them. Immutable; about 6 MB for 39,125 rows of 128 dimensions.
pub struct StaticTable {
    model_id: String,
    dims: usize,
    /// One code a byte, row by row. Unpacked at load: it doubles the codes to 5 MB, and in return a max-sim row is a
    /// plain `&[i8]` that the int8 kernel of the vector index reads without a shift and a mask an element.
    codes: Vec<i8>,
    /// Value of one code step, by row.
    scale: Vec<f32>,
    /// Length of the codes, by row.
    norm: Vec<f32>,
    vocabulary: Vocabulary,
    /// Rows of stop words and punctuation, ascending.
    stop_rows: Vec<u16>,
}

impl StaticTable {
    /// Reads a table file and verifies its checksum.
    ///
    /// # Errors
    /// `STORAGE_CORRUPT`, naming what differs, when the file is not a table of this format or fails its SHA-256.
    pub fn from_bytes(file: &[u8]) -> Result<Self> {
        let broken = |what: String| Error::corrupt(format!("static table: {what}"));
        let tensors = Tensors::read(file).map_err(broken)?;
        let field = |name: &str| tensors.metadata(name).map_err(broken);
        let sha256: String = Sha256::digest(tensors.payload).iter().map(|byte| format!("{byte:02x}")).collect();
        if field("sha256")? != sha256 {
            return Err(broken(format!("sha256 of the tensors is {sha256}, the header says {}", field("sha256")?)));
        }
        if field("bits")? != "4" {
            return Err(broken(format!("bits is {:?}, not 4", field("bits")?)));
        }
        let dims = match field("dims")?.parse() {
            Ok(dims @ 2..=MAX_DIMS) if dims % 2 == 0 => dims,
            _ => return Err(broken(format!("dims is {:?}, not an even number up to {MAX_DIMS}", field("dims")?))),
        };

        let lines = |name: &str| {
            let bytes = tensors.tensor(name, "U8", 1).map_err(broken)?.bytes;
            core::str::from_utf8(bytes).map_err(|e| broken(format!("tensor {name}: {e}")))
        };
        let vocabulary = Vocabulary::new(lines("pieces")?, lines("zh")?).map_err(broken)?;
        let q = tensors.tensor("q", "U8", 1).map_err(broken)?;
        let scale = tensors.tensor("scale", "F16", 2).map_err(broken)?;
        let rows = vocabulary.len();
        if q.shape != [rows, dims / 2] || scale.shape != [rows] {
            let (q, scale) = (q.shape, scale.shape);
            return Err(broken(format!("{rows} names of {dims} dimensions, but q is {q:?} and scale is {scale:?}")));
        }

        let mut codes = vec![0; rows * dims];
        for (pair, &byte) in codes.chunks_exact_mut(2).zip(q.bytes) {
            (pair[0], pair[1]) = ((byte & 15) as i8 - 8, (byte >> 4) as i8 - 8);
        }
        let scale = scale.bytes.chunks_exact(2).map(|b| half::f16::from_le_bytes([b[0], b[1]]).to_f32()).collect();
        let norm = codes.chunks_exact(dims).map(|row| square(row).sqrt()).collect();
        let model_id = field("model_id")?.to_string();
        let mut table = Self { model_id, dims, codes, scale, norm, vocabulary, stop_rows: Vec::new() };
        table.stop_rows = table.rows(&[STOP.join(" ").as_str(), PUNCTUATION].join(" "));
        sort_and_dedup(&mut table.stop_rows);
        Ok(table)
    }

    /// Name and version of the embedding space; vectors of different ids are never compared.
    pub fn model_id(&self) -> &str {
        &self.model_id
    }

    /// Whether a row stands for something: neither for a stop word nor for a mark of punctuation.
    pub fn is_content(&self, row: u16) -> bool {
        self.stop_rows.binary_search(&row).is_err()
    }

    /// Dimensions of a vector.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Number of rows, at most 65,536.
    pub fn len(&self) -> usize {
        self.scale.len()
    }

    /// Whether the table has no row.
    pub fn is_empty(&self) -> bool {
        self.scale.is_empty()
    }

    /// The rows a text names, with repeats: those of its WordPieces in order, then every listed substring of each run of
    /// [`is_cjk`](super::is_cjk) characters. An unknown word names none.
    pub fn rows(&self, text: &str) -> Vec<u16> {
        self.rows_and_count(text).0
    }

    /// Tokens `text` costs: its WordPieces, an unknown word or a Chinese character counting 1.
    pub fn count(&self, text: &str) -> u32 {
        let mut count = 0;
        for_each_bert_word(text, &mut |word| count += self.vocabulary.word_pieces(word, &mut |_| {}));
        count
    }

    /// [`Self::rows`] and [`Self::count`] of one reading.
    pub(super) fn rows_and_count(&self, text: &str) -> (Vec<u16>, u32) {
        let (mut rows, mut count) = (Vec::new(), 0);
        for_each_bert_word(text, &mut |word| count += self.vocabulary.word_pieces(word, &mut |row| rows.push(row)));
        self.vocabulary.chinese(text, &mut |row| rows.push(row));
        (rows, count)
    }

    /// Sum over the distinct rows of sqrt(count) times the row; not normalised. Rows the table does not have are left out.
    pub fn pooled(&self, rows: &[u16]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dims];
        // ascending, so that the order of words changes no bit of the result
        let mut sorted = rows.to_vec();
        sort(&mut sorted);
        for same in sorted.chunk_by(|a, b| a == b) {
            let Some(scale) = self.scale.get(usize::from(same[0])) else { continue };
            let weight = (same.len() as f32).sqrt() * scale;
            for (out, &code) in sum.iter_mut().zip(self.codes(same[0])) {
                *out += weight * f32::from(code);
            }
        }
        sum
    }

    /// The vector of a text at length 1; zeros when it names no row.
    pub fn unit_vector(&self, text: &str) -> Vec<f32> {
        let mut vector = self.pooled(&self.rows(text));
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if norm > 0.0 {
            vector.iter_mut().for_each(|x| *x /= norm);
        }
        vector
    }

    /// The codes of a row, -7 to 7; empty for a row the table does not have.
    ///
    /// The scale of a row cancels in a cosine: cos(a, b) = dot(codes(a), codes(b)) / (code_norm(a) * code_norm(b)).
    pub fn codes(&self, row: u16) -> &[i8] {
        let start = usize::from(row) * self.dims;
        self.codes.get(start..start + self.dims).unwrap_or_default()
    }

    /// Length of [`Self::codes`] of a row; 0 for a row the table does not have or one of zeros.
    pub fn code_norm(&self, row: u16) -> f32 {
        self.norm.get(usize::from(row)).copied().unwrap_or_default()
    }
}

impl core::fmt::Debug for StaticTable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (dims, len) = (self.dims, self.len());
        f.debug_struct("StaticTable").field("model_id", &self.model_id).field("dims", &dims).field("len", &len).finish()
    }
}

fn square(row: &[i8]) -> f32 {
    // dims * 64 stays far below 2^24, so the sum is exact
    row.iter().map(|&code| i32::from(code) * i32::from(code)).sum::<i32>() as f32
}

#[cfg(test)]
mod tests {
    use super::super::units::tests::shipped;
    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn a_row_reads_back_from_its_codes() {
        let table = shipped();
        assert_eq!((table.model_id(), table.dims(), table.len()), ("memstrata-static-128-int4-v1", 128, 39_125));
        let (cat, dog) = (table.rows("cat")[0], table.rows("dog")[0]);
        assert!(table.codes(cat).iter().all(|code| (-7..=7).contains(code)));
        let dot = |a: &[i8], b: &[i8]| a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>() as f32;
        let by_codes = dot(table.codes(cat), table.codes(dog)) / (table.code_norm(cat) * table.code_norm(dog));
        let (a, b) = (table.unit_vector("cat"), table.unit_vector("dog"));
        let by_vectors: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        assert!((by_codes - by_vectors).abs() < 1e-5, "{by_codes} is not {by_vectors}");
        assert!(by_codes > 0.3, "cat and dog are {by_codes} apart");
    }

    #[test]
    fn rows_the_table_does_not_have_are_nothing() {
        let table = shipped();
        assert_eq!((table.codes(u16::MAX).len(), table.code_norm(u16::MAX)), (0, 0.0));
        assert_eq!(table.pooled(&[u16::MAX]), vec![0.0; 128]);
        assert_eq!(table.unit_vector("ещё"), vec![0.0; 128]);
        assert_eq!((table.count("ещё нет"), table.rows("ещё нет").len()), (2, 0));
    }

    #[test]
    fn the_order_of_rows_changes_no_bit() {
        let table = shipped();
        let mut rows = table.rows("the cat and the dog and the river");
        let forth = table.pooled(&rows);
        rows.reverse();
        assert_eq!(forth, table.pooled(&rows));
    }

    #[test]
    fn a_damaged_file_says_what_differs() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pkg-js/table/table-128-int4.safetensors");
        let whole = std::fs::read(path).expect("the shipped table");
        let patched = |from: &str, to: &str| {
            let at = whole.windows(from.len()).position(|w| w == from.as_bytes()).expect(from);
            [&whole[..at], to.as_bytes(), &whole[at + from.len()..]].concat()
        };
        let mut flipped = whole.clone();
        *flipped.last_mut().expect("bytes") ^= 1;
        for (file, what) in [
            (flipped, "sha256"),
            (whole[..whole.len() - 1].to_vec(), "sha256"),
            (whole[..100].to_vec(), "header"),
            (Vec::new(), "shorter"),
            (patched("\"bits\":\"4\"", "\"bits\":\"8\""), "bits"),
            (patched("\"dims\":\"128\"", "\"dims\":\"127\""), "dims"),
            (patched("\"dims\":\"128\"", "\"dims\":\"126\""), "126 dimensions"),
            (patched("\"zh\":", "\"zz\":"), "tensor zh"),
            (patched("\"F16\"", "\"I16\""), "scale is"),
            (patched("\"model_id\"", "\"model_ix\""), "model_id"),
        ] {
            let error = StaticTable::from_bytes(&file).expect_err(what);
            assert_eq!(error.code(), ErrorCode::StorageCorrupt);
            assert!(error.message().contains(what), "{what}: {error}");
        }
    }
}
