//! Import of an exported file, merged into what is there.

use super::commit::{Commit, commit};
use super::engine::Engine;
use super::event::Event;
use crate::effect::Io;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{PageId, SegmentId, SessionId};
use crate::map::{HashMap, HashSet};
use crate::model::{Change, Cube, Fact, FactSource, Page, Record, RecordKind, Space};
use crate::order::sort_by_key;
use crate::storage::{decode_record, read_snapshot};
use crate::updating::long_term::adopt;
use crate::updating::short_term::consolidation_jobs;

/// What an import brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Pages added.
    pub added: usize,
    /// Pages that were there already, by id or by client id.
    pub duplicates: usize,
}

/// Adds the pages of a file that are not here yet, with their segments and vectors, in one transaction. Pages keep their ids;
/// in short-term memory they queue behind those that are here.
///
/// # Errors
/// Those of [`read_snapshot`]; nothing is imported then.
pub async fn import(engine: &Engine, io: &Io, bytes: &[u8]) -> Result<Imported> {
    let snapshot = read_snapshot(bytes)?;
    if snapshot.frame.n_unknown > 0 {
        let message =
            format!("the file holds {} records of kinds that this version does not know", snapshot.frame.n_unknown);
        return Err(Error::new(ErrorCode::VersionTooNew, message));
    }
    let mut records = snapshot.frame.records.iter().map(decode_record).collect::<Result<Vec<_>>>()?;
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let mut imported = Imported::default();
    let (delta, added) = {
        let cube = engine.cube.borrow();
        let new_pages = new_pages(&cube, &records, &mut imported);
        let occupied: HashSet<SegmentId> = segments_of(&records, &new_pages);
        records.retain(|record| is_wanted(&cube, record, &new_pages, &occupied));
        let is_here = |page: PageId| new_pages.contains(&page) || cube.page(page).is_some();
        let facts = take_facts(&mut records, &is_here);
        let mut delta = merge(&cube, records, &new_pages);
        delta.extend(adopt(&cube, facts));
        for change in &delta {
            ids.observe(change.key().id);
        }
        let mut short_term: Vec<_> = cube.short_term().collect();
        short_term.extend(delta.iter().filter_map(|change| match change {
            Change::Put(Record::Place(place)) if place.segments.is_empty() => Some(place.page),
            _ => None,
        }));
        let config = &engine.options.config;
        let keep = config.short_term_capacity + config.consolidation_batch - 1;
        let jobs = consolidation_jobs(&cube, &short_term, keep, config, &mut ids);
        delta.extend(jobs);
        (delta, new_pages)
    };
    if delta.is_empty() {
        return Ok(imported);
    }
    // Without a vector the index may not know its space yet: the table is on its way.
    if engine.index.borrow().n_vectors() == 0 {
        engine.expect_space(delta.iter().find_map(space_of));
    }
    commit(engine, io, &turn, Commit::new(delta, ids)).await?;
    engine.backfill_due.set(true);
    for page in added.iter() {
        engine.emit(Event::PageAdded { page_id: page.to_string() });
    }
    Ok(imported)
}

fn space_of(change: &Change) -> Option<&Space> {
    match change {
        Change::Put(Record::Vectors(vectors)) => Some(&vectors.space),
        _ => None,
    }
}

/// Takes the facts out of the records; they are settled against those that are here. One whose every quotation stands in a page
/// that is not here is left out, unless the user entered it.
fn take_facts(records: &mut Vec<Record>, is_here: &dyn Fn(PageId) -> bool) -> Vec<Fact> {
    let mut facts = Vec::new();
    records.retain(|record| match record {
        Record::Fact(fact) => {
            let mut fact = fact.clone();
            fact.evidence.retain(|of| is_here(of.turn.page));
            if !fact.evidence.is_empty() || fact.authority() == FactSource::Edited {
                facts.push(fact);
            }
            false
        }
        _ => true,
    });
    facts
}

fn new_pages(cube: &Cube, records: &[Record], imported: &mut Imported) -> HashSet<PageId> {
    let mut new = HashSet::new();
    for record in records {
        let Record::Page(page) = record else { continue };
        let is_known = |page: &Page| {
            cube.page(page.id).is_some()
                || page.client_id.as_deref().is_some_and(|id| cube.page_of_client_id(id).is_some())
        };
        if is_known(page) {
            imported.duplicates += 1;
        } else {
            imported.added += 1;
            new.insert(page.id);
        }
    }
    new
}

/// Segments that hold a new page.
fn segments_of(records: &[Record], new_pages: &HashSet<PageId>) -> HashSet<SegmentId> {
    let places = records.iter().filter_map(|record| match record {
        Record::Place(place) if new_pages.contains(&place.page) => Some(&place.segments),
        _ => None,
    });
    places.flatten().copied().collect()
}

/// Records of new pages, and what else is not here. Jobs stay behind: what they are for is found anew.
fn is_wanted(cube: &Cube, record: &Record, new_pages: &HashSet<PageId>, occupied: &HashSet<SegmentId>) -> bool {
    match record {
        Record::Page(page) => new_pages.contains(&page.id),
        Record::Units(units) => new_pages.contains(&units.page),
        Record::Vectors(vectors) => new_pages.contains(&vectors.page),
        Record::Place(place) => new_pages.contains(&place.page),
        Record::Session(session) => cube.session(session.id).is_none(),
        Record::Segment(segment) => occupied.contains(&segment.id) && cube.segment(segment.id).is_none(),
        Record::Fact(fact) => cube.fact(fact.id).is_none(),
        // Versions of profiles are counted in one row, so two rows cannot be one.
        Record::Profile(_) => cube.profiles().next().is_none(),
        Record::Trait(of) => cube.traits().all(|known| known.dimension != of.dimension),
        Record::ChangeEntry(entry) => {
            let tells = |kind| entry.steps.iter().any(|step| step.key.kind == kind);
            cube.change(entry.id).is_none() && (cube.profiles().next().is_none() || !tells(RecordKind::Profile))
        }
        Record::Analysed(of) => new_pages.contains(&of.page),
        Record::Denied(of) => !cube.is_denied(of.digest),
        Record::Job(_) | Record::Ledger(_) | Record::Modes(_) => false,
    }
}

/// Fits the records into this memory: positions after the present ones, sessions of the same label as one.
fn merge(cube: &Cube, mut records: Vec<Record>, new_pages: &HashSet<PageId>) -> Vec<Change> {
    let relabelled: HashMap<SessionId, SessionId> = records
        .iter()
        .filter_map(|record| match record {
            Record::Session(session) => Some((session.id, cube.session_of_label(session.label.as_deref()?)?)),
            _ => None,
        })
        .collect();
    let offset = cube.next_position();
    records.retain(|record| match record {
        Record::Session(session) => !relabelled.contains_key(&session.id),
        _ => true,
    });
    for record in &mut records {
        match record {
            Record::Page(page) => {
                page.position += offset;
                page.session = relabelled.get(&page.session).copied().unwrap_or(page.session);
            }
            Record::Place(place) => {
                // A segment that is here already does not know the page: it is placed anew.
                if place.segments.iter().any(|&id| cube.segment(id).is_some()) {
                    place.segments.clear();
                }
                place.pre = place.pre.filter(|id| new_pages.contains(id));
                place.next = place.next.filter(|id| new_pages.contains(id));
            }
            _ => {}
        }
    }
    sort_by_key(&mut records, |record| {
        let position = match record {
            Record::Page(page) => page.position,
            _ => 0,
        };
        (record.key().kind, position)
    });
    records.into_iter().map(Change::Put).collect()
}
