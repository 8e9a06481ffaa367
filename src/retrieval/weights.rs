//! The features, the weights of each profile, and every constant of the score that can be tuned.

use crate::index::Index;

/// What a score is the weighted sum of. Names are those of eval/prototype/recipe.py
/// and, from [`Feature::Spk2`] on, of tests/eval/train.py.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Exactly one speaker is named in the question and the turn is theirs.
    Spk,
    /// The atom is a question.
    Isq,
    /// The atom speaks in the first person.
    I,
    /// The question asks for a time and the atom holds a word of time.
    When,
    /// The question asks for a name or a place and the atom holds a capitalised word.
    Whcap,
    /// The atom holds a capitalised word that is not its first, or a quotation.
    Cap,
    /// The turn's date falls into what the question names.
    Date,
    /// BM25 of stems, atom.
    Pba,
    /// BM25 of stems, turn +-3.
    Pbv,
    /// BM25 of stems, session.
    Pbs,
    /// BM25 of 4-grams, turn +-3.
    Gbv,
    /// BM25 of 4-grams, session.
    Gbs,
    /// Cosine, turn.
    Odt,
    /// Cosine, turn +-1.
    Odw,
    /// Cosine, turn +-3.
    Odv,
    /// Max-sim, atom.
    Ma,
    /// Max-sim, turn.
    Mt,
    /// Max-sim, turn +-1.
    Mw,
    /// Recency, `exp(-age in sessions / AGE)`.
    Rec,
    /// The first of several people whom the question names spoke, and it does not ask what they have in common.
    Spk2,
    /// Capitalised words inside the atom, up to three, divided by three.
    Caps,
    /// Mean idf of the atom's content rows, divided by that of a row that no turn has.
    Midf,
    /// Reverse max-sim, atom: how much of what the atom says is near to the question.
    Ra,
    /// The text holds the question, or a phrase that the question quotes, word for word. Not in the recipe: it makes a text
    /// that is searched by its own words come first.
    Exact,
}

impl Feature {
    /// Every feature, in declaration order.
    pub const ALL: [Self; 24] = [
        Self::Spk,
        Self::Isq,
        Self::I,
        Self::When,
        Self::Whcap,
        Self::Cap,
        Self::Date,
        Self::Pba,
        Self::Pbv,
        Self::Pbs,
        Self::Gbv,
        Self::Gbs,
        Self::Odt,
        Self::Odw,
        Self::Odv,
        Self::Ma,
        Self::Mt,
        Self::Mw,
        Self::Rec,
        Self::Spk2,
        Self::Caps,
        Self::Midf,
        Self::Ra,
        Self::Exact,
    ];

    /// The name in the recipe, or in tests/eval/train.py.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spk => "spk",
            Self::Isq => "isq",
            Self::I => "I",
            Self::When => "when",
            Self::Whcap => "whcap",
            Self::Cap => "cap",
            Self::Date => "date",
            Self::Pba => "pba",
            Self::Pbv => "pbv",
            Self::Pbs => "pbs",
            Self::Gbv => "gbv",
            Self::Gbs => "gbs",
            Self::Odt => "odt",
            Self::Odw => "odw",
            Self::Odv => "odv",
            Self::Ma => "ma",
            Self::Mt => "mt",
            Self::Mw => "mw",
            Self::Rec => "rec",
            Self::Spk2 => "spk2",
            Self::Caps => "caps",
            Self::Midf => "midf",
            Self::Ra => "ra",
            Self::Exact => "exact",
        }
    }

    /// Whether the question has a part in it; the others are properties of the atom alone.
    pub const fn depends_on_question(self) -> bool {
        !matches!(self, Self::Isq | Self::I | Self::Cap | Self::Rec | Self::Caps | Self::Midf)
    }
}

/// A weight a feature; 0 leaves a feature out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights([f32; Feature::ALL.len()]);

impl Weights {
    /// Of the listed features; all others weigh 0.
    pub const fn of(list: &[(Feature, f32)]) -> Self {
        let mut weights = [0.0; Feature::ALL.len()];
        let mut i = 0;
        while i < list.len() {
            weights[list[i].0 as usize] = list[i].1;
            i += 1;
        }
        Self(weights)
    }

    /// The weight of a feature.
    pub const fn get(&self, feature: Feature) -> f32 {
        self.0[feature as usize]
    }

    /// The CHAT weights of eval/prototype/recipe.py, with which the reference was measured: listwise softmax on LoCoMo
    /// conversations 0-4 (eval/RETRIEVAL.md, part A, section 5).
    pub const RECIPE: Self = Self::of(&[
        (Spk, 2.084),
        (Isq, -1.396),
        (I, 0.702),
        (When, 2.049),
        (Whcap, 1.385),
        (Cap, 0.593),
        (Date, 3.25),
        (Pba, 0.774),
        (Pbv, 0.794),
        (Pbs, 0.64),
        (Gbv, 0.903),
        (Gbs, 0.771),
        (Odt, 0.783),
        (Odw, 1.138),
        (Odv, 1.05),
        (Ma, 1.48),
        (Mt, 0.704),
        (Mw, 1.299),
        (Exact, EXACT),
    ]);

    /// The same with another weight for `feature`.
    #[must_use]
    pub const fn with(mut self, feature: Feature, weight: f32) -> Self {
        self.0[feature as usize] = weight;
        self
    }

    /// The same with 0 for every feature that is not in `kept`.
    #[must_use]
    pub fn only(self, kept: &[Feature]) -> Self {
        kept.iter().fold(Self::of(&[]), |weights, &feature| weights.with(feature, self.get(feature)))
    }
}

/// A set of weights for a kind of conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Two named people, or short turns.
    Chat,
    /// A user and an assistant that answers at length.
    Assistant,
    /// Which stated preference bears on a request: vectors only, because lexical overlap misleads there. Never chosen by
    /// the data.
    Preference,
}

use Feature::{
    Cap, Caps, Date, Exact, Gbs, Gbv, I, Isq, Ma, Midf, Mt, Mw, Odt, Odv, Odw, Pba, Pbs, Pbv, Ra, Rec, Spk, Spk2,
    Whcap, When,
};

/// Listwise softmax on LoCoMo dev, five conversations: tests/eval/train.py, whose cross-validated gain over [`Weights::RECIPE`]
/// is +.015 +.010 +.012 +.009 evidence@256/512/1024/2048 (SE .005 .004 .003 .003), with [`crate::generation::REP_LIST`].
const CHAT: Weights = Weights::of(&[
    (Spk, 2.32),
    (Isq, -1.322),
    (I, 0.462),
    (When, 1.817),
    (Whcap, 1.472),
    (Date, 4.601),
    (Pbv, 1.458),
    (Pbs, 0.27),
    (Gbv, 1.049),
    (Gbs, 0.688),
    (Odt, 0.532),
    (Odw, 1.097),
    (Odv, 1.14),
    (Ma, 3.167),
    (Mt, -0.893),
    (Mw, 2.104),
    (Spk2, 1.912),
    (Caps, 1.173),
    (Midf, 2.921),
    (Ra, 1.599),
    (Exact, EXACT),
]);

/// Softmax over sessions on three RealMem personas, starting from CHAT. Source: eval/RETRIEVAL.md, part A, section 5.
const ASSISTANT: Weights = Weights::of(&[
    (Spk, 2.084),
    (Date, 3.551),
    (Pba, 0.016),
    (Pbv, 0.843),
    (Pbs, 0.874),
    (Gbv, 0.649),
    (Gbs, 0.529),
    (Odt, 1.423),
    (Odw, 1.47),
    (Odv, 1.729),
    (Ma, 0.691),
    (Mt, 0.127),
    (Mw, 0.637),
    (Rec, 2.58),
    (Exact, EXACT),
]);

/// Source: eval/RETRIEVAL.md, part A, section 5.
const PREFERENCE: Weights = Weights::of(&[(Odt, 1.0), (Mt, 0.35), (Exact, EXACT)]);

/// Weight of a whole question found word for word. The other features of CHAT span 29.1 in all, so a
/// question that is a whole turn comes first under every strategy; one that is part of a turn (24) could lose under `auto` to a
/// turn that leads in nearly all of them. A quoted phrase gets [`EXACT_QUOTED`] of it.
const EXACT: f32 = 32.0;
/// Value of [`Feature::Exact`] where the question is a whole turn.
pub(crate) const EXACT_WHOLE: f32 = 1.0;
/// Value where the question is part of a turn.
pub(crate) const EXACT_WITHIN: f32 = 0.75;
/// Value where a phrase quoted in the question is part of a turn: +10.7 on the score.
pub(crate) const EXACT_QUOTED: f32 = 1.0 / 3.0;

/// Sessions in which recency falls to 1/e. Source: eval/prototype/recipe.py.
pub(crate) const AGE: f32 = 30.0;
/// Weight of the leading feature under [`Strategy::Temporal`]: a tenth of it, one day of date distance, is still half of
/// what all others can add.
const TEMPORAL: f32 = 100.0;
/// Above this, max-sim is left to the best atoms by all other features. A LoCoMo conversation is below it.
pub(crate) const MAX_SIM_ALL_ATOMS: usize = 4000;
/// How many atoms that is. Source: RealMem dev, S@1/3/5/10 and MRR of 1,000 and of 2,000 are the same in three digits, and
/// so within .003 of max-sim on all 10,000 atoms; a packer looks at 220.
pub(crate) const MAX_SIM_BEST_ATOMS: usize = 1000;
/// Turns up to which every 4-gram of the question counts. In a larger store one that more than one turn in [`GRAMS_ONE_OF`]
/// holds is left out: it stands in a third of all windows, tells them hardly apart, and costs a pass over all of them.
pub(crate) const GRAMS_ALL_TURNS: usize = 2000;
/// See [`GRAMS_ALL_TURNS`].
pub(crate) const GRAMS_ONE_OF: usize = 16;
/// Median atoms of the assistant's turns from which a memory is ranked by [`Profile::Assistant`]. Source:
/// eval/RETRIEVAL.md, part A, section 2 (2-3 in chats, 7-10 with an assistant).
const ASSISTANT_ATOMS: f32 = 5.0;

impl Profile {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Assistant => "assistant",
            Self::Preference => "preference",
        }
    }

    /// The profile that suits what `index` holds.
    pub fn of(index: &Index) -> Self {
        match index.median_assistant_atoms() {
            Some(median) if median >= ASSISTANT_ATOMS => Self::Assistant,
            _ => Self::Chat,
        }
    }

    /// Its weights.
    pub const fn weights(self) -> Weights {
        match self {
            Self::Chat => CHAT,
            Self::Assistant => ASSISTANT,
            Self::Preference => PREFERENCE,
        }
    }
}

/// Which signals may speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// All of them; a question that is one id or one quotation is searched by keyword, one that is a date by time.
    #[default]
    Auto,
    /// Vectors and max-sim.
    Semantic,
    /// Words and 4-grams.
    Keyword,
    /// Dates first, the rest decides among equals; the most recent first when the question names no date.
    Temporal,
    /// MemoryOS's own: segments first, then the pages in them (MemoryOS, 3.3). Whoever ranks has chosen the pages already.
    TwoStage,
}

impl Strategy {
    /// Every strategy of the core.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Semantic, Self::Keyword, Self::Temporal, Self::TwoStage];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Semantic => "semantic",
            Self::Keyword => "keyword",
            Self::Temporal => "temporal",
            Self::TwoStage => "two_stage",
        }
    }

    /// The weights of `profile` as this strategy bends them. Without max-sim the recipe's stand in for CHAT's, which leave the
    /// words of an atom to it.
    pub(crate) fn weights(self, profile: Profile, has_date: bool, has_max_sim: bool) -> Weights {
        let all = if profile == Profile::Chat && !has_max_sim { Weights::RECIPE } else { profile.weights() };
        match self {
            Self::Auto | Self::TwoStage => all,
            // CHAT's weights of vectors and words correct one another; alone, the recipe's were measured.
            Self::Semantic => {
                let all = if profile == Profile::Chat { Weights::RECIPE } else { profile.weights() };
                all.only(&[Odt, Odw, Odv, Ma, Mt, Mw, Exact])
            }
            // For every profile: PREFERENCE has none, ASSISTANT's ignore the atom, and a keyword search is for one.
            Self::Keyword => Weights::RECIPE.only(&[Pba, Pbv, Pbs, Gbv, Gbs, Exact]),
            Self::Temporal => {
                let leading = if has_date { Date } else { Rec };
                all.with(leading, TEMPORAL).with(Exact, 4.0 * TEMPORAL)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_in_order_of_declaration() {
        let names: Vec<_> = Feature::ALL.iter().map(|f| f.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "spk isq I when whcap cap date pba pbv pbs gbv gbs odt odw odv ma mt mw rec spk2 caps midf ra exact"
        );
        assert!(Feature::ALL.iter().enumerate().all(|(i, &f)| f as usize == i));
    }

    #[test]
    fn an_exact_match_outweighs_all_else_under_every_strategy() {
        for profile in [Profile::Chat, Profile::Assistant, Profile::Preference] {
            for strategy in [Strategy::Semantic, Strategy::Keyword, Strategy::Temporal] {
                for has_date in [false, true] {
                    let weights = strategy.weights(profile, has_date, true);
                    let others: f32 = Feature::ALL[..23].iter().map(|&f| weights.get(f).max(0.0)).sum();
                    assert!(EXACT_WITHIN * weights.get(Exact) > others, "{profile:?} {strategy:?}");
                }
            }
        }
    }
}
