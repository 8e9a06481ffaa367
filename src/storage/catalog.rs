//! Where the live version of every record lies, and which chunks still hold older ones.

use litemap::LiteMap;

use crate::map::{HashMap, HashSet};
use crate::model::RecordKey;
use crate::order::{sort_and_dedup, sort_by};

/// A value of the database that holds records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// The log frame of this commit.
    Log(u64),
    /// The chunk of this number.
    Chunk(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Live {
    at: Location,
    seq: u64,
    bytes: u32,
    removal: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Usage {
    total_bytes: u64,
    live_bytes: u64,
    /// Every record that was noted there, live or not.
    keys: Vec<RecordKey>,
}

/// The catalog of one scope. Invariant: a record's bytes lie at its live location and at its stale ones, nowhere else; so
/// rewriting those values without it erases it.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    live: HashMap<RecordKey, Live>,
    stale: HashMap<RecordKey, HashSet<Location>>,
    usage: LiteMap<Location, Usage>,
}

impl Catalog {
    /// Notes a value that has been written.
    pub fn note_value(&mut self, at: Location, total_bytes: usize) {
        self.usage_of(at).total_bytes = total_bytes as u64;
    }

    fn usage_of(&mut self, at: Location) -> &mut Usage {
        self.usage.entry(at).or_default()
    }

    /// Notes a record within it; the later commit wins, whatever the order of the calls.
    pub fn note_record(&mut self, at: Location, key: RecordKey, seq: u64, bytes: usize, removal: bool) {
        self.usage_of(at).keys.push(key);
        let known = self.live.get(&key).copied();
        if known.is_some_and(|known| known.seq > seq) {
            self.stale.get_or_insert_with(key, Default::default).insert(at);
            return;
        }
        if let Some(known) = known {
            self.uncount(known);
            if known.at != at {
                self.stale.get_or_insert_with(key, Default::default).insert(known.at);
            }
        }
        self.live.insert(key, Live { at, seq, bytes: bytes as u32, removal });
        self.usage_of(at).live_bytes += bytes as u64;
    }

    fn uncount(&mut self, known: Live) {
        if let Some(usage) = self.usage.get_mut(&known.at) {
            usage.live_bytes = usage.live_bytes.saturating_sub(u64::from(known.bytes));
        }
    }

    /// Forgets a value that is gone from the database, with every record whose live version lay there.
    pub fn drop_value(&mut self, at: Location) {
        for key in self.usage.remove(&at).map(|usage| usage.keys).unwrap_or_default() {
            if self.live.get(&key).is_some_and(|entry| entry.at == at) {
                self.live.remove(&key);
            }
            if let Some(places) = self.stale.get_mut(&key) {
                places.remove(&at);
                if places.is_empty() {
                    self.stale.remove(&key);
                }
            }
        }
    }

    /// Whether the version of `key` that lies at `at` is the live one.
    pub fn is_live(&self, key: RecordKey, at: Location, seq: u64) -> bool {
        self.live.get(&key).is_some_and(|entry| entry.at == at && entry.seq == seq)
    }

    /// Whether a removal must still be remembered: older versions lie in values other than `except`.
    pub fn shadows(&self, key: RecordKey, except: &dyn Fn(Location) -> bool) -> bool {
        self.stale.get(&key).is_some_and(|places| places.iter().any(|&at| !except(at)))
    }

    /// Every value that holds any version of `key`.
    pub fn places(&self, key: RecordKey) -> Vec<Location> {
        let mut places: Vec<_> = self.live.get(&key).map(|entry| entry.at).into_iter().collect();
        places.extend(self.stale.get(&key).into_iter().flat_map(HashSet::iter).copied());
        sort_and_dedup(&mut places);
        places
    }

    /// Every value that holds a version, no longer live, of a record that `is_meant`.
    pub fn stale_places(&self, is_meant: &dyn Fn(RecordKey) -> bool) -> Vec<Location> {
        self.stale.iter().filter(|(key, _)| is_meant(*key)).flat_map(|(_, places)| places.iter().copied()).collect()
    }

    /// Chunks of which more than half is no longer live, fullest of waste first.
    pub fn wasted_chunks(&self) -> Vec<u32> {
        let mut wasted: Vec<_> = self
            .usage
            .iter()
            .filter_map(|(&at, usage)| match at {
                Location::Chunk(id) if usage.live_bytes * 2 < usage.total_bytes => {
                    Some((usage.total_bytes - usage.live_bytes, id))
                }
                _ => None,
            })
            .collect();
        sort_by(&mut wasted, |a, b| b.cmp(a));
        wasted.into_iter().map(|(_, id)| id).collect()
    }

    /// Values and bytes of the log.
    pub fn log_size(&self) -> (usize, u64) {
        self.size_of(|at| matches!(at, Location::Log(_)))
    }

    /// Values and bytes of the chunks.
    pub fn chunk_size(&self) -> (usize, u64) {
        self.size_of(|at| matches!(at, Location::Chunk(_)))
    }

    fn size_of(&self, counts: impl Fn(Location) -> bool) -> (usize, u64) {
        let values = self.usage.iter().filter(|&(&at, _)| counts(at));
        values.fold((0, 0), |(n, bytes), (_, usage)| (n + 1, bytes + usage.total_bytes))
    }

    /// The live records, for a check against what the tiers hold.
    pub fn live_keys(&self) -> impl Iterator<Item = RecordKey> + '_ {
        self.live.iter().filter(|(_, entry)| !entry.removal).map(|&(key, _)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RecordKind;

    const KEY: RecordKey = RecordKey { kind: RecordKind::Page, id: 1 };

    #[test]
    fn the_later_commit_wins_in_any_order() {
        let versions = [(Location::Chunk(0), 3), (Location::Log(7), 7), (Location::Log(5), 5)];
        for rotation in 0..3 {
            let mut catalog = Catalog::default();
            for step in 0..3 {
                let (at, seq) = versions[(rotation + step) % 3];
                catalog.note_value(at, 100);
                catalog.note_record(at, KEY, seq, 40, false);
            }
            assert!(catalog.is_live(KEY, Location::Log(7), 7));
            assert_eq!(catalog.places(KEY), [Location::Log(5), Location::Log(7), Location::Chunk(0)]);
            assert_eq!(catalog.wasted_chunks(), [0]);
            catalog.drop_value(Location::Log(5));
            assert!(catalog.shadows(KEY, &|_| false));
            assert!(!catalog.shadows(KEY, &|at| at == Location::Chunk(0)));
        }
    }
}
