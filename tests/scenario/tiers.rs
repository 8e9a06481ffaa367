//! Short- and mid-term memory, consolidation, heat.

use std::collections::BTreeSet;

use memstrata::config::Config;
use memstrata::op::{Event, Filter, OpenOptions, RetrieveInput};
use memstrata::model::Tier;
use memstrata::time::HOUR_MS;

use crate::world::{NOON_MS, Random, World, made_up, options};

fn fill(world: &mut World, memory: &memstrata::memory_os::MemoryOs, n_turns: usize) {
    let mut random = Random(3);
    for number in 0..n_turns {
        world.run(memory.add(vec![made_up(number, &mut random)], NOON_MS)).done().expect("stored");
    }
}

#[test]
fn o02_pages_sink_in_batches_and_stay_until_the_commit_lands() {
    let mut world = World::default();
    let memory = world.open();
    fill(&mut world, &memory, 15);
    let stats = memory.stats();
    assert_eq!((stats.short_term.pages, stats.short_term.waiting, stats.jobs.queued), (15, 5, 1));
    assert!(world.run(memory.work(NOON_MS)).done().expect("works").ran);
    let stats = memory.stats();
    assert_eq!((stats.short_term.pages, stats.mid_term.pages, stats.jobs.queued), (10, 5, 0));
    assert!(memory.take_events().iter().any(|event| matches!(event, Event::Consolidated { pages, .. } if pages.len() == 5)));
}

#[test]
fn o04_every_page_is_in_one_place_and_comes_back_once() {
    let mut world = World::default();
    let memory = world.open();
    fill(&mut world, &memory, 60);
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    let tiers = memory.tiers(NOON_MS);
    let mut seen = BTreeSet::new();
    let in_segments = tiers.mid_term.iter().flat_map(|segment| segment.pages.clone());
    for page in tiers.short_term.iter().map(|page| page.id.clone()).chain(in_segments) {
        assert!(seen.insert(page.clone()), "{page} lies in two places");
    }
    assert_eq!((seen.len(), tiers.short_term.len()), (60, 10));
    let found = world.run(memory.retrieve(RetrieveInput { top_k: 1_000, ..RetrieveInput::new("tomatoes") }, NOON_MS)).done().expect("found");
    let hits: BTreeSet<_> = found.hits.iter().map(|hit| hit.id.clone()).collect();
    assert_eq!(hits.len(), found.hits.len());
}

#[test]
fn o05_topics_become_segments_with_keywords_and_a_summary() {
    let mut world = World::default();
    let memory = world.open();
    fill(&mut world, &memory, 60);
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    let tiers = memory.tiers(NOON_MS);
    assert!((3..=30).contains(&tiers.mid_term.len()), "{} segments", tiers.mid_term.len());
    for segment in &tiers.mid_term {
        assert!(!segment.keywords.is_empty() && !segment.summary.is_empty() && !segment.enriched, "{segment:?}");
    }
}

#[test]
fn o06_o14_visits_heat_a_segment_and_are_carried_by_the_next_commit() {
    let mut world = World::default();
    let memory = world.open();
    fill(&mut world, &memory, 40);
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    let store_before = world.store.clone();
    let heat = |memory: &memstrata::memory_os::MemoryOs, id: &str, at| {
        let tiers = memory.tiers(at);
        tiers.mid_term.iter().find(|segment| segment.id == id).map(|segment| segment.heat).expect("the segment is there")
    };
    let search = RetrieveInput { filter: Filter { tiers: vec![Tier::Mid], ..Filter::default() }, ..RetrieveInput::new("tomatoes basil") };
    let found = world.run(memory.retrieve(search, NOON_MS + HOUR_MS)).done().expect("found");
    assert_eq!(world.store, store_before, "a reader wrote");
    let segment = found.hits[0].segment_id.clone().expect("a mid-term hit");
    let warm = heat(&memory, &segment, NOON_MS + HOUR_MS);
    assert_eq!((warm.n_visit, warm.r_recency), (1, 1.0));
    let cooler = heat(&memory, &segment, NOON_MS + 25 * HOUR_MS);
    assert!((warm.value - cooler.value - (1.0 - (-1.0_f64).exp())).abs() < 1e-9);
    fill(&mut world, &memory, 41);
    assert_eq!(heat(&world.open(), &segment, NOON_MS).n_visit, 1);
}

#[test]
fn o08_beyond_the_capacity_the_coldest_is_archived_and_found_when_asked_for() {
    let mut world = World::default();
    let config = Config { mid_term_capacity: 2, ..Config::default() };
    let memory = world.open_with(OpenOptions { config, ..options() }).done().expect("opens");
    fill(&mut world, &memory, 60);
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    let tiers = memory.tiers(NOON_MS);
    assert_eq!(tiers.mid_term.len(), 2);
    assert!(!tiers.archive.is_empty());
    let archived = &tiers.archive[0].pages[0];
    let page = memory.pages(0, 100).into_iter().find(|page| page.id == *archived).expect("its text is kept");
    let ask = |tiers| RetrieveInput { filter: Filter { tiers, ..Filter::default() }, top_k: 1_000, ..RetrieveInput::new(page.user_input.clone()) };
    let hot = world.run(memory.retrieve(ask(vec![]), NOON_MS)).done().expect("answered");
    assert!(hot.hits.iter().all(|hit| hit.page_id != *archived));
    let cold = world.run(memory.retrieve(ask(vec![Tier::Archive]), NOON_MS)).done().expect("answered");
    assert_eq!(cold.hits[0].page_id, *archived);
}

#[test]
fn o01_a_smaller_capacity_after_a_restart_moves_pages_and_loses_none() {
    let mut world = World::default();
    let memory = world.open();
    fill(&mut world, &memory, 14);
    let config = Config { short_term_capacity: 2, ..Config::default() };
    let small = world.open_with(OpenOptions { config, ..options() }).done().expect("opens");
    world.run(small.flush(NOON_MS)).done().expect("flushes");
    let stats = small.stats();
    assert_eq!((stats.pages, stats.short_term.pages, stats.mid_term.pages), (14, 2, 12));
}

#[test]
fn o17_a_job_that_was_queued_before_a_restart_is_done_after_it() {
    let mut world = World::default();
    let memory = world.open();
    fill(&mut world, &memory, 15);
    drop(memory);
    let again = world.open();
    assert_eq!(again.stats().jobs.queued, 1);
    world.run(again.work(NOON_MS)).done().expect("works");
    assert_eq!(again.stats().mid_term.pages, 5);
}
