//! Forgetting, clearing, exporting, importing, and embedding what could not be embedded at once.

use std::cell::RefCell;
use std::rc::Rc;

use memstrata::config::Config;
use memstrata::effect::{EmbedReply, EmbedRequest, Usage};
use memstrata::error::{Error, ErrorCode, Result};
use memstrata::id::PageId;
use memstrata::memory_os::MemoryOs;
use memstrata::model::{Scope, Space};
use memstrata::op::{Embedder, Event, OpenOptions, RetrieveInput};

use crate::world::{Ended, Fault, NOON_MS, Random, World, made_up, options, table, turn};

const CANARY: &str = "xylophone-canary-7731";

fn small_chunks() -> OpenOptions {
    OpenOptions { config: Config { seal_threshold_bytes: 16 * 1024, ..Config::default() }, ..options() }
}

fn add(world: &mut World, memory: &MemoryOs, numbers: std::ops::Range<usize>) {
    let mut random = Random(5);
    for number in numbers {
        world.run(memory.add(vec![made_up(number, &mut random)], NOON_MS)).done().expect("stored");
    }
}

fn found(world: &mut World, memory: &MemoryOs, query: &str) -> Vec<String> {
    let found = world.run(memory.retrieve(RetrieveInput::new(query), NOON_MS)).done().expect("answered");
    found.hits.into_iter().map(|hit| hit.text).collect()
}

#[test]
fn case_32_a_forgotten_page_is_gone_from_text_summary_keywords_and_every_byte_of_the_store() {
    for seal_before in [false, true] {
        let mut world = World::default();
        let memory = world.open_with(small_chunks()).done().expect("opens");
        add(&mut world, &memory, 0..3);
        let secret = turn(&format!("Tell nobody about the {CANARY} and my tomatoes."), "I will not.", 1);
        let page: PageId = world.run(memory.add(vec![secret], NOON_MS)).done().expect("stored")[0].page();
        add(&mut world, &memory, 3..20);
        world.run(memory.flush(NOON_MS)).done().expect("flushes");
        if !seal_before {
            // The segment is rewritten in the log, so that an old version of it lies in a chunk.
            world.run(memory.retrieve(RetrieveInput::new(CANARY), NOON_MS)).done().expect("visited");
            add(&mut world, &memory, 20..22);
        }
        assert!(world.holds(CANARY));
        let segment =
            memory.tiers(NOON_MS).mid_term.into_iter().find(|segment| segment.pages.contains(&page.to_string()));
        let segment = segment.expect("it has sunk");
        let forgotten = world.run(memory.forget(vec![page], vec![], NOON_MS)).done().expect("forgets");
        assert_eq!(forgotten.pages, [page]);
        let gone_with = forgotten.segments_rewritten.len() + forgotten.segments_removed.len();
        assert_eq!((gone_with, segment.pages.len() == 1), (1, forgotten.segments_rewritten.is_empty()));
        assert!(!world.holds(CANARY), "seal_before {seal_before}");
        let export = world.run(memory.export()).done().expect("exports");
        assert!(!export.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()));
        for memory in [memory, world.open_with(small_chunks()).done().expect("opens")] {
            assert!(found(&mut world, &memory, CANARY).iter().all(|text| !text.contains(CANARY)));
            let shown = format!("{:?}", memory.tiers(NOON_MS));
            assert!(!shown.contains(CANARY));
        }
        let again = world.open_with(small_chunks()).done().expect("opens");
        world.run(again.flush(NOON_MS)).done().expect("flushes");
        assert_eq!(again.stats().pages, if seal_before { 20 } else { 22 });
    }
}

#[test]
fn forgetting_a_page_that_waits_takes_it_out_of_its_job() {
    let mut world = World::default();
    let memory = world.open();
    add(&mut world, &memory, 0..15);
    let oldest: PageId = memory.tiers(NOON_MS).short_term[0].id.parse().expect("an id");
    world.run(memory.forget(vec![oldest, oldest], vec![], NOON_MS)).done().expect("forgets");
    assert_eq!(memory.jobs(NOON_MS)[0].pages.len(), 4);
    world.run(memory.work(NOON_MS)).done().expect("works");
    assert_eq!(memory.stats().mid_term.pages, 4);
}

#[test]
fn a_cleared_memory_is_empty_and_makes_new_ids() {
    let mut world = World::default();
    let memory = world.open();
    add(&mut world, &memory, 0..20);
    let old: Vec<_> = memory.pages(0, 100).into_iter().map(|page| page.id).collect();
    world.run(memory.clear()).done().expect("clears");
    assert_eq!((memory.stats().pages, memory.stats().turns, world.store.len()), (0, 0, 1));
    add(&mut world, &memory, 0..2);
    assert!(memory.pages(0, 10).iter().all(|page| !old.contains(&page.id)));
    assert_eq!(world.open().stats().pages, 2);
}

#[test]
fn an_export_imported_elsewhere_is_the_same_memory() {
    let mut world = World::default();
    let memory = world.open_with(small_chunks()).done().expect("opens");
    add(&mut world, &memory, 0..60);
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    add(&mut world, &memory, 60..63);
    let file = world.run(memory.export()).done().expect("exports");
    let mut elsewhere = World::default();
    let other = OpenOptions { scope: Scope::new("ben", "helper").expect("valid"), seed: 99, ..options() };
    let copy = elsewhere.open_with(other).done().expect("opens");
    let imported = elsewhere.run(copy.import(file.clone())).done().expect("imports");
    assert_eq!((imported.added, imported.duplicates), (63, 0));
    assert_eq!(copy.pages(0, 100), memory.pages(0, 100));
    assert_eq!(copy.tiers(NOON_MS).mid_term, memory.tiers(NOON_MS).mid_term);
    assert_eq!(found(&mut elsewhere, &copy, "choir"), found(&mut world, &memory, "choir"));
    let again = elsewhere.run(copy.import(file)).done().expect("imports");
    assert_eq!((again.added, again.duplicates, copy.stats().pages), (0, 63, 63));
}

#[test]
fn an_import_that_comes_before_the_table_keeps_its_vectors() {
    let mut world = World::default();
    let memory = world.open();
    add(&mut world, &memory, 0..12);
    let file = world.run(memory.export()).done().expect("exports");
    let mut elsewhere = World::default();
    let copy = elsewhere.run(MemoryOs::open(options())).done().expect("opens");
    elsewhere.run(copy.import(file)).done().expect("imports");
    copy.use_table(table());
    elsewhere.run(copy.flush(NOON_MS)).done().expect("flushes");
    let (index, wanted) = (copy.stats().index, memory.stats().index);
    assert_eq!((index.vectors, index.pending_vectors), (wanted.vectors, 0));
    assert_eq!(found(&mut elsewhere, &copy, "choir"), found(&mut world, &memory, "choir"));
}

#[test]
fn an_import_into_a_memory_in_use_adds_what_is_new() {
    let mut world = World::default();
    let memory = world.open();
    add(&mut world, &memory, 0..20);
    let early = world.run(memory.export()).done().expect("exports");
    add(&mut world, &memory, 20..40);
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    let late = world.run(memory.export()).done().expect("exports");
    let mut elsewhere = World::default();
    let copy = elsewhere.open();
    elsewhere.run(copy.import(early)).done().expect("imports");
    elsewhere.run(copy.flush(NOON_MS)).done().expect("flushes");
    let imported = elsewhere.run(copy.import(late)).done().expect("imports");
    assert_eq!((imported.added, imported.duplicates), (20, 20));
    elsewhere.run(copy.flush(NOON_MS)).done().expect("flushes");
    let stats = copy.stats();
    assert_eq!((stats.pages, stats.short_term.pages, stats.mid_term.pages), (40, 10, 30));
}

#[test]
fn a_damaged_or_foreign_file_imports_nothing() {
    let mut world = World::default();
    let memory = world.open();
    add(&mut world, &memory, 0..5);
    let file = world.run(memory.export()).done().expect("exports");
    let mut elsewhere = World::default();
    let copy = elsewhere.open();
    let mut refuse = |file: Vec<u8>| elsewhere.run(copy.import(file)).done().expect_err("refused").code();
    assert_eq!(refuse(b"{\"not\": \"ours\"}".to_vec()), ErrorCode::InvalidArgument);
    assert_eq!(refuse(Vec::new()), ErrorCode::InvalidArgument);
    assert_eq!(refuse(file[..file.len() / 2].to_vec()), ErrorCode::StorageCorrupt);
    let mut flipped = file.clone();
    flipped[file.len() / 2] ^= 4;
    assert_eq!(refuse(flipped), ErrorCode::StorageCorrupt);
    assert_eq!((copy.stats().pages, elsewhere.store.len()), (0, 0));
}

#[test]
fn pages_stored_before_the_table_came_get_their_vectors_afterwards() {
    let mut world = World::default();
    let memory = world.run(MemoryOs::open(options())).done().expect("opens");
    add(&mut world, &memory, 0..3);
    assert_eq!((memory.stats().index.vectors, memory.stats().embedder.ready), (0, false));
    let by_word = found(&mut world, &memory, "a note");
    assert!(!by_word.is_empty());
    assert!(!world.run(memory.work(NOON_MS)).done().expect("works").ran, "there is nothing to do without a table");
    memory.use_table(table());
    while world.run(memory.work(NOON_MS)).done().expect("works").ran {}
    let mut other = World::default();
    let with_table = other.open();
    add(&mut other, &with_table, 0..3);
    assert_eq!(memory.stats().index.vectors, with_table.stats().index.vectors);
    assert_eq!(
        found(&mut world, &memory, "what grows outside?"),
        found(&mut other, &with_table, "what grows outside?")
    );
}

#[test]
fn case_21_another_embedder_is_never_mixed_in_and_everything_is_embedded_anew() {
    let mut world = World::default();
    let memory = world.open();
    add(&mut world, &memory, 0..40);
    let space = Space { model: "other".into(), dimensions: 128 };
    let external =
        || OpenOptions { embedder: Embedder::External { space: space.clone(), texts_per_call: 7 }, ..options() };
    let changed = world.open_with(external()).done().expect("opens");
    assert_eq!(changed.stats().index.vectors, 0);
    assert!(!found(&mut world, &changed, "tomatoes").is_empty(), "keywords go on");
    world.embed = Box::new(|request| {
        let vectors =
            request.texts.iter().map(|text| (0..128).map(|i| ((text.len() * (i + 1)) % 17) as f32 + 1.0).collect());
        Ok(EmbedReply { vectors: vectors.collect(), usage: Usage::default() })
    });
    while changed.stats().index.vectors == 0 {
        assert!(world.run(changed.work(NOON_MS)).done().expect("works").ran);
    }
    let halfway = changed.stats().index;
    assert!(halfway.vectors > 0 && halfway.pending_vectors > 0);
    let resumed = world.open_with(external()).done().expect("opens");
    assert_eq!(resumed.stats().index.vectors, halfway.vectors);
    world.run(resumed.flush(NOON_MS)).done().expect("flushes");
    let stats = resumed.stats();
    assert_eq!((stats.index.vectors, stats.index.pending_vectors), (stats.turns, 0));
}

/// An embedding model of so many dimensions that counts what it was asked.
fn model(
    dimensions: usize,
    asked: &Rc<RefCell<Vec<String>>>,
) -> impl FnMut(&EmbedRequest) -> Result<EmbedReply> + use<> {
    let asked = Rc::clone(asked);
    move |request| {
        asked.borrow_mut().extend(request.texts.iter().cloned());
        let number = |text: &str, i: usize| f32::from(text.as_bytes()[i % text.len()]) + 1.0;
        let vectors = request.texts.iter().map(|text| (0..dimensions).map(|i| number(text, i)).collect());
        Ok(EmbedReply { vectors: vectors.collect(), usage: Usage::default() })
    }
}

fn outside(model: &str, dimensions: u32) -> OpenOptions {
    let space = Space { model: model.into(), dimensions };
    OpenOptions { embedder: Embedder::External { space, texts_per_call: 8 }, ..options() }
}

#[test]
fn b09_a_table_beside_an_outside_embedder_asks_it_nothing_twice() {
    let mut world = World::default();
    let asked = Rc::new(RefCell::new(Vec::new()));
    world.embed = Box::new(model(64, &asked));
    let memory = world.open_with(outside("a", 64)).done().expect("opens");
    add(&mut world, &memory, 0..20);
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    let (vectors, n_asked) = (memory.stats().index.vectors, asked.borrow().len());
    assert_eq!(vectors, n_asked);
    memory.use_table(table());
    assert_eq!(memory.stats().index.pending_vectors, 20, "units are still estimates");
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    let index = memory.stats().index;
    assert_eq!((index.vectors, index.pending_vectors), (vectors, 0));
    assert_eq!(asked.borrow().len(), n_asked);
    // With the table's signals, and the vectors of the other space.
    let recall = world.run(memory.retrieve(RetrieveInput::new("tomatoes"), NOON_MS)).done().expect("finds");
    assert!(recall.query.vectors);
    let parts: Vec<_> = recall.hits[0].parts.iter().map(|part| part.name).collect();
    assert!(parts.contains(&"odt") && parts.contains(&"ma"), "{parts:?}");
    // While the embedder fails, no vectors take part: the table's are of another space.
    world.embed = Box::new(|_| Err(Error::new(ErrorCode::ProviderFailed, "down")));
    let recall = world.run(memory.retrieve(RetrieveInput::new("tomatoes"), NOON_MS)).done().expect("finds");
    assert!(!recall.query.vectors && !recall.hits.is_empty());
}

#[test]
fn b09_every_change_of_the_space_embeds_anew_with_progress_and_mixes_nothing() {
    let mut world = World::default();
    let memory = world.open();
    add(&mut world, &memory, 0..100);
    // Other dimensions, another model of the same dimensions, the largest, and the smallest again.
    for (name, dimensions) in [("a", 64), ("b", 64), ("c", 4096), ("a", 64)] {
        let asked = Rc::new(RefCell::new(Vec::new()));
        world.embed = Box::new(model(dimensions, &asked));
        let memory = world.open_with(outside(name, dimensions as u32)).done().expect("opens");
        let stats = memory.stats();
        assert_eq!(
            (stats.index.vectors, stats.index.pending_vectors),
            (0, stats.pages),
            "{name}: none is of the space before"
        );
        let before = found(&mut world, &memory, "tomatoes");
        assert!(!before.is_empty(), "{name}: keywords go on");
        let mut left = vec![stats.pages];
        memory.take_events();
        while world.run(memory.work(NOON_MS)).done().expect("works").ran {}
        left.extend(memory.take_events().iter().filter_map(|event| match event {
            Event::Embedded { pending, .. } => Some(*pending),
            _ => None,
        }));
        assert!(left.len() > 3 && left.windows(2).all(|pair| pair[1] < pair[0]), "{name}: {left:?} go down");
        assert_eq!(left.last(), Some(&0));
        let stats = memory.stats();
        assert_eq!((stats.index.vectors, stats.index.pending_vectors), (stats.turns, 0));
        let mut texts = asked.borrow().clone();
        texts.retain(|text| text != "tomatoes");
        assert_eq!(texts.len(), stats.turns, "{name}: every turn is asked for once");
        let found = world.run(memory.retrieve(RetrieveInput::new("tomatoes"), NOON_MS)).done().expect("answered");
        assert!(found.query.vectors);
    }
}

#[test]
fn b09_embedding_anew_goes_on_after_a_crash_at_every_effect() {
    let mut world = World::default();
    let memory = world.open();
    add(&mut world, &memory, 0..40);
    let stored = world.store.clone();
    let n_turns = memory.stats().turns;
    for at in 1.. {
        let asked = Rc::new(RefCell::new(Vec::new()));
        let mut world = World { store: stored.clone(), embed: Box::new(model(96, &asked)), ..World::default() };
        world.fault = Some(Fault::CrashAfter(at));
        let crashed = match world.open_with(outside("new", 96)) {
            Ended::Crashed => true,
            Ended::Done(memory) => {
                let memory = memory.expect("opens");
                matches!(world.run(memory.flush(NOON_MS)), Ended::Crashed)
            }
        };
        world.fault = None;
        let kept = world.open_with(outside("new", 96)).done().expect("opens");
        let n_kept = kept.stats().index.vectors;
        asked.borrow_mut().clear();
        world.run(kept.flush(NOON_MS)).done().expect("flushes");
        assert_eq!((kept.stats().index.vectors, kept.stats().index.pending_vectors), (n_turns, 0), "effect {at}");
        assert_eq!(asked.borrow().len(), n_turns - n_kept, "effect {at}: what was kept is not asked for again");
        if !crashed {
            assert!(at > 8, "{at} effects are too few to be interrupted");
            break;
        }
    }
}
