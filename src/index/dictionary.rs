//! Interned strings: each distinct one once, in one buffer, named by a number.

use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct strings by number, from 0 in order of first sight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    text: String,
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Interner {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string of a number.
    pub(crate) fn text(&self, id: u32) -> &str {
        slice(&self.text, &self.ends, id)
    }

    /// The number of a string that is known.
    pub(crate) fn get(&self, text: &str) -> Option<u32> {
        self.table.find(self.hasher.hash_one(text), |&id| self.text(id) == text).copied()
    }

    /// The number of a string, a new one if need be.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(&id) = self.table.find(hash, |&id| slice(&self.text, &self.ends, id) == text) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        let Self { text, ends, table, hasher } = self;
        table.insert_unique(hash, id, |&id| hasher.hash_one(slice(text, ends, id)));
        id
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], id: u32) -> &'a str {
    let start = if id == 0 { 0 } else { ends[id as usize - 1] };
    &text[start as usize..ends[id as usize] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_keeps_its_number() {
        let mut interner = Interner::default();
        let texts: Vec<String> =
            (0..500).map(|i| format!("w{i}")).chain([String::new(), "constructor".into()]).collect();
        let ids: Vec<u32> = texts.iter().map(|t| interner.intern(t)).collect();
        assert_eq!(ids, (0..502).collect::<Vec<_>>());
        for (text, id) in texts.iter().zip(ids) {
            assert_eq!((interner.intern(text), interner.get(text), interner.text(id)), (id, Some(id), text.as_str()));
        }
        assert_eq!((interner.get("absent"), interner.len()), (None, 502));
    }
}
