//! What may be found.

use crate::id::{PageId, Side, TurnId};
use crate::map::HashSet;
use crate::model::{Atom, Cube, Cues, Metadata, Page, Tier};

/// What may be found. All given conditions must hold; they apply before anything is scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Tiers; empty means short- and mid-term memory.
    pub tiers: Vec<Tier>,
    /// Sides; empty means both.
    pub sides: Vec<Side>,
    /// Said at or after, milliseconds since the epoch.
    pub from_ms: Option<i64>,
    /// Said before.
    pub to_ms: Option<i64>,
    /// Callers' names of sessions, or session ids; empty means all.
    pub sessions: Vec<String>,
    /// Equality by top-level key.
    pub metadata: Metadata,
    /// Pages to leave out.
    pub exclude: Vec<PageId>,
    /// Leave out questions that got no answer: they tell nothing, and the same question asked again would find itself.
    pub no_open_questions: bool,
    /// Leave out pinned facts and the static profile, which stand in the prompt already.
    pub no_standing_facts: bool,
}

impl Filter {
    /// Whether facts may be found: they have no tier, side, session or metadata.
    pub(super) fn admits_facts(&self) -> bool {
        self.tiers.is_empty()
            && self.sides.is_empty()
            && self.from_ms.is_none()
            && self.to_ms.is_none()
            && self.sessions.is_empty()
            && self.metadata.is_empty()
    }
}

/// The filter, prepared for many turns.
pub(super) struct Sieve<'a> {
    cube: &'a Cube,
    filter: &'a Filter,
    tiers: HashSet<Tier>,
    exclude: HashSet<PageId>,
    /// No condition can fail.
    is_open: bool,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(cube: &'a Cube, filter: &'a Filter) -> Self {
        let tiers: HashSet<Tier> = if filter.tiers.is_empty() {
            [Tier::Short, Tier::Mid].into_iter().collect()
        } else {
            filter.tiers.iter().copied().collect()
        };
        let is_open =
            *filter == Filter::default() && cube.segments().all(|segment| !segment.archived) && !cube.hides_pages();
        Self { cube, filter, tiers, exclude: filter.exclude.iter().copied().collect(), is_open }
    }

    pub(super) fn lets_through(&self, turn: TurnId) -> bool {
        if self.is_open {
            return true;
        }
        let filter = self.filter;
        let Some(page) = self.cube.page(turn.page) else { return false };
        let said_ms = page.time_or_recorded().epoch_ms;
        let session = || {
            let id = page.session.to_string();
            let label = self.cube.session(page.session).and_then(|session| session.label.as_deref());
            filter.sessions.iter().any(|wanted| *wanted == id || Some(wanted.as_str()) == label)
        };
        self.cube.tier(turn.page).is_some_and(|tier| self.tiers.contains(&tier))
            && (filter.sides.is_empty() || filter.sides.contains(&turn.side))
            && filter.from_ms.is_none_or(|from| said_ms >= from)
            && filter.to_ms.is_none_or(|to| said_ms < to)
            && (filter.sessions.is_empty() || session())
            && filter.metadata.iter().all(|(key, value)| page.metadata.get(key) == Some(value))
            && !self.exclude.contains(&turn.page)
            && self.cube.place(turn.page).is_none_or(|place| !place.never_recall)
            && !(filter.no_open_questions && self.is_open_question(page))
    }

    fn is_open_question(&self, page: &Page) -> bool {
        let asks = |atom: &Atom| atom.cues.has(Cues::QUESTION);
        page.agent_response.trim().is_empty()
            && self.cube.units(page.id).is_some_and(|units| units.user.atoms.iter().all(asks))
    }
}
