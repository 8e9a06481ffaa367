//! What the index keeps of each turn, atom and speaker, one column a property.

use jiff::civil::Date;

use super::dictionary::Interner;
use crate::id::TurnId;
use crate::model::Cues;

/// Labels that are roles and not names. Source: eval/prototype/recipe.py, `ROLE_NAMES`.
const ROLE_NAMES: [&str; 6] = ["", "user", "assistant", "ai", "system", "bot"];

/// Whether a speaker's label is a personal name: neither empty nor only a role, whatever its case.
pub fn is_personal_name(label: &str) -> bool {
    !ROLE_NAMES.contains(&label.trim().to_lowercase().as_str())
}

/// Columns by turn handle.
#[derive(Debug)]
pub(crate) struct Turns {
    pub(crate) id: Vec<TurnId>,
    pub(crate) session: Vec<u32>,
    pub(crate) speaker: Vec<u32>,
    pub(crate) date: Vec<Option<Date>>,
    pub(crate) label_tokens: Vec<u32>,
    /// Time key: milliseconds since the epoch.
    pub(super) key: Vec<i64>,
    pub(super) live: Vec<bool>,
    /// One entry more than turns.
    pub(crate) first_atom: Vec<u32>,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            id: Vec::new(),
            session: Vec::new(),
            speaker: Vec::new(),
            date: Vec::new(),
            label_tokens: Vec::new(),
            key: Vec::new(),
            live: Vec::new(),
            first_atom: vec![0],
        }
    }
}

/// Columns by atom handle.
#[derive(Debug)]
pub(crate) struct Atoms {
    /// Bytes of the turn's text.
    pub(crate) span: Vec<(u32, u32)>,
    pub(crate) cues: Vec<Cues>,
    pub(crate) cost_tokens: Vec<u32>,
    /// Natural logarithm of the tokens it costs with its speaker's label; 0 where that is nothing.
    pub(crate) log_cost: Vec<f32>,
    pub(super) rows: Vec<u16>,
    /// One entry more than atoms.
    pub(super) first_row: Vec<u32>,
}

impl Default for Atoms {
    fn default() -> Self {
        Self {
            span: Vec::new(),
            cues: Vec::new(),
            cost_tokens: Vec::new(),
            log_cost: Vec::new(),
            rows: Vec::new(),
            first_row: vec![0],
        }
    }
}

impl Atoms {
    /// Distinct table rows of an atom, ascending.
    pub(crate) fn rows(&self, atom: u32) -> &[u16] {
        let first_row = self.first_row.as_slice();
        &self.rows.as_slice()[first_row[atom as usize] as usize..first_row[atom as usize + 1] as usize]
    }

    pub(super) fn push(&mut self, span: (u32, u32), cues: Cues, cost_tokens: u32, label_tokens: u32, rows: &[u16]) {
        self.span.push(span);
        self.cues.push(cues);
        self.cost_tokens.push(cost_tokens);
        self.log_cost.push((cost_tokens.saturating_add(label_tokens).max(1) as f32).ln());
        self.rows.extend_from_slice(rows);
        self.first_row.push(self.rows.len() as u32);
    }
}

/// Distinct lower-cased speaker labels.
#[derive(Debug, Default)]
pub(crate) struct Speakers {
    pub(super) labels: Interner,
    pub(super) n_turns: Vec<u32>,
    is_name: Vec<bool>,
}

impl Speakers {
    pub(super) fn intern(&mut self, label: &str) -> u32 {
        let speaker = self.labels.intern(&label.to_lowercase());
        if speaker as usize == self.n_turns.len() {
            self.n_turns.push(0);
            self.is_name.push(is_personal_name(label));
        }
        speaker
    }

    /// Speakers of live turns whose label is a personal name, with the label in lower case.
    pub(crate) fn names(&self) -> impl Iterator<Item = (u32, &str)> {
        (0u32..)
            .zip(&self.n_turns)
            .filter(|&(speaker, &n)| n > 0 && self.is_name[speaker as usize])
            .map(|(speaker, _)| (speaker, self.labels.text(speaker)))
    }
}
