//! What a memory holds, and what must hold of it.
#![allow(unreachable_pub)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use memstrata::config::Config;
use memstrata::memory_os::MemoryOs;
use memstrata::model::{Change, Cube, Evidence, LongTerm, Record, RecordKey};
use memstrata::op::{EvidenceView, FactView, FactsWanted};
use memstrata::storage::{Frame, FrameKind, Keyspace, MemoryStore, Store, decode_record};
use memstrata::updating::conflict::slot_of;
use memstrata::updating::heat::heat;

use crate::world::options;

/// What a memory holds, one line a thing, without the ids and times that depend on how often something was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Essence(Vec<String>);

impl Essence {
    pub fn of(memory: &MemoryOs, now_ms: i64) -> Self {
        let tiers = memory.tiers(now_ms);
        let pages = memory.pages(0, usize::MAX);
        let names: HashMap<&str, &str> =
            pages.iter().map(|page| (page.id.as_str(), page.client_id.as_deref().unwrap_or("?"))).collect();
        let name = |id: &str| *names.get(id).expect("every id that is named is a page's");
        let all = |ids: &[String]| ids.iter().map(|id| name(id)).collect::<Vec<_>>().join(" ");
        let quotes = |evidence: &[EvidenceView]| {
            let quotes = evidence.iter().map(|of| format!("{} {} {}", name(&of.page_id), of.role, of.quote));
            quotes.collect::<Vec<_>>().join("; ")
        };
        let mut lines: Vec<String> = Vec::new();
        for page in &pages {
            let [pre, next] = [&page.pre, &page.next].map(|link| link.as_deref().map(name));
            lines.push(format!(
                "page {} {}: {} | {} | {} segments, {} {} {}",
                name(&page.id),
                page.tier,
                page.user_input,
                page.agent_response,
                page.segment_ids.len(),
                pre.unwrap_or("-"),
                next.unwrap_or("-"),
                page.meta_info.as_deref().unwrap_or("-"),
            ));
        }
        for segment in tiers.mid_term.iter().chain(&tiers.archive) {
            lines.push(format!(
                "segment {}: {} {} | {} | {} | {}",
                all(&segment.pages),
                segment.theme,
                segment.keywords.join(" "),
                segment.summary,
                segment.tier,
                segment.heat.l_interaction,
            ));
        }
        let facts = memory.facts(&FactsWanted { closed: true, ..FactsWanted::default() });
        let values: HashMap<&str, &str> = facts.iter().map(|fact| (fact.id.as_str(), fact.value.as_str())).collect();
        for fact in &facts {
            let by = fact.superseded_by.as_deref().map(|id| values.get(id).expect("a link leads to a fact"));
            lines.push(format!("{} closed by {by:?}, {}", fact_line(fact), quotes(&fact.evidence)));
        }
        for of in memory.traits() {
            lines.push(format!("trait {} {} {}: {}", of.name, of.level, of.confidence, quotes(&of.evidence)));
        }
        for text in memory.profile().versions {
            lines.push(format!("profile {} of {}: {}", text.version, text.of, text.text));
        }
        for job in memory.jobs(now_ms) {
            lines.push(format!("job {} {}: {}", job.kind, job.state, all(&job.pages)));
        }
        lines.sort();
        let short_term: Vec<_> = tiers.short_term.iter().map(|page| page.id.clone()).collect();
        let stats = memory.stats();
        lines.push(format!("short-term memory: {}", all(&short_term)));
        lines.push(format!(
            "{} pages, {} turns, {} vectors, {} atoms, {} changes",
            stats.pages, stats.turns, stats.index.vectors, stats.index.atoms, stats.changes
        ));
        Self(lines)
    }

    /// Facts, short-term memory, and how many pages, turns and vectors there are: what does not depend on where pages are filed.
    pub fn said(&self) -> Vec<&str> {
        let said = |line: &&String| line.starts_with("fact ") || line.starts_with("short-term ");
        let counts = self.0.last().map(|counts| counts.split(" atoms").next().unwrap_or(counts));
        self.0.iter().filter(said).map(String::as_str).chain(counts).collect()
    }

    /// What only one of two holds; empty if they are equal.
    pub fn differences(&self, expected: &Self) -> String {
        if self == expected {
            return String::new();
        }
        let count = |lines: &[String]| {
            let mut counts: BTreeMap<String, i32> = BTreeMap::new();
            lines.iter().for_each(|line| *counts.entry(line.clone()).or_default() += 1);
            counts
        };
        let (mine, theirs) = (count(&self.0), count(&expected.0));
        let extra = mine.iter().filter(|(line, n)| theirs.get(*line) != Some(n)).map(|(line, _)| format!("  + {line}"));
        let missing =
            theirs.iter().filter(|(line, n)| mine.get(*line) != Some(n)).map(|(line, _)| format!("  - {line}"));
        extra.chain(missing).collect::<Vec<_>>().join("\n")
    }
}

fn fact_line(fact: &FactView) -> String {
    let FactView { subject, attribute, value, kind, source, .. } = fact;
    let state = if fact.valid_to.is_some() { "closed" } else { "open" };
    let marks = (fact.pinned, fact.archived, fact.never_recall, fact.confidence);
    format!("fact {subject} {attribute}: {value} ({kind}, {source}, {state}, {:?}, {marks:?})", fact.reason)
}

/// The memory as the store has it, read by hand.
pub fn stored(store: &MemoryStore) -> Cube {
    let keys = Keyspace::new(&options().scope);
    let mut latest: BTreeMap<RecordKey, (u64, Option<Record>)> = BTreeMap::new();
    for (from, kind) in [(Store::Chunk, FrameKind::Chunk), (Store::Wal, FrameKind::Log)] {
        for entry in store.read(&keys.all(from)) {
            for raw in Frame::parse(kind, &entry.value).expect("a frame").records {
                if latest.get(&raw.key).is_none_or(|(seq, _)| *seq <= raw.seq) {
                    let record = (!raw.is_removal()).then(|| decode_record(&raw).expect("a record"));
                    latest.insert(raw.key, (raw.seq, record));
                }
            }
        }
    }
    let mut cube = Cube::default();
    latest.into_values().filter_map(|(_, record)| record).for_each(|record| cube.apply(Change::Put(record)));
    cube
}

/// Checks what holds of every memory, whatever happened to it.
///
/// # Errors
/// What does not hold.
pub fn check(cube: &Cube, config: &Config, now_ms: i64) -> Result<(), String> {
    let holds = |holds: bool, what: &dyn Fn() -> String| if holds { Ok(()) } else { Err(what()) };
    let mut client_ids = BTreeSet::new();
    let short_term: BTreeSet<_> = cube.short_term().collect();
    for page in cube.pages() {
        let id = page.id;
        holds(client_ids.insert(page.client_id.clone()), &|| format!("{:?} is stored twice", page.client_id))?;
        let place = cube.place(id).ok_or(format!("page {id} has no place"))?;
        holds(place.segments.is_empty() == short_term.contains(&id), &|| format!("page {id} lies in two tiers"))?;
        let distinct: BTreeSet<_> = place.segments.iter().collect();
        holds(distinct.len() == place.segments.len(), &|| format!("page {id} is in a segment twice"))?;
        let there = place.segments.iter().all(|segment| cube.segment(*segment).is_some());
        holds(there, &|| format!("page {id} lies in a segment that is gone"))?;
        for link in [place.pre, place.next].into_iter().flatten() {
            holds(cube.page(link).is_some(), &|| format!("the chain of page {id} leads to a page that is gone"))?;
        }
        holds(cube.units(id).is_some(), &|| format!("page {id} has no units"))?;
    }
    for segment in cube.segments() {
        let id = segment.id;
        holds(cube.n_members(id) > 0, &|| format!("segment {id} is empty"))?;
        let unseen = cube.members(id).filter(|page| !cube.is_analysed(*page)).count();
        let counted = segment.l_interaction as usize;
        holds(counted == unseen, &|| format!("segment {id} counts {counted} unseen pages and has {unseen}"))?;
        let heat = heat(segment, config, now_ms).value;
        let most = config.heat_alpha * f64::from(segment.n_visit)
            + config.heat_beta * f64::from(segment.l_interaction)
            + config.heat_gamma;
        holds((0.0..=most).contains(&heat), &|| format!("segment {id} has heat {heat} of at most {most}"))?;
    }
    let stands =
        |of: &Evidence| cube.page(of.turn.page).is_some_and(|page| page.text(of.turn.side).contains(of.quote.as_str()));
    let mut slots = BTreeSet::new();
    for fact in cube.facts() {
        let id = fact.id;
        holds(fact.evidence.iter().all(stands), &|| format!("fact {id} rests on words that are not there"))?;
        let by = fact.superseded_by;
        holds(by.is_none_or(|by| cube.fact(by).is_some()), &|| format!("what closed fact {id} is gone"))?;
        if let Some(slot) = slot_of(fact).filter(|_| fact.is_open()) {
            holds(slots.insert(slot.clone()), &|| format!("{slot:?} has two open facts"))?;
        }
    }
    for of in cube.traits() {
        holds(of.evidence.iter().all(stands), &|| format!("trait {} rests on words that are not there", of.dimension))?;
    }
    for entry in cube.changes() {
        for record in entry.steps.iter().flat_map(|step| [&step.before, &step.after]).flatten() {
            let evidence: &[Evidence] = match record {
                LongTerm::Fact(fact) => &fact.evidence,
                LongTerm::Trait(of) => &of.evidence,
                LongTerm::Profile(_) => &[],
            };
            holds(evidence.iter().all(stands), &|| format!("change {} quotes words that are not there", entry.id))?;
        }
    }
    for job in cube.jobs() {
        let there = job.pages().iter().all(|page| cube.page(*page).is_some());
        holds(there, &|| format!("job {} is about a page that is gone", job.id))?;
    }
    Ok(())
}
