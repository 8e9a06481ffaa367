//! What a storage engine is asked to do.

use core::fmt;

/// The four ordered key spaces of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Store {
    /// Write-ahead log: one small frame an operation.
    Wal,
    /// Sealed chunks of records.
    Chunk,
    /// One manifest a scope.
    Manifest,
    /// Activation and parametric memory.
    Blob,
}

impl Store {
    /// Every store.
    pub const ALL: [Self; 4] = [Self::Wal, Self::Chunk, Self::Manifest, Self::Blob];

    /// Its name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wal => "wal",
            Self::Chunk => "chunk",
            Self::Manifest => "manifest",
            Self::Blob => "blob",
        }
    }
}

/// A half-open range of keys, `from <= key < to`. Keys are ASCII and sort bytewise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The key space.
    pub store: Store,
    /// First key.
    pub from: String,
    /// End, exclusive.
    pub to: String,
}

/// A key with its value.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} bytes", self.key, self.value.len())
    }
}

/// How far a commit must have gone before it is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Handed to the operating system.
    #[default]
    Relaxed,
    /// Flushed to the disk: for what a user is told is saved.
    Strict,
}

/// One transaction: all of it or nothing. Deletes come before puts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteBatch {
    /// Values to write.
    pub puts: Vec<(Store, Entry)>,
    /// Ranges to remove.
    pub deletes: Vec<KeyRange>,
    /// How safe.
    pub durability: Durability,
}

impl WriteBatch {
    /// Adds a value.
    pub fn put(&mut self, store: Store, key: String, value: Vec<u8>) {
        self.puts.push((store, Entry { key, value }));
    }

    /// Bytes of all values.
    pub fn value_bytes(&self) -> usize {
        self.puts.iter().map(|(_, entry)| entry.value.len()).sum()
    }
}
