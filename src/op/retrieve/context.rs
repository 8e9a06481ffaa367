//! The context of a search: what was packed, with the atoms it was packed from.

use jiff::civil::Date;

use super::recall::{BelowCut, PackedPassage};
use crate::generation::{Candidate, Packed, PackedGroup, Passage, heading, pack, render};
use crate::id::TurnId;
use crate::map::HashMap;
use crate::model::Page;
use crate::op::engine::Engine;
use crate::order::sort_by_key;
use crate::retrieval::ScoredAtom;
use crate::text::atom_text;

/// Entries of [`Recall::below_cut`].
const BELOW_CUT: usize = 20;

/// What the context holds of a turn, and what it spends on it.
pub(super) struct PackedTurn {
    pub(super) quotes: Vec<String>,
    pub(super) tokens: u32,
}

/// What was packed, with the atoms it was packed from.
pub(super) struct Context {
    atoms: Vec<ScoredAtom>,
    headings: Vec<String>,
    pub(super) packed: Packed,
}

impl Context {
    /// Packs a pool of hits. Their headings are days: turns of one day share one, whichever session they are of.
    pub(super) fn pack(
        engine: &Engine,
        pool: Vec<ScoredAtom>,
        pages: &HashMap<u32, (TurnId, &Page)>,
        budget_tokens: u32,
        rep: f64,
    ) -> Self {
        let atoms: Vec<_> = pool.into_iter().filter(|atom| pages.contains_key(&atom.turn)).collect();
        let mut days: HashMap<Option<Date>, u32> = HashMap::new();
        let mut headings: Vec<String> = Vec::new();
        let mut dates: Vec<Option<Date>> = Vec::new();
        let candidates: Vec<_> = atoms
            .iter()
            .map(|atom| {
                let (turn, page) = pages[&atom.turn];
                let day = page.time.and_then(|time| time.local_date());
                let number = *days.get_or_insert_with(day, || {
                    dates.push(day);
                    headings.push(day.map_or_else(String::new, |day| heading(day, page.text(turn.side))));
                    headings.len() as u32 - 1
                });
                Candidate {
                    group: atom.turn,
                    session: number,
                    score: atom.score,
                    cost_tokens: atom.cost_tokens,
                    label_tokens: atom.label_tokens,
                }
            })
            .collect();
        let costs: Vec<u32> = headings.iter().map(|heading| engine.count_tokens(heading)).collect();
        let mut packed = pack(&candidates, budget_tokens, rep, &|day| costs[day as usize]);
        // A heading is paid for once, so turns of one day stand together although others arrived between them; and what has no
        // date stands under none.
        sort_by_key(&mut packed.groups, |group| dates[group.session as usize]);
        Self { atoms, headings, packed }
    }

    fn quote(&self, pages: &HashMap<u32, (TurnId, &Page)>, at: usize) -> String {
        let atom = &self.atoms[at];
        let (turn, page) = pages[&atom.turn];
        atom_text(page.text(turn.side), &(atom.span.0 as usize..atom.span.1 as usize)).into_owned()
    }

    pub(super) fn by_turn(&self, pages: &HashMap<u32, (TurnId, &Page)>) -> HashMap<u32, PackedTurn> {
        let packed = |group: &PackedGroup| {
            let label_tokens = group.parts.first().map_or(0, |&at| self.atoms[at].label_tokens);
            let tokens = label_tokens + group.parts.iter().map(|&at| self.atoms[at].cost_tokens).sum::<u32>();
            let quotes = group.parts.iter().map(|&at| self.quote(pages, at)).collect();
            (group.group, PackedTurn { quotes, tokens })
        };
        self.packed.groups.iter().map(packed).collect()
    }

    pub(super) fn render(&self, pages: &HashMap<u32, (TurnId, &Page)>) -> String {
        let passages = self.packed.groups.iter().map(|group| {
            let (turn, page) = pages[&group.group];
            let quotes: Vec<_> = group.parts.iter().map(|&at| self.quote(pages, at)).collect();
            Passage {
                heading: self.headings[group.session as usize].clone(),
                speaker: page.speaker(turn.side).into(),
                text: quotes.join(" "),
            }
        });
        render(&passages.collect::<Vec<_>>())
    }

    pub(super) fn passages(&self, pages: &HashMap<u32, (TurnId, &Page)>) -> Vec<PackedPassage> {
        let passage = |group: &PackedGroup| {
            let (turn, _) = pages[&group.group];
            let quotes = group.parts.iter().map(|&at| self.quote(pages, at)).collect();
            PackedPassage { turn_id: turn.to_string(), page_id: turn.page.to_string(), quotes }
        };
        self.packed.groups.iter().map(passage).collect()
    }

    pub(super) fn below_cut(&self, pages: &HashMap<u32, (TurnId, &Page)>) -> Vec<BelowCut> {
        let left = self.packed.left_out.iter().take(BELOW_CUT);
        left.map(|left| {
            let atom = &self.atoms[left.candidate];
            BelowCut {
                turn_id: pages[&atom.turn].0.to_string(),
                quote: self.quote(pages, left.candidate),
                score: atom.score,
                tokens: atom.cost_tokens + atom.label_tokens,
            }
        })
        .collect()
    }
}
