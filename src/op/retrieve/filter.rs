//! What may be found.

use core::cmp::Ordering;

use crate::id::{PageId, Side, TurnId};
use crate::map::HashSet;
use crate::model::{Atom, Cube, Cues, Metadata, Page, Tier, Value};

/// A test of one metadata key.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Its value is one of these, or is a list that holds one of them.
    In(Vec<Value>),
    /// Whether it is there; `null` is there.
    Exists(bool),
    /// A number or a text that is this or greater. Numbers and texts are not compared with each other.
    From(Value),
    /// A number or a text that is less than this.
    To(Value),
}

impl Test {
    fn holds(&self, value: Option<&Value>) -> bool {
        let order = |bound: &Value| match (value?, bound) {
            (Value::Number(value), Value::Number(bound)) => value.partial_cmp(bound),
            (Value::Text(value), Value::Text(bound)) => Some(value.cmp(bound)),
            _ => None,
        };
        match (self, value) {
            (Self::In(wanted), Some(Value::List(values))) => wanted
                .iter()
                .any(|wanted| values.contains(wanted) || matches!(wanted, Value::List(all) if all == values)),
            (Self::In(wanted), Some(value)) => wanted.contains(value),
            (Self::In(_), None) => false,
            (Self::Exists(wanted), value) => value.is_some() == *wanted,
            (Self::From(bound), _) => order(bound).is_some_and(Ordering::is_ge),
            (Self::To(bound), _) => order(bound).is_some_and(Ordering::is_lt),
        }
    }
}

/// What may be found. All given conditions must hold; they apply before anything is scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Tiers; empty means short- and mid-term memory.
    pub tiers: Vec<Tier>,
    /// Sides; empty means both.
    pub sides: Vec<Side>,
    /// Said at or after, milliseconds since the epoch. A turn of unknown time counts from when it was stored.
    pub from_ms: Option<i64>,
    /// Said before: the range is half-open.
    pub to_ms: Option<i64>,
    /// Callers' names of sessions, or session ids; empty means all.
    pub sessions: Vec<String>,
    /// Equality by top-level key.
    pub metadata: Metadata,
    /// Tests of top-level metadata keys.
    pub tests: Vec<(String, Test)>,
    /// Leave out what meets all conditions of any of these; here no tier means any tier.
    pub not: Vec<Filter>,
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
        self.not.is_empty() && !self.has_conditions()
    }

    /// Whether any condition on turns is given, other than those in `not`.
    pub(crate) fn has_conditions(&self) -> bool {
        !(self.tiers.is_empty()
            && self.sides.is_empty()
            && self.from_ms.is_none()
            && self.to_ms.is_none()
            && self.sessions.is_empty()
            && self.metadata.is_empty()
            && self.tests.is_empty())
    }
}

/// The filter, prepared for many turns.
pub(super) struct Sieve<'a> {
    cube: &'a Cube,
    filter: &'a Filter,
    as_of_ms: i64,
    exclude: HashSet<PageId>,
    /// No condition can fail.
    pub(super) is_open: bool,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(cube: &'a Cube, filter: &'a Filter, as_of_ms: Option<i64>) -> Self {
        let is_open = *filter == Filter::default()
            && as_of_ms.is_none()
            && cube.segments().all(|segment| !segment.archived)
            && !cube.hides_pages();
        let exclude = filter.exclude.iter().copied().collect();
        Self { cube, filter, as_of_ms: as_of_ms.unwrap_or(i64::MAX), exclude, is_open }
    }

    pub(super) fn lets_through(&self, turn: TurnId) -> bool {
        if self.is_open {
            return true;
        }
        let filter = self.filter;
        let Some(page) = self.cube.page(turn.page) else { return false };
        (!filter.tiers.is_empty() || self.cube.tier(turn.page).is_some_and(|tier| tier != Tier::Archive))
            && page.time_or_recorded().epoch_ms <= self.as_of_ms
            && self.meets(filter, turn, page)
            && !filter.not.iter().any(|not| self.meets(not, turn, page))
            && !self.exclude.contains(&turn.page)
            && self.cube.place(turn.page).is_none_or(|place| !place.never_recall)
            && !(filter.no_open_questions && self.is_open_question(page))
    }

    /// Whether the turn meets every condition that is given.
    fn meets(&self, filter: &Filter, turn: TurnId, page: &Page) -> bool {
        let said_ms = page.time_or_recorded().epoch_ms;
        let session = || {
            let id = page.session.to_string();
            let label = self.cube.session(page.session).and_then(|session| session.label.as_deref());
            filter.sessions.iter().any(|wanted| *wanted == id || Some(wanted.as_str()) == label)
        };
        (filter.tiers.is_empty() || self.cube.tier(turn.page).is_some_and(|tier| filter.tiers.contains(&tier)))
            && (filter.sides.is_empty() || filter.sides.contains(&turn.side))
            && filter.from_ms.is_none_or(|from| said_ms >= from)
            && filter.to_ms.is_none_or(|to| said_ms < to)
            && (filter.sessions.is_empty() || session())
            && filter.metadata.iter().all(|(key, value)| page.metadata.get(key) == Some(value))
            && filter.tests.iter().all(|(key, test)| test.holds(page.metadata.get(key)))
    }

    fn is_open_question(&self, page: &Page) -> bool {
        let asks = |atom: &Atom| atom.cues.has(Cues::QUESTION);
        page.agent_response.trim().is_empty()
            && self.cube.units(page.id).is_some_and(|units| units.user.atoms.iter().all(asks))
    }
}
