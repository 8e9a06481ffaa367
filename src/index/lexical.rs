//! The keyword index: a dictionary of the distinct forms (words, character n-grams of unspaced scripts) and one posting
//! list a form.
//!
//! A posting is the handle of an atom, once for each occurrence. Nothing else is stored by document: a turn's frequency is
//! the sum over its atoms, a window's and a session's the sum over their turns, and the two lexical fields (stems and
//! character 4-grams) are resolved through the dictionary (term -> forms -> postings). A form's 4-grams are therefore
//! written once and not once a turn, at the price of summing several short lists a gram.

use super::dictionary::Interner;
use crate::text::{TokenKind, for_each_gram, for_each_token, stem};

/// The two fields that are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Stems; of unspaced scripts bigrams and single characters.
    Stems,
    /// Character 4-grams of `_word_`; of unspaced scripts bigrams.
    Grams,
}

/// Terms of a field with the forms that contain them.
#[derive(Clone, Debug, Default)]
struct Terms {
    names: Interner,
    /// By term: (form, times the term is in it).
    forms: Vec<Vec<(u32, u32)>>,
}

/// The keyword index over atoms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexical {
    forms: Interner,
    stems: Terms,
    grams: Terms,
    /// By form.
    kinds: Vec<TokenKind>,
    /// By form: number of grams it has. (Every form is one stem.)
    n_grams: Vec<u32>,
    /// By form: atom handles, ascending.
    postings: Vec<Vec<u32>>,
    /// By atom: stems, grams.
    lengths: Vec<[u32; 2]>,
}

impl Terms {
    fn add(&mut self, term: &str, form: u32) {
        let term = self.names.intern(term) as usize;
        if term == self.forms.len() {
            self.forms.push(Vec::new());
        }
        match self.forms[term].last_mut() {
            Some((last, count)) if *last == form => *count += 1,
            _ => self.forms[term].push((form, 1)),
        }
    }
}

/// Marks the key of a single character inside a run: unlike a lone one it is no term of the grams field.
const INNER: char = '\0';

impl Lexical {
    /// Indexes the text of the next atom handle.
    pub(crate) fn push_atom(&mut self, text: &str) {
        let atom = self.lengths.len() as u32;
        let (mut n_stems, mut n_grams) = (0, 0);
        let mut key = String::new();
        for_each_token(text, &mut |token| {
            let form = if token.kind == TokenKind::Unigram {
                key.clear();
                key.push(INNER);
                key.push_str(token.text);
                self.forms.intern(&key)
            } else {
                self.forms.intern(token.text)
            };
            if form as usize == self.postings.len() {
                self.define(form, token.text, token.kind);
            }
            self.postings[form as usize].push(atom);
            n_stems += 1;
            n_grams += self.n_grams[form as usize];
        });
        self.lengths.push([n_stems, n_grams]);
    }

    fn define(&mut self, form: u32, text: &str, kind: TokenKind) {
        self.postings.push(Vec::new());
        self.kinds.push(kind);
        let mut n_grams = 0;
        if kind == TokenKind::Word {
            self.stems.add(&stem(text), form);
            for_each_gram(text, &mut |gram| {
                self.grams.add(gram, form);
                n_grams += 1;
            });
        } else {
            self.stems.add(text, form);
            if kind != TokenKind::Unigram {
                self.grams.add(text, form);
                n_grams = 1;
            }
        }
        self.n_grams.push(n_grams);
    }

    /// Number of a term of a field; `None` when no atom ever held it.
    pub(crate) fn term(&self, field: Field, name: &str) -> Option<u32> {
        self.terms(field).names.get(name)
    }

    /// Calls `f(atom, count)` for every occurrence of the term, dead atoms included; an atom may come several times.
    #[inline(always)]
    pub(crate) fn for_each_occurrence(&self, field: Field, term: u32, f: &mut impl FnMut(u32, u32)) {
        // By index: see `kernel::column`.
        let forms = self.terms(field).forms[term as usize].as_slice();
        let mut at = 0;
        while at < forms.len() {
            let (form, count) = forms[at];
            let postings = self.postings[form as usize].as_slice();
            let mut i = 0;
            while i < postings.len() {
                f(postings[i], count);
                i += 1;
            }
            at += 1;
        }
    }

    /// Terms of a field that `atom` holds, with repetitions.
    pub(crate) fn length(&self, field: Field, atom: u32) -> u32 {
        self.lengths[atom as usize][field as usize]
    }

    /// Distinct forms known.
    pub(crate) fn n_forms(&self) -> usize {
        self.forms.len()
    }

    /// Drops the postings of the atoms that `renumbered` maps to `None`, and the forms that have none left.
    pub(crate) fn compact(&mut self, renumbered: &[Option<u32>]) {
        let mut next = Self::default();
        for (form, old) in self.postings.iter().enumerate() {
            let postings: Vec<u32> = old.iter().filter_map(|&atom| renumbered[atom as usize]).collect();
            if postings.is_empty() {
                continue;
            }
            let key = self.forms.text(form as u32);
            let new = next.forms.intern(key);
            let text = key.strip_prefix(INNER).unwrap_or(key);
            next.define(new, text, self.kinds[form]);
            next.postings[new as usize] = postings;
        }
        // Renumbering keeps the order, so the kept lengths come out in that of the new handles.
        next.lengths = renumbered
            .iter()
            .zip(&self.lengths)
            .filter(|(new, _)| new.is_some())
            .map(|(_, &lengths)| lengths)
            .collect();
        *self = next;
    }

    fn terms(&self, field: Field) -> &Terms {
        match field {
            Field::Stems => &self.stems,
            Field::Grams => &self.grams,
        }
    }
}
