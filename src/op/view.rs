//! Pictures of the state, for people. Computed when asked for; reading them changes nothing.

use serde::Serialize;

use super::embed::without_vectors;
use super::engine::Engine;
use super::retrieve::tier_name;
use crate::id::PageId;
use crate::model::{JobKind, Metadata, Page, Segment};
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
    /// Its leading keywords.
    pub theme: String,
    /// Its pages in the order of arrival.
    pub pages: Vec<String>,
    /// `mid` or `archive`.
    pub tier: &'static str,
    /// Its heat now.
    pub heat: HeatView,
    /// Last visit or new page, milliseconds since the epoch.
    pub last_access: i64,
    /// Whether a model described it.
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
    /// `consolidate` or `embed`.
    pub kind: &'static str,
    /// `queued` or `failed`.
    pub state: &'static str,
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
    /// Calls to models since the memory was opened.
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
    }
}

impl Engine {
    /// The tiers, heat as of `now_ms`.
    pub fn tiers(&self, now_ms: i64) -> TiersView {
        let cube = self.cube.borrow();
        let short_term = cube.short_term().filter_map(|id| cube.page(id)).map(|page| self.page_view(page)).collect();
        let mut segments: Vec<_> = cube.segments().map(|segment| self.segment_view(segment, now_ms)).collect();
        sort_by(&mut segments, |a, b| b.heat.value.total_cmp(&a.heat.value).then(a.id.cmp(&b.id)));
        let (archive, mid_term) = segments.into_iter().partition(|segment| segment.tier == "archive");
        TiersView { short_term, mid_term, archive, heat_threshold: self.options.config.heat_threshold }
    }

    /// Pages, the newest first.
    pub fn pages(&self, offset: usize, limit: usize) -> Vec<PageView> {
        self.cube.borrow().pages().rev().skip(offset).take(limit).map(|page| self.page_view(page)).collect()
    }

    /// Jobs, the oldest first.
    pub fn jobs(&self) -> Vec<JobView> {
        let cube = self.cube.borrow();
        cube.jobs()
            .map(|job| JobView {
                id: job.id.to_string(),
                kind: match job.kind {
                    JobKind::Consolidate { .. } => "consolidate",
                    JobKind::Embed { .. } => "embed",
                },
                state: if job.failed { "failed" } else { "queued" },
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
        let ledger = self.ledger.get();
        Stats {
            pages: cube.n_pages(),
            turns: index.len(),
            short_term: ShortTermStats {
                pages: cube.n_short_term(),
                capacity: self.options.config.short_term_capacity,
                waiting: cube.short_term().filter(|&id| self.is_waiting(id)).count(),
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
                chat: ledger.chat,
                embed: ledger.embed,
                tokens_in: ledger.tokens_in,
                tokens_out: ledger.tokens_out,
            },
        }
    }

    fn is_waiting(&self, id: PageId) -> bool {
        let cube = self.cube.borrow();
        cube.jobs().any(|job| matches!(&job.kind, JobKind::Consolidate { pages } if pages.contains(&id)))
    }

    fn page_view(&self, page: &Page) -> PageView {
        let cube = self.cube.borrow();
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
            segment_id: cube.place(page.id).and_then(|place| place.segments.first()).map(ToString::to_string),
            metadata: page.metadata.clone(),
            waiting: self.is_waiting(page.id),
        }
    }

    fn segment_view(&self, segment: &Segment, now_ms: i64) -> SegmentView {
        let segment = self.with_visits(segment);
        let cube = self.cube.borrow();
        let heat = heat(&segment, &self.options.config, now_ms);
        SegmentView {
            id: segment.id.to_string(),
            theme: segment.keywords.iter().take(3).cloned().collect::<Vec<_>>().join(" · "),
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
            enriched: segment.enriched,
            start_time: segment.start.map(|time| time.epoch_ms),
            end_time: segment.end.map(|time| time.epoch_ms),
        }
    }
}
