//! A store in memory: for tests, for `storage: "memory"`, and the reference for every other engine.

use litemap::LiteMap;

use super::batch::{Entry, KeyRange, Store, WriteBatch};

/// All four key spaces in one ordered map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStore {
    entries: LiteMap<(Store, String), Vec<u8>>,
}

impl MemoryStore {
    /// Entries of a range in key order.
    pub fn read(&self, range: &KeyRange) -> Vec<Entry> {
        let inside = self.entries.iter().filter(|((store, key), _)| is_inside(range, *store, key));
        inside.map(|((_, key), value)| Entry { key: key.clone(), value: value.clone() }).collect()
    }

    /// Carries out a whole batch.
    pub fn commit(&mut self, batch: WriteBatch) {
        for range in &batch.deletes {
            self.entries.retain(|(store, key), _| !is_inside(range, *store, key));
        }
        for (store, entry) in batch.puts {
            self.entries.insert((store, entry.key), entry.value);
        }
    }

    /// Every value, for a search of the whole store.
    pub fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.values().map(Vec::as_slice)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn is_inside(range: &KeyRange, store: Store, key: &str) -> bool {
    store == range.store && key >= range.from.as_str() && key < range.to.as_str()
}
