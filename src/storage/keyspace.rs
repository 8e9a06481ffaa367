//! Keys of one scope. Users' ids are data: only a digest of them enters a key, so that no id can name another's space.

use core::fmt::Write;

use sha2::{Digest, Sha256};

use super::batch::{KeyRange, Store};
use crate::model::Scope;

/// Makes the keys of one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyspace {
    /// 128 bits of SHA-256 over the length-prefixed parts of the scope, in hexadecimal. The manifest holds the scope itself,
    /// and opening compares it.
    prefix: String,
}

impl Keyspace {
    /// The key space of `scope`.
    pub fn new(scope: &Scope) -> Self {
        let mut digest = Sha256::new();
        for part in [&scope.user, &scope.assistant, &scope.cube] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let mut prefix = String::with_capacity(33);
        for byte in &digest.finalize()[..16] {
            let _ = write!(prefix, "{byte:02x}");
        }
        prefix.push('/');
        Self { prefix }
    }

    /// Key of a log frame.
    pub fn wal(&self, seq: u64) -> String {
        format!("{}{seq:016x}", self.prefix)
    }

    /// Key of a chunk.
    pub fn chunk(&self, id: u32) -> String {
        format!("{}{id:08x}", self.prefix)
    }

    /// Key of the manifest.
    pub fn manifest(&self) -> String {
        format!("{}manifest", self.prefix)
    }

    /// Everything of this scope in one store.
    pub fn all(&self, store: Store) -> KeyRange {
        let mut to = self.prefix.clone();
        to.pop();
        to.push('0'); // the character after '/'
        KeyRange { store, from: self.prefix.clone(), to }
    }

    /// Exactly one key.
    pub fn only(store: Store, key: String) -> KeyRange {
        let to = format!("{key}\0");
        KeyRange { store, from: key, to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(user: &str, assistant: &str) -> String {
        Keyspace::new(&Scope { user: user.into(), assistant: assistant.into(), cube: String::new() }).prefix
    }

    #[test]
    fn case_34_ids_are_data_and_never_share_a_space() {
        let odd = ["a", "a/b", "..", "a:b", " ", "a b", "", "a/", "/a", "\0", "你好"];
        for (i, one) in odd.iter().enumerate() {
            for other in &odd[i + 1..] {
                assert_ne!(prefix(one, "x"), prefix(other, "x"), "{one:?} {other:?}");
            }
        }
        assert_ne!(prefix("ab", "c"), prefix("a", "bc"));
        assert_eq!(prefix("a", "b").len(), 33);
    }

    #[test]
    fn ranges_hold_their_own_keys_only() {
        let keys = Keyspace::new(&Scope { user: "u".into(), assistant: "a".into(), cube: "c".into() });
        let all = keys.all(Store::Wal);
        assert!(all.from < keys.wal(0) && keys.wal(u64::MAX) < all.to);
        let one = Keyspace::only(Store::Wal, keys.wal(7));
        assert!(one.from <= keys.wal(7) && keys.wal(7) < one.to && keys.wal(8) >= one.to);
    }
}
