//! The engine: everything that a workflow works on.

use core::cell::{Cell, RefCell};
use std::borrow::Cow;
use std::rc::Rc;

use litemap::LiteMap;

use super::event::Event;
use super::policy::{Policies, UpdatePolicy};
use super::retrieve::{FactText, Retriever};
use super::spending::Health;
use super::writer::{Turn, Writer};
use crate::config::Config;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{FactId, IdSource, PageId, SegmentId, Side, TurnId};
use crate::index::{Index, NewTurn};
use crate::map::{HashMap, HashSet};
use crate::model::{
    Change, Cube, LedgerDay, ModeRecord, PageUnits, PageVectors, Record, RecordKind, Scope, Segment, Space,
};
use crate::storage::{Catalog, Keyspace, Manifest};
use crate::text::{self, StaticTable};

/// Where vectors come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Embedder {
    /// The static table, once its bytes have been handed over.
    Builtin,
    /// A model outside.
    External {
        /// The space it embeds into.
        space: Space,
        /// Most texts a call.
        texts_per_call: usize,
    },
    /// None: keywords only.
    None,
}

/// How a memory is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Whose memory.
    pub scope: Scope,
    /// Parameters.
    pub config: Config,
    /// Where vectors come from.
    pub embedder: Embedder,
    /// The language model, as `provider/model`; `None` without one.
    pub chat_model: Option<String>,
    /// Whether the caller counts tokens.
    pub counts_tokens: bool,
    /// Whether background work waits to be resumed.
    pub paused: bool,
    /// The update policies that can be chosen.
    pub policies: Policies,
    /// Draws the replica number of a new memory.
    pub seed: u32,
}

/// What may be changed while a memory is open; `None` leaves it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Name of the update policy.
    pub update_policy: Option<String>,
    /// Calls of background work in a day; 0 is no limit.
    pub daily_calls: Option<u64>,
    /// Its tokens in a day; 0 is no limit.
    pub daily_tokens: Option<u64>,
}

/// What may be done with the store.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Access {
    Open,
    /// The format is newer than this code: reading only.
    ReadOnly(Error),
    /// A commit ended with an unknown outcome: memory and store may differ until it is opened again.
    Unknown(Error),
    Closed,
}

/// Limits of background work for a day; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) calls: u64,
    pub(super) tokens: u64,
}

/// Visits that no commit has carried yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Visits {
    /// Retrievals that used the segment.
    pub(super) n: u32,
    /// The last of them, milliseconds since the epoch.
    pub(super) last_ms: i64,
}

/// One open memory.
pub struct Engine {
    pub(super) options: OpenOptions,
    pub(super) keys: Keyspace,
    pub(super) cube: RefCell<Cube>,
    pub(super) index: RefCell<Index>,
    pub(super) catalog: RefCell<Catalog>,
    pub(super) manifest: RefCell<Manifest>,
    pub(super) ids: Cell<IdSource>,
    pub(super) seq: Cell<u64>,
    pub(super) visits: RefCell<LiteMap<SegmentId, Visits>>,
    /// What today's calls took, as far as it may not be stored yet.
    pub(super) spent: RefCell<Option<LedgerDay>>,
    pub(super) fresh_modes: RefCell<Option<ModeRecord>>,
    pub(super) health: Cell<Health>,
    pub(super) limits: Cell<Limits>,
    pub(super) paused: Cell<bool>,
    /// Words and vectors of facts, as recall scores them.
    pub(super) fact_texts: RefCell<HashMap<(FactId, u32), FactText>>,
    /// Registered retrievers.
    pub(super) retrievers: RefCell<Vec<Rc<dyn Retriever>>>,
    policy: RefCell<Rc<dyn UpdatePolicy>>,
    pub(super) written_bytes: Cell<u64>,
    /// Whether pages may lack vectors that no job is about: after opening, or when a table arrives.
    pub(super) backfill_due: Cell<bool>,
    /// Whether rules may have filed pages that a model should see and no job is about.
    pub(super) enrichment_due: Cell<bool>,
    /// Whether the manifest is in the store; the first commit of a new memory carries it.
    pub(super) manifest_stored: Cell<bool>,
    table: RefCell<Option<Rc<StaticTable>>>,
    access: RefCell<Access>,
    events: RefCell<Vec<Event>>,
    writer: Writer,
    /// Held by whoever does jobs, so that no job is done by two at a time.
    pub(super) labour: Writer,
}

impl Engine {
    /// An engine over a memory that holds nothing yet.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an update policy that there is not.
    pub(super) fn new(options: OpenOptions, manifest: Manifest) -> Result<Self> {
        let policy = options.policies.choose(&options.config.update_policy, options.chat_model.is_some())?;
        let index = Index::new(space_of(&options.embedder, None));
        Ok(Self {
            keys: Keyspace::new(&options.scope),
            cube: RefCell::default(),
            index: RefCell::new(index),
            catalog: RefCell::default(),
            ids: Cell::new(IdSource::resumed(manifest.replica, manifest.ids_used)),
            manifest: RefCell::new(manifest),
            seq: Cell::new(0),
            visits: RefCell::default(),
            spent: RefCell::default(),
            fresh_modes: RefCell::default(),
            health: Cell::default(),
            limits: Cell::new(Limits { calls: options.config.daily_calls, tokens: options.config.daily_tokens }),
            paused: Cell::new(options.paused),
            fact_texts: RefCell::default(),
            retrievers: RefCell::default(),
            policy: RefCell::new(policy),
            written_bytes: Cell::default(),
            backfill_due: Cell::new(true),
            enrichment_due: Cell::new(true),
            manifest_stored: Cell::new(false),
            table: RefCell::default(),
            access: RefCell::new(Access::Open),
            events: RefCell::default(),
            writer: Writer::default(),
            labour: Writer::default(),
            options,
        })
    }

    /// Waits for the turn to write, if the store takes writes at all.
    pub(super) async fn write_turn(&self) -> Result<Turn<'_>> {
        let turn = self.writer.turn().await;
        self.check_writable()?;
        Ok(turn)
    }

    pub(super) fn check_readable(&self) -> Result<()> {
        match &*self.access.borrow() {
            Access::Closed => Err(Error::new(ErrorCode::Closed, "this memory has been closed; open it again")),
            _ => Ok(()),
        }
    }

    pub(super) fn check_writable(&self) -> Result<()> {
        self.check_readable()?;
        match &*self.access.borrow() {
            Access::ReadOnly(why) => Err(why.clone()),
            Access::Unknown(why) => Err(Error::new(
                ErrorCode::StorageUnavailable,
                format!("an earlier write ended with an unknown outcome; open the memory again ({why})"),
            )),
            Access::Open | Access::Closed => Ok(()),
        }
    }

    /// Refuses writes from now on, because the stored format is newer.
    pub(super) fn set_read_only(&self, why: Error) {
        *self.access.borrow_mut() = Access::ReadOnly(why);
    }

    /// Refuses writes from now on, because memory and store may differ.
    pub(super) fn set_outcome_unknown(&self, why: Error) {
        *self.access.borrow_mut() = Access::Unknown(why);
    }

    /// Ends it: every later call is refused.
    pub fn close(&self) {
        *self.access.borrow_mut() = Access::Closed;
    }

    /// Hands over the built-in embedding table. Pages stored without it are made good by the next job.
    ///
    /// # Errors
    /// `STORAGE_CORRUPT` if the bytes are not a table.
    pub fn install_table(&self, bytes: &[u8]) -> Result<()> {
        self.use_table(Rc::new(StaticTable::from_bytes(bytes)?));
        Ok(())
    }

    /// Uses a table that is loaded already, which several memories may share.
    pub fn use_table(&self, table: Rc<StaticTable>) {
        if self.options.embedder == Embedder::Builtin {
            let space = space_of(&self.options.embedder, Some(&table));
            let reset = self.index.borrow().space() != space.as_ref();
            if reset {
                self.index.borrow_mut().reset_vectors(space);
            }
        }
        *self.table.borrow_mut() = Some(table);
        self.backfill_due.set(true);
    }

    /// While the built-in table is on its way, the index takes the stored vectors as they are; the table, when it comes, keeps
    /// them or starts anew.
    pub(super) fn expect_space(&self, stored: Option<&Space>) {
        if self.options.embedder == Embedder::Builtin && self.table().is_none() {
            self.index.borrow_mut().reset_vectors(stored.cloned());
        }
    }

    /// The built-in table, if it is there.
    pub(super) fn table(&self) -> Option<Rc<StaticTable>> {
        self.table.borrow().clone()
    }

    /// The space of the present embedder; `None` while there is none.
    pub(super) fn space(&self) -> Option<Space> {
        space_of(&self.options.embedder, self.table().as_deref())
    }

    /// Tokens of a text: by the table, or an estimate without it.
    pub(super) fn count_tokens(&self, text: &str) -> u32 {
        self.table().map_or_else(|| text::estimate_tokens(text), |table| table.count(text))
    }

    /// Drops everything from the index.
    pub(super) fn empty_index(&self) {
        *self.index.borrow_mut() = Index::new(self.space());
    }

    /// Waits for writers to finish, for a read that must see one state of the store.
    pub(super) async fn read_turn(&self) -> Turn<'_> {
        self.writer.turn().await
    }

    pub(super) fn emit(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }

    /// Events since the last call.
    pub fn take_events(&self) -> Vec<Event> {
        core::mem::take(&mut self.events.borrow_mut())
    }

    /// The update policy in effect.
    pub(super) fn policy(&self) -> Rc<dyn UpdatePolicy> {
        self.policy.borrow().clone()
    }

    /// Changes the update policy and the limits of a day, until the memory is closed.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an update policy that there is not; nothing has changed then.
    pub fn configure(&self, settings: &Settings) -> Result<()> {
        if let Some(name) = &settings.update_policy {
            *self.policy.borrow_mut() = self.options.policies.choose(name, self.options.chat_model.is_some())?;
            self.enrichment_due.set(true);
        }
        let limits = self.limits.get();
        self.limits.set(Limits {
            calls: settings.daily_calls.unwrap_or(limits.calls),
            tokens: settings.daily_tokens.unwrap_or(limits.tokens),
        });
        Ok(())
    }

    /// Stops background work, or lets it go on. Calls of the user are not held up.
    pub fn set_paused(&self, paused: bool) {
        if self.paused.replace(paused) != paused {
            self.emit(if paused { Event::Paused } else { Event::Resumed });
        }
    }

    /// A segment with the visits that no commit has carried yet.
    pub(super) fn with_visits<'a>(&self, segment: &'a Segment) -> Cow<'a, Segment> {
        match self.visits.borrow().get(&segment.id) {
            Some(visits) => Cow::Owned(Segment {
                n_visit: segment.n_visit.saturating_add(visits.n),
                last_access_ms: segment.last_access_ms.max(visits.last_ms),
                ..segment.clone()
            }),
            None => Cow::Borrowed(segment),
        }
    }

    /// Brings tiers and index up to date with changes that are stored. Never fails: what cannot be indexed stays in its tier.
    pub(super) fn apply(&self, delta: Vec<Change>) {
        let mut pages: Vec<PageId> = Vec::new();
        let mut seen = HashSet::new();
        let mut vectors: HashMap<PageId, PageVectors> = HashMap::new();
        let mut cube = self.cube.borrow_mut();
        for change in delta {
            let key = change.key();
            if matches!(key.kind, RecordKind::Page | RecordKind::Units | RecordKind::Vectors) && seen.insert(key.id) {
                pages.push(PageId::from_raw(key.id));
            }
            match change {
                Change::Put(Record::Vectors(put)) => {
                    cube.note_embedded(&put);
                    vectors.insert(put.page, put);
                }
                change => cube.apply(change),
            }
        }
        let mut index = self.index.borrow_mut();
        for page in pages {
            reindex(&cube, &mut index, page, vectors.remove(&page));
        }
    }
}

/// Makes the index hold exactly the turns that the page now has.
fn reindex(cube: &Cube, index: &mut Index, id: PageId, new_vectors: Option<PageVectors>) {
    let new_vectors = new_vectors.filter(|vectors| Some(&vectors.space) == index.space());
    for side in [Side::User, Side::Agent] {
        let turn = TurnId { page: id, side };
        let known = index.vector(turn).map(<[f32]>::to_vec);
        index.remove(turn);
        let (Some(page), Some(units)) = (cube.page(id), cube.units(id)) else { continue };
        if page.text(side).trim().is_empty() {
            continue;
        }
        let vector = match &new_vectors {
            Some(vectors) => vectors.side(side),
            None => known.as_deref(),
        };
        // A vector that cannot be indexed leaves the turn findable by keyword.
        let _ = index.insert(NewTurn {
            id: turn,
            session: page.session,
            time: page.time,
            speaker: page.speaker(side),
            text: page.text(side),
            units: units.side(side),
            vector,
        });
    }
}

fn space_of(embedder: &Embedder, table: Option<&StaticTable>) -> Option<Space> {
    match embedder {
        Embedder::Builtin => {
            table.map(|table| Space { model: table.model_id().into(), dimensions: table.dims() as u32 })
        }
        Embedder::External { space, .. } => Some(space.clone()),
        Embedder::None => None,
    }
}

/// The units of a page, and its vectors where the built-in table gives them.
pub(super) fn measure(engine: &Engine, page: &crate::model::Page) -> (PageUnits, Option<PageVectors>) {
    let table = engine.table();
    let table = table.as_deref();
    let units = |side| text::units(page.text(side), page.speaker(side), table);
    let units =
        PageUnits { page: page.id, from_table: table.is_some(), user: units(Side::User), agent: units(Side::Agent) };
    let vectors = match (&engine.options.embedder, table) {
        (Embedder::Builtin, Some(table)) => {
            let vector = |side| {
                let vector = table.unit_vector(&embedded_text(page, side));
                vector.iter().any(|&x| x != 0.0).then_some(vector)
            };
            engine.space().map(|space| PageVectors {
                page: page.id,
                space,
                user: vector(Side::User),
                agent: vector(Side::Agent),
            })
        }
        _ => None,
    };
    (units, vectors)
}

/// The text of a turn as it is embedded: under the speaker's name, if that is a name and not a role.
pub(super) fn embedded_text(page: &crate::model::Page, side: Side) -> String {
    let (speaker, text) = (page.speaker(side), page.text(side));
    if text.trim().is_empty() {
        String::new()
    } else if crate::index::is_personal_name(speaker) {
        format!("{speaker}: {text}")
    } else {
        text.into()
    }
}
