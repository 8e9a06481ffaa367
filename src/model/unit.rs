//! What is computed once for a turn when it is stored, so that no query has to read its text again.

use serde::{Deserialize, Serialize};

/// Properties of an atom that ranking uses: four flags, and a count of two bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cues(u8);

impl Cues {
    /// Ends with a question mark.
    pub const QUESTION: Self = Self(1);
    /// Speaks in the first person (I, my, we, our).
    pub const FIRST_PERSON: Self = Self(2);
    /// Holds a word of time (yesterday, last, Monday, 2023).
    pub const TIME: Self = Self(4);
    /// Holds a capitalised word that is not its first, or a quotation.
    pub const CAPITAL: Self = Self(8);

    /// How many sets of cues there are.
    pub const N: usize = 64;

    /// Every set of cues, by number.
    pub fn every() -> impl Iterator<Item = Self> {
        (0..Self::N as u8).map(Self)
    }

    /// Its number, below [`Cues::N`].
    #[inline(always)]
    pub const fn number(self) -> usize {
        self.0 as usize % Self::N
    }

    /// How many capitalised words it holds inside, 3 for more.
    pub const fn n_capitals(self) -> u8 {
        self.0 >> 4 & 3
    }

    /// The same with so many capitalised words, 3 for more.
    #[must_use]
    pub fn with_capitals(self, n: usize) -> Self {
        Self(self.0 & 15 | (n.min(3) as u8) << 4)
    }

    /// Whether every bit of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A sentence of a turn: the smallest thing that retrieval scores and packs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Atom {
    /// First byte in the turn's text.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// Ranking flags.
    pub cues: Cues,
    /// Tokens it costs in a prompt, without the speaker's label.
    pub cost_tokens: u32,
    /// Distinct rows of the static embedding table that its words name, ascending; empty without a table.
    pub rows: Vec<u16>,
}

/// A turn cut into atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUnits {
    /// In the order of the text, never overlapping, at least one for a text that is not blank.
    pub atoms: Vec<Atom>,
    /// Tokens of the speaker's label with its colon.
    pub label_tokens: u32,
}
