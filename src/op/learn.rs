//! From candidate facts to a delta: dated, checked against what is there now, settled.

use super::engine::Engine;
use super::event::Event;
use crate::id::{IdSource, PageId};
use crate::model::{CandidateFact, Cause, Change, Cube, Evidence, Record, RecordKind};
use crate::updating::{event_time, long_term};

/// Learns facts that an analysis of `pages` found.
pub(super) fn learn(
    engine: &Engine,
    cube: &Cube,
    mut facts: Vec<CandidateFact>,
    pages: &[PageId],
    step: &str,
    ids: &mut IdSource,
    now_ms: i64,
) -> Vec<Change> {
    facts.retain(|fact| fact.evidence.iter().all(|of| stands(cube, of)));
    if facts.is_empty() {
        return Vec::new();
    }
    facts.iter_mut().for_each(|fact| event_time::date(cube, fact));
    let cause = cause(engine, pages, step);
    long_term::learn(cube, &engine.options.config, &facts, cause, ids, now_ms).delta
}

/// Whether a quotation stands in its page.
pub(super) fn stands(cube: &Cube, of: &Evidence) -> bool {
    cube.page(of.turn.page).is_some_and(|page| page.text(of.turn.side).contains(&of.quote))
}

/// The cause of what an analysis changes.
pub(super) fn cause(engine: &Engine, pages: &[PageId], step: &str) -> Cause {
    Cause::Analysis { pages: pages.to_vec(), model: engine.options.chat_model.clone(), step: step.into() }
}

/// The event of every entry of history in a delta.
pub(super) fn persona_changed(delta: &[Change]) -> Vec<Event> {
    let entries = delta.iter().filter_map(|change| match change {
        Change::Put(Record::ChangeEntry(entry)) => Some(entry),
        _ => None,
    });
    let events = entries.map(|entry| {
        let n = |kind: RecordKind| entry.steps.iter().filter(|step| step.key.kind == kind).count();
        Event::PersonaChanged {
            change_id: entry.id.to_string(),
            facts: n(RecordKind::Fact),
            profiles: n(RecordKind::Profile),
            traits: n(RecordKind::Trait),
        }
    });
    events.collect()
}
