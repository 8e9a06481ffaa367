//! Pictures of the state, for people. Computed when asked for; reading them changes nothing.

use serde::Serialize;

use super::consolidate::theme;
use super::embed::without_vectors;
use super::engine::Engine;
use super::retrieve::tier_name;
use super::spending::{EMBED, QUERY, Waits};
use super::work::waits_for;
use crate::id::PageId;
use crate::map::HashSet;
use crate::model::{Cube, JobKind, Metadata, Page, Segment};
use crate::order::sort_by;
use crate::updating::heat::heat;

/// A page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageView {
    /// Its id.
    pub id: String,
    /// The caller's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// What the user said.
    pub user_input: String,
    /// What the agent answered.
    pub agent_response: String,
    /// The user's name.
    pub user_name: String,
    /// The agent's name.
    pub agent_name: String,
    /// When, milliseconds since the epoch.
    pub time: Option<i64>,
    /// Minutes east of UTC.
    pub offset_minutes: i16,
    /// The session.
    pub session: String,
    /// `short`, `mid` or `archive`.
    pub tier: &'static str,
    /// The segment that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_id: Option<String>,
    /// The caller's keys.
    #[serde(serialize_with = "crate::model::serialize_map")]
    pub metadata: Metadata,
    /// Whether it is about to sink into mid-term memory.
    pub waiting: bool,
    /// Every segment that holds it.
    pub segment_ids: Vec<String>,
    /// The page before it in its dialogue chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre: Option<String>,
    /// The page after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What its chain is about so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta_info: Option<String>,
    /// Whether it is kept out of every recall.
    pub never_recall: bool,
}

/// Heat with its terms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeatView {
    /// The heat.
    pub value: f64,
    /// N_visit.
    pub n_visit: u32,
    /// L_interaction.
    pub l_interaction: u32,
    /// R_recency.
    pub r_recency: f64,
}

/// A segment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SegmentView {
    /// Its id.
    pub id: String,
    /// Its summary.
    pub summary: String,
    /// Its keywords.
    pub keywords: Vec<String>,
    /// Its title, or its leading keywords.
    pub theme: String,
    /// Its pages in the order of arrival.
    pub pages: Vec<String>,
    /// `mid` or `archive`.
    pub tier: &'static str,
    /// Its heat now.
    pub heat: HeatView,
    /// Last visit or new page, milliseconds since the epoch.
    pub last_access: i64,
    /// Whether a model has seen all of its pages.
    pub enriched: bool,
    /// When its first page was said.
    pub start_time: Option<i64>,
    /// When its last page was said.
    pub end_time: Option<i64>,
}

/// The tiers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TiersView {
    /// Oldest first.
    pub short_term: Vec<PageView>,
    /// Hottest first.
    pub mid_term: Vec<SegmentView>,
    /// Hottest first.
    pub archive: Vec<SegmentView>,
    /// tau.
    pub heat_threshold: f64,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    /// Its id.
    pub id: String,
    /// `consolidate`, `embed`, `enrich` or `promote`.
    pub kind: &'static str,
    /// `queued` or `failed`.
    pub state: &'static str,
    /// What it waits for, its own time apart: `pause`, `budget`, `model`, `table` or `policy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<&'static str>,
    /// Attempts that failed.
    pub attempts: u32,
    /// Not before, milliseconds since the epoch.
    pub not_before: i64,
    /// The last failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<JobErrorView>,
    /// The pages it is about.
    pub pages: Vec<String>,
}

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobErrorView {
    /// Stable code.
    pub code: String,
    /// The message.
    pub message: String,
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    )*};
}

counts! {
    /// Short-term memory.
    ShortTermStats {
        /// Pages in it.
        pages: usize,
        /// Pages it is meant to hold.
        capacity: usize,
        /// Pages about to sink.
        waiting: usize,
    }
    /// Mid-term memory.
    MidTermStats {
        /// Active segments.
        segments: usize,
        /// Pages in them.
        pages: usize,
        /// Segments it is meant to hold.
        capacity: usize,
    }
    /// Archived memory.
    ArchiveStats {
        /// Segments.
        segments: usize,
        /// Pages in them.
        pages: usize,
    }
    /// The job queue.
    JobStats {
        /// Jobs that wait.
        queued: usize,
        /// Jobs set aside.
        failed: usize,
    }
    /// The search index.
    IndexStats {
        /// Sentences.
        atoms: usize,
        /// Distinct words.
        words: usize,
        /// Turns with a vector.
        vectors: usize,
        /// Pages that wait for vectors.
        pending_vectors: usize,
    }
    /// What lies in the store.
    StorageStats {
        /// Frames of the log.
        wal_records: usize,
        /// Their bytes.
        wal_bytes: u64,
        /// Chunks.
        chunks: usize,
        /// Their bytes.
        chunk_bytes: u64,
    }
    /// The embedder.
    EmbedderStats {
        /// Its id; `None` without one.
        id: Option<String>,
        /// Dimensions; 0 without one.
        dimensions: u32,
        /// Whether it can be asked.
        ready: bool,
    }
    /// Facts of long-term memory.
    FactStats {
        /// Believed, and at hand.
        open: usize,
        /// Closed.
        closed: usize,
        /// Out of their queue for want of room.
        archived: usize,
    }
    /// Calls to models in the days that the ledger keeps.
    CallStats {
        /// To the language model.
        chat: u64,
        /// To the embedding model.
        embed: u64,
        /// Tokens of requests, as far as providers say.
        tokens_in: u64,
        /// Tokens of answers.
        tokens_out: u64,
    }
    /// Counts of everything.
    Stats {
        /// Pages.
        pages: usize,
        /// Turns.
        turns: usize,
        /// Short-term memory.
        short_term: ShortTermStats,
        /// Mid-term memory.
        mid_term: MidTermStats,
        /// Archived memory.
        archive: ArchiveStats,
        /// Jobs.
        jobs: JobStats,
        /// Index.
        index: IndexStats,
        /// Store.
        storage: StorageStats,
        /// Bytes handed to the store since the memory was opened.
        written_bytes: u64,
        /// Embedder.
        embedder: EmbedderStats,
        /// Calls.
        calls: CallStats,
        /// Facts.
        facts: FactStats,
        /// Traits that are known.
        traits: usize,
        /// Changes of long-term memory that are kept.
        changes: usize,
    }
}

impl Engine {
    /// The tiers, heat as of `now_ms`.
    pub fn tiers(&self, now_ms: i64) -> TiersView {
        let cube = self.cube.borrow();
        let waiting = waiting(&cube);
        let short_term = cube.short_term().filter_map(|id| cube.page(id));
        let short_term = short_term.map(|page| self.page_view(page, &waiting)).collect();
        let mut segments: Vec<_> = cube.segments().map(|segment| self.segment_view(segment, now_ms)).collect();
        sort_by(&mut segments, |a, b| b.heat.value.total_cmp(&a.heat.value).then(a.id.cmp(&b.id)));
        let (archive, mid_term) = segments.into_iter().partition(|segment| segment.tier == "archive");
        TiersView { short_term, mid_term, archive, heat_threshold: self.options.config.heat_threshold }
    }

    /// Pages, the newest first.
    pub fn pages(&self, offset: usize, limit: usize) -> Vec<PageView> {
        let cube = self.cube.borrow();
        let waiting = waiting(&cube);
        cube.pages().rev().skip(offset).take(limit).map(|page| self.page_view(page, &waiting)).collect()
    }

    /// A page by its id, or by the one that its caller gave it.
    pub fn page(&self, id: &str) -> Option<PageView> {
        let cube = self.cube.borrow();
        let page = cube.page(cube.page_named(id)?)?;
        Some(self.page_view(page, &waiting(&cube)))
    }

    /// Jobs, the oldest first.
    pub fn jobs(&self, now_ms: i64) -> Vec<JobView> {
        let cube = self.cube.borrow();
        let paused = self.paused.get().then_some(Waits::Pause);
        cube.jobs()
            .map(|job| JobView {
                id: job.id.to_string(),
                kind: job.kind.name(),
                state: if job.failed { "failed" } else { "queued" },
                waits_for: paused.or_else(|| waits_for(self, job, now_ms)).map(Waits::as_str),
                attempts: job.attempts,
                not_before: job.not_before_ms.max(0),
                error: job
                    .error
                    .as_ref()
                    .map(|error| JobErrorView { code: error.code.clone(), message: error.message.clone() }),
                pages: job.pages().iter().map(ToString::to_string).collect(),
            })
            .collect()
    }

    /// Counts of everything.
    pub fn stats(&self) -> Stats {
        let (cube, index, catalog) = (self.cube.borrow(), self.index.borrow(), self.catalog.borrow());
        let pages_in = |archived: bool| {
            let segments = cube.segments().filter(|segment| segment.archived == archived);
            segments.fold((0, 0), |(n, pages), segment| (n + 1, pages + cube.n_members(segment.id)))
        };
        let ((mid_segments, mid_pages), (archived, archived_pages)) = (pages_in(false), pages_in(true));
        let (wal_records, wal_bytes) = catalog.log_size();
        let (chunks, chunk_bytes) = catalog.chunk_size();
        let space = self.space();
        let waiting = waiting(&cube);
        let days = self.ledger_days();
        let rows = || days.iter().flat_map(|day| &day.rows);
        let is_embed = |operation: &str| operation == EMBED || operation == QUERY;
        let sum = |embed: bool| rows().filter(|row| is_embed(&row.operation) == embed).map(|row| row.calls).sum();
        Stats {
            pages: cube.n_pages(),
            turns: index.len(),
            short_term: ShortTermStats {
                pages: cube.n_short_term(),
                capacity: self.options.config.short_term_capacity,
                waiting: cube.short_term().filter(|id| waiting.contains(id)).count(),
            },
            mid_term: MidTermStats {
                segments: mid_segments,
                pages: mid_pages,
                capacity: self.options.config.mid_term_capacity,
            },
            archive: ArchiveStats { segments: archived, pages: archived_pages },
            jobs: JobStats {
                queued: cube.jobs().filter(|job| !job.failed).count(),
                failed: cube.jobs().filter(|job| job.failed).count(),
            },
            index: IndexStats {
                atoms: index.n_atoms(),
                words: index.n_words(),
                vectors: index.n_vectors(),
                pending_vectors: without_vectors(self).len(),
            },
            storage: StorageStats { wal_records, wal_bytes, chunks, chunk_bytes },
            written_bytes: self.written_bytes.get(),
            embedder: EmbedderStats {
                ready: space.is_some(),
                dimensions: space.as_ref().map_or(0, |space| space.dimensions),
                id: space.map(|space| space.model),
            },
            calls: CallStats {
                chat: sum(false),
                embed: sum(true),
                tokens_in: rows().map(|row| row.tokens_in).sum(),
                tokens_out: rows().map(|row| row.tokens_out).sum(),
            },
            facts: FactStats {
                open: cube.facts().filter(|fact| fact.is_open() && !fact.archived).count(),
                closed: cube.facts().filter(|fact| !fact.is_open()).count(),
                archived: cube.facts().filter(|fact| fact.is_open() && fact.archived).count(),
            },
            traits: cube.traits().count(),
            changes: cube.n_changes(),
        }
    }

    fn page_view(&self, page: &Page, waiting: &HashSet<PageId>) -> PageView {
        let cube = self.cube.borrow();
        let place = cube.place(page.id);
        let session = cube.session(page.session).and_then(|session| session.label.clone());
        PageView {
            id: page.id.to_string(),
            client_id: page.client_id.clone(),
            user_input: page.user_input.clone(),
            agent_response: page.agent_response.clone(),
            user_name: page.user_name.clone(),
            agent_name: page.agent_name.clone(),
            time: page.time.map(|time| time.epoch_ms),
            offset_minutes: page.time.map_or(0, |time| time.offset_minutes),
            session: session.unwrap_or_else(|| page.session.to_string()),
            tier: tier_name(cube.tier(page.id)),
            segment_id: place.and_then(|place| place.segments.first()).map(ToString::to_string),
            metadata: page.metadata.clone(),
            waiting: waiting.contains(&page.id),
            segment_ids: place
                .map(|place| place.segments.iter().map(ToString::to_string).collect())
                .unwrap_or_default(),
            pre: place.and_then(|place| place.pre).map(|page| page.to_string()),
            next: place.and_then(|place| place.next).map(|page| page.to_string()),
            meta_info: place.map(|place| place.meta_info.clone()).filter(|line| !line.is_empty()),
            never_recall: place.is_some_and(|place| place.never_recall),
        }
    }

    fn segment_view(&self, segment: &Segment, now_ms: i64) -> SegmentView {
        let segment = self.with_visits(segment).into_owned();
        let cube = self.cube.borrow();
        let heat = heat(&segment, &self.options.config, now_ms);
        let is_untitled = segment.title.is_empty();
        SegmentView {
            id: segment.id.to_string(),
            theme: theme(&segment),
            summary: segment.summary,
            keywords: segment.keywords,
            pages: cube.members(segment.id).map(|page| page.to_string()).collect(),
            tier: if segment.archived { "archive" } else { "mid" },
            heat: HeatView {
                value: heat.value,
                n_visit: heat.n_visit,
                l_interaction: heat.l_interaction,
                r_recency: heat.r_recency,
            },
            last_access: segment.last_access_ms,
            enriched: !is_untitled
                && cube.members(segment.id).all(|page| cube.place(page).is_some_and(|place| place.drafted)),
            start_time: segment.start.map(|time| time.epoch_ms),
            end_time: segment.end.map(|time| time.epoch_ms),
        }
    }
}

/// Pages that a job is about to take into mid-term memory.
fn waiting(cube: &Cube) -> HashSet<PageId> {
    cube.queued(|kind| matches!(kind, JobKind::Consolidate { .. }))
}
