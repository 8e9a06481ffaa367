//! Workflows, one verb a file. The only place that awaits: each is a straight line of reads, rules, one commit and its
//! application.
//!
//! Invariant: commit, then apply. A workflow computes a delta, awaits the commit, and then changes state without awaiting.
//! Invariant: one writer. Whoever writes holds the [`writer::Turn`]; readers take none and never write.

mod add;
mod clear;
mod commit;
mod complete;
mod consolidate;
mod embed;
mod engine;
mod event;
mod export;
mod forget;
mod import;
mod learn;
mod open;
mod persona;
mod persona_view;
pub mod policy;
mod promote;
mod respond;
mod retrieve;
mod seal;
mod spending;
mod view;
mod work;
mod writer;

pub use add::{Added, add};
pub use clear::clear;
pub use complete::complete;
pub use engine::{Embedder, Engine, OpenOptions, Settings};
pub use event::{Event, RefusedPart};
pub use export::export;
pub use forget::{Forgotten, forget};
pub use import::{Imported, import};
pub use open::open;
pub use persona::{Act, FactInput, act, never_recall_page, set_profile, undo};
pub use persona_view::{
    CauseView, ChangeView, EvidenceView, FactView, FactsWanted, LedgerView, ProfileText, ProfileView, RecordView,
    StepView, TraitView,
};
pub use policy::{Policies, UpdatePolicy};
pub use respond::{Manner, Merged, Mode, RespondInput, Responded, merge, respond};
pub use retrieve::{Candidate, Filter, Hit, RangeView, Recall, RetrieveInput, Retriever, Search, Test, retrieve};
pub use view::{JobView, PageView, SegmentView, Stats, TiersView};
pub use work::{Analysed, Worked, analyse, flush, retry, work};
