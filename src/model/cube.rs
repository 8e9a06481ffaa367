//! The textual memory of one cube: every tier of one scope, in memory.

use litemap::LiteMap;
use serde::{Deserialize, Serialize};

use super::change_entry::{ChangeEntry, LongTerm};
use super::denied::Denied;
use super::fact::Fact;
use super::job::{Job, JobKind};
use super::ledger::LedgerDay;
use super::page::{Page, PageUnits, PageVectors, Place, Session, Space, Tier};
use super::persona::{Profile, Trait};
use super::provider::{ModeRecord, ModelModes};
use super::record::{Change, Record, RecordKey, RecordKind};
use super::segment::Segment;
use crate::config::SCOPE_ID_MAX_BYTES;
use crate::error::{Error, Result};
use crate::id::{ChangeId, FactId, JobId, PageId, SegmentId, SessionId, Side};
use crate::map::{HashMap, HashSet};
use crate::order::sort_and_dedup;

/// Whose memory it is. Part of every storage key; nothing crosses from one scope to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The user.
    pub user: String,
    /// The assistant.
    pub assistant: String,
    /// The cube within them.
    pub cube: String,
}

impl Scope {
    /// The scope of the user's own cube with an assistant. Ids are data: any non-empty text of at most 1,024 bytes.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an empty or oversized id.
    pub fn new(user: &str, assistant: &str) -> Result<Self> {
        for (name, id) in [("userId", user), ("assistantId", assistant)] {
            if id.is_empty() {
                return Err(Error::invalid(format!("{name} is empty: every memory belongs to somebody")));
            }
            if id.len() > SCOPE_ID_MAX_BYTES {
                return Err(Error::invalid(format!("{name} has {} bytes, more than {SCOPE_ID_MAX_BYTES}", id.len())));
            }
        }
        Ok(Self { user: user.into(), assistant: assistant.into(), cube: "default".into() })
    }
}

/// All tiers of one scope. Changed by [`Cube::apply`] alone, live and at load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cube {
    pages: LiteMap<PageId, Page>,
    units: HashMap<PageId, PageUnits>,
    places: HashMap<PageId, Place>,
    /// The space that each page has been embedded in, as a number in `spaces`. The vectors themselves live in the index.
    embedded: HashMap<PageId, u16>,
    spaces: Vec<Space>,
    segments: LiteMap<SegmentId, Segment>,
    sessions: LiteMap<SessionId, Session>,
    jobs: LiteMap<JobId, Job>,
    facts: LiteMap<FactId, Fact>,
    profiles: LiteMap<u64, Profile>,
    traits: LiteMap<u8, Trait>,
    changes: LiteMap<ChangeId, ChangeEntry>,
    analysed: HashMap<PageId, i64>,
    ledger: LiteMap<u64, LedgerDay>,
    modes: LiteMap<u64, ModelModes>,
    denied: LiteMap<u64, i64>,
    // What follows is derived from the records above.
    arrival: LiteMap<u64, PageId>,
    short_term: LiteMap<(u64, PageId), ()>,
    members: HashMap<SegmentId, LiteMap<(u64, PageId), ()>>,
    by_client_id: HashMap<String, PageId>,
    hidden: LiteMap<PageId, ()>,
    session_by_label: HashMap<String, SessionId>,
}

impl Cube {
    /// Applies one change. The order of records of different kinds is that of [`RecordKind`].
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Put(record) => self.put(record),
            Change::Remove(key) => self.remove(key),
        }
    }

    fn put(&mut self, record: Record) {
        match record {
            Record::Session(session) => {
                if let Some(label) = &session.label {
                    self.session_by_label.insert(label.clone(), session.id);
                }
                self.sessions.insert(session.id, session);
            }
            Record::Page(page) => {
                if let Some(old) = self.pages.remove(&page.id) {
                    self.unlink(&old);
                }
                if let Some(client_id) = &page.client_id {
                    self.by_client_id.insert(client_id.clone(), page.id);
                }
                self.arrival.insert(page.position, page.id);
                let id = page.id;
                self.pages.insert(id, page);
                self.link(id);
            }
            Record::Units(units) => {
                self.units.insert(units.page, units);
            }
            Record::Vectors(vectors) => self.note_embedded(&vectors),
            Record::Segment(segment) => {
                self.segments.insert(segment.id, segment);
            }
            Record::Place(place) => {
                let id = place.page;
                self.unplace(id);
                if place.never_recall {
                    self.hidden.insert(id, ());
                } else {
                    self.hidden.remove(&id);
                }
                self.places.insert(id, place);
                self.link(id);
            }
            Record::Job(job) => {
                self.jobs.insert(job.id, job);
            }
            Record::Fact(fact) => {
                self.facts.insert(fact.id, fact);
            }
            Record::Profile(profile) => {
                self.profiles.insert(profile.version, profile);
            }
            Record::Trait(of) => {
                self.traits.insert(of.dimension, of);
            }
            Record::ChangeEntry(entry) => {
                self.changes.insert(entry.id, entry);
            }
            Record::Analysed(of) => {
                self.analysed.insert(of.page, of.at_ms);
            }
            Record::Ledger(of) => {
                self.ledger.insert(of.day, of);
            }
            Record::Modes(of) => {
                self.modes.insert(ModelModes::id(&of.model), of);
            }
            Record::Denied(Denied { digest, at_ms }) => {
                self.denied.insert(digest, at_ms);
            }
        }
    }

    fn remove(&mut self, key: RecordKey) {
        match key.kind {
            RecordKind::Session => {
                if let Some(Session { label: Some(label), .. }) = self.sessions.remove(&SessionId::from_raw(key.id)) {
                    self.session_by_label.remove(&label);
                }
            }
            RecordKind::Page => {
                if let Some(page) = self.pages.remove(&PageId::from_raw(key.id)) {
                    self.unlink(&page);
                }
            }
            RecordKind::Units => {
                self.units.remove(&PageId::from_raw(key.id));
            }
            RecordKind::Vectors => {
                self.embedded.remove(&PageId::from_raw(key.id));
            }
            RecordKind::Segment => {
                self.segments.remove(&SegmentId::from_raw(key.id));
            }
            RecordKind::Place => {
                let id = PageId::from_raw(key.id);
                self.unplace(id);
                self.places.remove(&id);
                self.hidden.remove(&id);
            }
            RecordKind::Job => {
                self.jobs.remove(&JobId::from_raw(key.id));
            }
            RecordKind::Fact => {
                self.facts.remove(&FactId::from_raw(key.id));
            }
            RecordKind::Profile => {
                self.profiles.remove(&key.id);
            }
            RecordKind::Trait => {
                self.traits.retain(|dimension, _| u64::from(*dimension) != key.id);
            }
            RecordKind::ChangeEntry => {
                self.changes.remove(&ChangeId::from_raw(key.id));
            }
            RecordKind::Analysed => {
                self.analysed.remove(&PageId::from_raw(key.id));
            }
            RecordKind::Ledger => {
                self.ledger.remove(&key.id);
            }
            RecordKind::Modes => {
                self.modes.remove(&key.id);
            }
            RecordKind::Denied => {
                self.denied.remove(&key.id);
            }
        }
    }

    /// Enters a page with a known place into its tier.
    fn link(&mut self, id: PageId) {
        let (Some(page), Some(place)) = (self.pages.get(&id), self.places.get(&id)) else { return };
        if place.segments.is_empty() {
            self.short_term.insert((page.position, id), ());
        }
        for &segment in &place.segments {
            self.members.get_or_insert_with(segment, Default::default).insert((page.position, id), ());
        }
    }

    fn unlink(&mut self, page: &Page) {
        self.arrival.remove(&page.position);
        if let Some(client_id) = &page.client_id {
            self.by_client_id.remove(client_id);
        }
        self.take_from_tier(page.id, page.position);
    }

    fn unplace(&mut self, id: PageId) {
        if let Some(position) = self.pages.get(&id).map(|page| page.position) {
            self.take_from_tier(id, position);
        }
    }

    fn take_from_tier(&mut self, id: PageId, position: u64) {
        let Some(place) = self.places.get(&id) else { return };
        self.short_term.remove(&(position, id));
        for segment in &place.segments {
            if let Some(pages) = self.members.get_mut(segment) {
                pages.remove(&(position, id));
                if pages.is_empty() {
                    self.members.remove(segment);
                }
            }
        }
    }

    /// Notes that a page has been embedded, without keeping the vectors.
    pub fn note_embedded(&mut self, vectors: &PageVectors) {
        let known = self.spaces.iter().position(|space| *space == vectors.space);
        let number = known.unwrap_or_else(|| {
            self.spaces.push(vectors.space.clone());
            self.spaces.len() - 1
        });
        self.embedded.insert(vectors.page, number as u16);
    }

    /// The space that a page has been embedded in.
    pub fn embedded_in(&self, id: PageId) -> Option<&Space> {
        self.spaces.get(usize::from(*self.embedded.get(&id)?))
    }

    /// The page that has this text as its id, or that its caller gave it as a name.
    pub fn page_named(&self, id: &str) -> Option<PageId> {
        let own = id.parse().ok().filter(|&id| self.page(id).is_some());
        own.or_else(|| self.page_of_client_id(id))
    }

    /// A page by id.
    pub fn page(&self, id: PageId) -> Option<&Page> {
        self.pages.get(&id)
    }

    /// The page that carries a caller's id.
    pub fn page_of_client_id(&self, client_id: &str) -> Option<PageId> {
        self.by_client_id.get(client_id).copied()
    }

    /// Every page in the order of arrival.
    pub fn pages(&self) -> impl DoubleEndedIterator<Item = &Page> {
        self.arrival.values().filter_map(|id| self.pages.get(id))
    }

    /// The page that arrived last before a position.
    pub fn page_before(&self, position: u64) -> Option<&Page> {
        self.arrival.iter().rev().find(|(at, _)| **at < position).and_then(|(_, id)| self.pages.get(id))
    }

    /// Number of pages.
    pub fn n_pages(&self) -> usize {
        self.pages.len()
    }

    /// The units of a page.
    pub fn units(&self, id: PageId) -> Option<&PageUnits> {
        self.units.get(&id)
    }

    /// The place of a page.
    pub fn place(&self, id: PageId) -> Option<&Place> {
        self.places.get(&id)
    }

    /// Whether the user wants some page never to be recalled.
    pub fn hides_pages(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// The tier of a page: archived only if every segment that holds it is.
    pub fn tier(&self, id: PageId) -> Option<Tier> {
        let place = self.places.get(&id)?;
        if place.segments.is_empty() {
            return Some(Tier::Short);
        }
        let active = place.segments.iter().any(|segment| self.segments.get(segment).is_some_and(|s| !s.archived));
        Some(if active { Tier::Mid } else { Tier::Archive })
    }

    /// Short-term memory, oldest first.
    pub fn short_term(&self) -> impl DoubleEndedIterator<Item = PageId> {
        self.short_term.keys().map(|&(_, id)| id)
    }

    /// Pages in short-term memory.
    pub fn n_short_term(&self) -> usize {
        self.short_term.len()
    }

    /// A segment by id.
    pub fn segment(&self, id: SegmentId) -> Option<&Segment> {
        self.segments.get(&id)
    }

    /// Every segment, archived ones too.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.values()
    }

    /// The pages of a segment in the order of arrival.
    pub fn members(&self, id: SegmentId) -> impl DoubleEndedIterator<Item = PageId> {
        self.members.get(&id).into_iter().flat_map(|pages| pages.keys().map(|&(_, page)| page))
    }

    /// The segments that hold some of the pages, by id, each once.
    pub fn segments_of(&self, pages: &[PageId]) -> Vec<SegmentId> {
        let places = pages.iter().filter_map(|page| self.places.get(page));
        let mut segments: Vec<SegmentId> = places.flat_map(|place| place.segments.iter().copied()).collect();
        sort_and_dedup(&mut segments);
        segments
    }

    /// Number of pages of a segment.
    pub fn n_members(&self, id: SegmentId) -> usize {
        self.members.get(&id).map_or(0, LiteMap::len)
    }

    /// A session by id.
    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(&id)
    }

    /// Every session.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// The session that a caller named.
    pub fn session_of_label(&self, label: &str) -> Option<SessionId> {
        self.session_by_label.get(label).copied()
    }

    /// Every job.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values()
    }

    /// Pages that jobs of a kind are about.
    pub(crate) fn queued(&self, is_meant: fn(&JobKind) -> bool) -> HashSet<PageId> {
        self.jobs().filter(|job| is_meant(&job.kind)).flat_map(|job| job.pages().iter().copied()).collect()
    }

    /// A job by id.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(&id)
    }

    /// A fact by id.
    pub fn fact(&self, id: FactId) -> Option<&Fact> {
        self.facts.get(&id)
    }

    /// Every fact, closed ones too.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.values()
    }

    /// The current profile of one side.
    pub fn profile(&self, of: Side) -> Option<&Profile> {
        self.profiles.values().rev().find(|profile| profile.of == of)
    }

    /// Every version of the profiles that is kept, oldest first.
    pub fn profiles(&self) -> impl DoubleEndedIterator<Item = &Profile> {
        self.profiles.values()
    }

    /// The traits that are known.
    pub fn traits(&self) -> impl Iterator<Item = &Trait> {
        self.traits.values()
    }

    /// Every change of long-term memory that is kept, by id.
    pub fn changes(&self) -> impl DoubleEndedIterator<Item = &ChangeEntry> {
        self.changes.values()
    }

    /// A change by id.
    pub fn change(&self, id: ChangeId) -> Option<&ChangeEntry> {
        self.changes.get(&id)
    }

    /// Number of changes that are kept.
    pub fn n_changes(&self) -> usize {
        self.changes.len()
    }

    /// Every record of long-term memory.
    pub fn long_term(&self) -> impl Iterator<Item = LongTerm> {
        let facts = self.facts.values().cloned().map(LongTerm::Fact);
        let profiles = self.profiles.values().cloned().map(LongTerm::Profile);
        facts.chain(profiles).chain(self.traits.values().cloned().map(LongTerm::Trait))
    }

    /// A record of long-term memory by key; `None` where there is none, and for other kinds.
    pub fn long_term_record(&self, key: RecordKey) -> Option<LongTerm> {
        match key.kind {
            RecordKind::Fact => self.facts.get(&FactId::from_raw(key.id)).cloned().map(LongTerm::Fact),
            RecordKind::Profile => self.profiles.get(&key.id).cloned().map(LongTerm::Profile),
            RecordKind::Trait => self.traits.get(&u8::try_from(key.id).ok()?).cloned().map(LongTerm::Trait),
            _ => None,
        }
    }

    /// Whether long-term analysis has seen a page.
    pub fn is_analysed(&self, id: PageId) -> bool {
        self.analysed.contains_key(&id)
    }

    /// When long-term analysis saw a page, milliseconds since the epoch.
    pub fn analysed_at(&self, id: PageId) -> Option<i64> {
        self.analysed.get(&id).copied()
    }

    /// What the models took, by day, oldest first.
    pub fn ledger(&self) -> impl DoubleEndedIterator<Item = &LedgerDay> {
        self.ledger.values()
    }

    /// What is remembered of a model's modes.
    pub fn modes(&self, model: &str) -> ModeRecord {
        self.modes.get(&ModelModes::id(model)).filter(|of| of.model == model).map(|of| of.modes).unwrap_or_default()
    }

    /// Whether the user has deleted a fact of this digest.
    pub fn is_denied(&self, digest: u64) -> bool {
        self.denied.contains_key(&digest)
    }

    /// The position for the next page.
    pub fn next_position(&self) -> u64 {
        self.arrival.last().map_or(0, |(last, _)| last + 1)
    }
}
