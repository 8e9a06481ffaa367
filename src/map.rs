//! Hash maps and sets whose table is compiled once, for the sake of size.
//!
//! A general hash table is compiled anew for every type of key and value, a kilobyte or two each. Here the entries lie in a list,
//! and a table of their numbers, which is of one type, finds them. They are iterated in order of insertion as long as none is
//! removed; a removal puts the last entry in the place of the removed one.

use core::borrow::Borrow;
use core::hash::{BuildHasher, Hash};
use core::{mem, slice};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Values by key.
#[derive(Clone, Debug)]
pub(crate) struct HashMap<K, V> {
    entries: Vec<(K, V)>,
    places: Places,
    hasher: DefaultHashBuilder,
}

/// Distinct keys.
#[derive(Clone, Debug)]
pub(crate) struct HashSet<K>(HashMap<K, ()>);

/// Numbers of entries by hash.
#[derive(Clone, Debug, Default)]
struct Places(HashTable<Place>);

#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u32,
    at: u32,
}

impl Place {
    /// The table takes some bits from either end of what it is given.
    fn spread(&self) -> u64 {
        u64::from(self.hash) << 32 | u64::from(self.hash)
    }
}

impl Places {
    #[inline(never)]
    fn find(&self, hash: u32, is_it: &dyn Fn(usize) -> bool) -> Option<usize> {
        let wanted = Place { hash, at: 0 };
        let found = self.0.find(wanted.spread(), |place| place.hash == hash && is_it(place.at as usize));
        found.map(|place| place.at as usize)
    }

    #[inline(never)]
    fn insert(&mut self, hash: u32, at: usize) {
        let place = Place { hash, at: at as u32 };
        self.0.insert_unique(place.spread(), place, Place::spread);
    }

    /// Takes a place out.
    #[inline(never)]
    fn remove(&mut self, hash: u32, at: usize) {
        let wanted = Place { hash, at: at as u32 };
        if let Ok(entry) = self.0.find_entry(wanted.spread(), |place| place.at == wanted.at) {
            entry.remove();
        }
    }
}

impl<K, V> Default for HashMap<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), places: Places::default(), hasher: DefaultHashBuilder::default() }
    }
}

impl<K, V> HashMap<K, V> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.places.0.clear();
    }

    pub(crate) fn iter(&self) -> slice::Iter<'_, (K, V)> {
        self.entries.iter()
    }

    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(crate) fn into_values(self) -> impl ExactSizeIterator<Item = V> {
        self.entries.into_iter().map(|(_, value)| value)
    }
}

impl<K: Eq + Hash, V> HashMap<K, V> {
    fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u32 {
        self.hasher.hash_one(key) as u32
    }

    fn find<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.places.find(self.hash(key), &|at| self.entries[at].0.borrow() == key)
    }

    pub(crate) fn contains_key<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_some()
    }

    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).map(|at| &self.entries[at].1)
    }

    pub(crate) fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.find(key).map(|at| &mut self.entries[at].1)
    }

    /// The value of a key, a new one if it has none yet.
    pub(crate) fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let at = self.find(&key).unwrap_or_else(|| {
            self.push(key, new());
            self.entries.len() - 1
        });
        &mut self.entries[at].1
    }

    /// Sets the value of a key, and gives back the one it had.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(&key) {
            return Some(mem::replace(known, value));
        }
        self.push(key, value);
        None
    }

    /// Adds a key that is not there.
    fn push(&mut self, key: K, value: V) {
        self.places.insert(self.hash(&key), self.entries.len());
        self.entries.push((key, value));
    }

    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key)?;
        let last = self.entries.len() - 1;
        self.places.remove(self.hash(key), at);
        if at != last {
            let moved = self.hash(&self.entries[last].0);
            self.places.remove(moved, last);
            self.places.insert(moved, at);
        }
        Some(self.entries.swap_remove(at).1)
    }
}

/// The value of a key that is there.
impl<K: Eq + Hash, V> core::ops::Index<&K> for HashMap<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("no such key")
    }
}

/// The order of entries does not count.
impl<K: Eq + Hash, V: PartialEq> PartialEq for HashMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: Eq + Hash, V> Extend<(K, V)> for HashMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Eq + Hash, V> FromIterator<(K, V)> for HashMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

impl<K> Default for HashSet<K> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K> HashSet<K> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &K> {
        self.0.keys()
    }
}

impl<K: Eq + Hash> HashSet<K> {
    pub(crate) fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// Whether the key is new.
    pub(crate) fn insert(&mut self, key: K) -> bool {
        self.0.insert(key, ()).is_none()
    }

    /// Whether the key was there.
    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.remove(key).is_some()
    }
}

impl<K: Eq + Hash> PartialEq for HashSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Eq + Hash> Extend<K> for HashSet<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<K: Eq + Hash> FromIterator<K> for HashSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut set = Self::default();
        set.extend(keys);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_what_the_standard_map_holds(steps in prop::collection::vec((0..3_u8, 0..40_u16, any::<u8>()), 0..200)) {
            let (mut map, mut expected) = (HashMap::new(), std::collections::HashMap::new());
            for (step, key, value) in steps {
                match step {
                    0 => prop_assert_eq!(map.insert(key, value), expected.insert(key, value)),
                    1 => prop_assert_eq!(map.remove(&key), expected.remove(&key)),
                    _ => prop_assert_eq!(*map.get_or_insert_with(key, || value), *expected.entry(key).or_insert(value)),
                }
                prop_assert_eq!(map.len(), expected.len());
            }
            for key in 0..40 {
                prop_assert_eq!(map.get(&key), expected.get(&key));
            }
            prop_assert!(map.iter().all(|(key, value)| expected.get(key) == Some(value)));
        }
    }

    #[test]
    fn a_set_keeps_the_order_of_its_keys() {
        let mut set: HashSet<String> = ["b", "a", "b", "c"].map(String::from).into_iter().collect();
        assert!(set.contains("a") && !set.insert("a".into()) && set.remove("c") && !set.remove("c"));
        assert_eq!(set.iter().collect::<Vec<_>>(), ["b", "a"]);
    }
}
