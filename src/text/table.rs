//! The built-in embedder: a static table of token vectors, English and Chinese.
//!
//! File: safetensors with `q` (u8, rows x dims/2: two 4-bit codes a byte, low nibble = even dimension, code = value + 8),
//! `scale` (f16, one a row), `pieces` and `zh` (u8: newline-joined UTF-8; rows are the WordPieces, then the Chinese
//! characters and words), and metadata `model_id`, `bits`, `dims`, `sha256` (of all bytes after the header).

use hashbrown::{DefaultHashBuilder, HashTable};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};
use std::hash::BuildHasher;
use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};

use super::script::{is_cjk, is_space};

/// A word longer than this many characters is unknown (BERT's tokenizer).
const MAX_PIECED_CHARS: usize = 100;

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
    lookup: Lookup,
}

impl StaticTable {
    /// Reads a table file and verifies its checksum.
    ///
    /// # Errors
    /// `STORAGE_CORRUPT`, naming what differs, when the file is not a table of this format or fails its SHA-256.
    pub fn from_bytes(file: &[u8]) -> Result<Self> {
        let broken = |what: String| Error::corrupt(format!("static table: {what}"));
        let (header_len, header) = SafeTensors::read_metadata(file).map_err(|e| broken(format!("header: {e}")))?;
        let fields = header.metadata().as_ref().ok_or_else(|| broken("no metadata".into()))?;
        let field = |name: &str| fields.get(name).ok_or_else(|| broken(format!("no metadata field {name:?}")));
        let payload = file.get(header_len + 8..).unwrap_or_default();
        let sha256: String = Sha256::digest(payload).iter().map(|byte| format!("{byte:02x}")).collect();
        if field("sha256")? != &sha256 {
            return Err(broken(format!("sha256 of the tensors is {sha256}, the header says {}", field("sha256")?)));
        }
        if field("bits")? != "4" {
            return Err(broken(format!("bits is {:?}, not 4", field("bits")?)));
        }
        let dims: usize = field("dims")?.parse().map_err(|_| broken(format!("dims is {:?}", fields["dims"])))?;
        if dims == 0 || !dims.is_multiple_of(2) {
            return Err(broken(format!("dims is {dims}, not a positive even number")));
        }

        let tensors = SafeTensors::deserialize(file).map_err(|e| broken(e.to_string()))?;
        let tensor = |name: &str, dtype: Dtype| -> Result<TensorView<'_>> {
            let view = tensors.tensor(name).map_err(|e| broken(format!("tensor {name}: {e}")))?;
            if view.dtype() == dtype {
                Ok(view)
            } else {
                Err(broken(format!("tensor {name} is {:?}, not {dtype:?}", view.dtype())))
            }
        };
        let lines = |name: &str| -> Result<String> {
            let bytes = tensor(name, Dtype::U8)?.data().to_vec();
            String::from_utf8(bytes).map_err(|e| broken(format!("tensor {name}: {e}")))
        };
        let lookup = Lookup::new(&lines("pieces")?, &lines("zh")?).map_err(broken)?;
        let (q, scale) = (tensor("q", Dtype::U8)?, tensor("scale", Dtype::F16)?);
        let rows = lookup.len();
        if q.shape() != [rows, dims / 2] || scale.shape() != [rows] {
            let (q, scale) = (q.shape(), scale.shape());
            return Err(broken(format!("{rows} names of {dims} dimensions, but q is {q:?} and scale is {scale:?}")));
        }

        let mut codes = Vec::with_capacity(rows * dims);
        for &byte in q.data() {
            codes.extend([(byte & 15) as i8 - 8, (byte >> 4) as i8 - 8]);
        }
        let scale = scale.data().chunks_exact(2).map(|b| half::f16::from_le_bytes([b[0], b[1]]).to_f32()).collect();
        let norm = codes.chunks_exact(dims).map(|row| square(row).sqrt()).collect();
        Ok(Self { model_id: field("model_id")?.clone(), dims, codes, scale, norm, lookup })
    }

    /// Name and version of the embedding space; vectors of different ids are never compared.
    pub fn model_id(&self) -> &str {
        &self.model_id
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
    /// [`is_cjk`] characters. An unknown word names none.
    pub fn rows(&self, text: &str) -> Vec<u16> {
        self.rows_and_count(text).0
    }

    /// Tokens `text` costs: its WordPieces, an unknown word or a Chinese character counting 1.
    pub fn count(&self, text: &str) -> u32 {
        let mut count = 0;
        for_each_bert_word(text, &mut |word| count += self.lookup.word_pieces(word, &mut |_| {}));
        count
    }

    /// [`Self::rows`] and [`Self::count`] of one reading.
    pub(super) fn rows_and_count(&self, text: &str) -> (Vec<u16>, u32) {
        let (mut rows, mut count) = (Vec::new(), 0);
        for_each_bert_word(text, &mut |word| count += self.lookup.word_pieces(word, &mut |row| rows.push(row)));
        self.lookup.chinese(text, &mut |row| rows.push(row));
        (rows, count)
    }

    /// Sum over the distinct rows of sqrt(count) times the row; not normalised. Rows the table does not have are left out.
    pub fn pooled(&self, rows: &[u16]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dims];
        // ascending, so that the order of words changes no bit of the result
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
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

/// From names to rows: one blob of text, the end of each name in it, and hash tables of row numbers alone.
struct Lookup {
    names: String,
    ends: Vec<u32>,
    /// WordPieces that begin a word, those that go on with one (their names without `##`), Chinese names.
    maps: [HashTable<u16>; 3],
    hasher: DefaultHashBuilder,
    /// Longest WordPiece in bytes, longest Chinese name in characters.
    longest: (usize, usize),
}

const HEAD: usize = 0;
const TAIL: usize = 1;
const CHINESE: usize = 2;

impl Lookup {
    fn new(pieces: &str, zh: &str) -> Result<Self, String> {
        let mut new = Self {
            names: String::with_capacity(pieces.len() + zh.len()),
            ends: Vec::new(),
            maps: [HashTable::new(), HashTable::new(), HashTable::new()],
            hasher: DefaultHashBuilder::default(),
            longest: (0, 0),
        };
        let lines = |text: &str| text.bytes().filter(|&b| b == b'\n').count() + 1;
        let (n_pieces, n_zh) = (lines(pieces), lines(zh));
        new.ends.reserve(n_pieces + n_zh);
        for (map, n) in [(HEAD, n_pieces), (TAIL, n_pieces / 4), (CHINESE, n_zh)] {
            new.maps[map].reserve(n, |_| 0);
        }
        for name in pieces.split('\n').filter(|name| !name.is_empty()) {
            match name.strip_prefix("##") {
                Some(tail) if !tail.is_empty() => new.insert(TAIL, tail)?,
                _ => new.insert(HEAD, name)?,
            }
            new.longest.0 = new.longest.0.max(name.len());
        }
        for name in zh.split('\n').filter(|name| !name.is_empty()) {
            new.insert(CHINESE, name)?;
            new.longest.1 = new.longest.1.max(name.chars().count());
        }
        Ok(new)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn insert(&mut self, map: usize, name: &str) -> Result<(), String> {
        let row = u16::try_from(self.ends.len()).map_err(|_| "more than 65,536 rows".to_string())?;
        if self.find(map, name).is_some() {
            return Err(format!("{name:?} is listed twice"));
        }
        self.names.push_str(name);
        self.ends.push(u32::try_from(self.names.len()).map_err(|_| "names over 4 GiB".to_string())?);
        let hash = self.hasher.hash_one(name);
        let Self { names, ends, maps, hasher, .. } = self;
        maps[map].insert_unique(hash, row, |&row| hasher.hash_one(name_of(names, ends, row)));
        Ok(())
    }

    fn find(&self, map: usize, name: &str) -> Option<u16> {
        let hash = self.hasher.hash_one(name);
        self.maps[map].find(hash, |&row| name_of(&self.names, &self.ends, row) == name).copied()
    }

    /// Greedy longest match; calls `f` with the rows of a known word. Returns the number of pieces, 1 for an unknown word.
    fn word_pieces(&self, word: &str, f: &mut dyn FnMut(u16)) -> u32 {
        if word.len() > MAX_PIECED_CHARS && word.chars().nth(MAX_PIECED_CHARS).is_some() {
            return 1;
        }
        let (mut rows, mut n, mut from) = ([0; MAX_PIECED_CHARS], 0, 0);
        while from < word.len() {
            let map = if from == 0 { HEAD } else { TAIL };
            let mut end = word.len().min(from + self.longest.0);
            let found = loop {
                if end == from {
                    return 1;
                }
                if word.is_char_boundary(end)
                    && let Some(row) = self.find(map, &word[from..end])
                {
                    break row;
                }
                end -= 1;
            };
            (rows[n], n, from) = (found, n + 1, end);
        }
        rows[..n].iter().for_each(|&row| f(row));
        n as u32
    }

    /// Calls `f` with the row of every listed substring of every run of Chinese characters, by start, then length.
    fn chinese(&self, text: &str, f: &mut dyn FnMut(u16)) {
        for (start, c) in text.char_indices().filter(|&(_, c)| is_cjk(c)) {
            let mut end = start;
            for c in core::iter::once(c).chain(text[start + c.len_utf8()..].chars()).take(self.longest.1) {
                if !is_cjk(c) {
                    break;
                }
                end += c.len_utf8();
                if let Some(row) = self.find(CHINESE, &text[start..end]) {
                    f(row);
                }
            }
        }
    }
}

fn name_of<'a>(names: &'a str, ends: &[u32], row: u16) -> &'a str {
    let row = usize::from(row);
    let start = if row == 0 { 0 } else { ends[row - 1] as usize };
    &names[start..ends[row] as usize]
}

/// BERT's pre-tokenizer: without controls and accents, lower-case, split at white space, punctuation and Chinese characters.
fn for_each_bert_word(text: &str, f: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut push = |c: char| {
        let alone = if is_space(c) {
            false
        } else if c.is_ascii() {
            if c.is_ascii_control() {
                return;
            }
            !c.is_ascii_alphanumeric()
        } else {
            match get_general_category(c) {
                _ if c == '\u{fffd}' => return,
                Category::NonspacingMark
                | Category::Control
                | Category::Format
                | Category::Surrogate
                | Category::PrivateUse
                | Category::Unassigned => return,
                category => is_cjk(c) || is_punctuation(category),
            }
        };
        if !alone && !is_space(c) {
            word.push(c);
            return;
        }
        if !word.is_empty() {
            f(&word);
            word.clear();
        }
        if alone {
            f(c.encode_utf8(&mut [0; 4]));
        }
    };
    if text.is_ascii() {
        text.chars().for_each(|c| push(c.to_ascii_lowercase()));
    } else {
        text.nfd().collect::<String>().to_lowercase().chars().for_each(&mut push);
    }
    if !word.is_empty() {
        f(&word);
    }
}

fn is_punctuation(category: Category) -> bool {
    matches!(
        category,
        Category::ConnectorPunctuation
            | Category::DashPunctuation
            | Category::OpenPunctuation
            | Category::ClosePunctuation
            | Category::InitialPunctuation
            | Category::FinalPunctuation
            | Category::OtherPunctuation
    )
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
            (whole[..whole.len() - 1].to_vec(), "header"),
            (whole[..100].to_vec(), "header"),
            (Vec::new(), "header"),
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

    #[test]
    fn a_name_listed_twice_is_refused() {
        assert!(Lookup::new("a\nb\n##a", "字").is_ok());
        assert!(Lookup::new("a\nb\na", "").is_err());
    }
}
