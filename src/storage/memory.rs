//! A store in memory: for tests, for `storage: "memory"`, and the reference for every other engine.

use std::collections::BTreeMap;

use super::batch::{Entry, KeyRange, Store, WriteBatch};

/// Four ordered maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStore {
    entries: BTreeMap<(Store, String), Vec<u8>>,
}

impl MemoryStore {
    /// Entries of a range in key order.
    pub fn read(&self, range: &KeyRange) -> Vec<Entry> {
        if range.from >= range.to {
            return Vec::new();
        }
        let bounds = (range.store, range.from.clone())..(range.store, range.to.clone());
        self.entries.range(bounds).map(|((_, key), value)| Entry { key: key.clone(), value: value.clone() }).collect()
    }

    /// Carries out a whole batch.
    pub fn commit(&mut self, batch: WriteBatch) {
        for range in &batch.deletes {
            self.entries.retain(|(store, key), _| !(*store == range.store && *key >= range.from && *key < range.to));
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
