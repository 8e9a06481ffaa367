//! Retrieval as the MemoryOS paper has it, against the default.

use memstrata::config::Config;
use memstrata::effect::{EmbedReply, Usage};
use memstrata::memory_os::MemoryOs;
use memstrata::model::Space;
use memstrata::op::{Embedder, Filter, OpenOptions, Recall, RetrieveInput};
use memstrata::retrieval::Strategy;

use crate::world::{NOON_MS, World, options, turn};

const TOPICS: [&str; 7] = ["rowing", "baking", "chess", "tulips", "opera", "welding", "comets"];
const DIMENSIONS: usize = 8;

/// A vector by topic: the axis of every topic that the text names, and a little of the last axis where it says "dawn".
fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    for (axis, topic) in TOPICS.iter().enumerate() {
        vector[axis] = if text.contains(topic) { 1.0 } else { 0.0 };
    }
    vector[DIMENSIONS - 1] = if text.contains("dawn") { 0.6 } else { 0.0 };
    vector
}

/// Seven segments of two pages each, and nothing in short-term memory but the last page.
fn seven_segments(world: &mut World) -> MemoryOs {
    world.embed = Box::new(|request| {
        let vectors = request.texts.iter().map(|text| vector(text)).collect();
        Ok(EmbedReply { vectors, usage: Usage::default() })
    });
    let space = Space { model: "topics".into(), dimensions: DIMENSIONS as u32 };
    let config = Config { short_term_capacity: 1, consolidation_batch: 1, ..Config::default() };
    let embedder = Embedder::External { space, texts_per_call: 8 };
    let memory = world.open_with(OpenOptions { config, embedder, ..options() }).done().expect("opens");
    // A day apart, so that each topic is a session of its own.
    for (day, topic) in TOPICS.iter().enumerate() {
        for text in [format!("I went {topic} again."), format!("More {topic} at dawn.")] {
            world.run(memory.add(vec![turn(&text, "", day as i64 * 24)], NOON_MS)).done().expect("stored");
            world.run(memory.flush(NOON_MS)).done().expect("flushed");
        }
    }
    world.run(memory.add(vec![turn("Nothing else.", "", 300)], NOON_MS)).done().expect("stored");
    world.run(memory.flush(NOON_MS)).done().expect("flushed");
    memory
}

fn found(world: &mut World, memory: &MemoryOs, query: &str, strategy: Strategy, top_k: usize) -> Recall {
    let input = RetrieveInput { strategy, top_k, ..RetrieveInput::new(query) };
    world.run(memory.retrieve(input, NOON_MS)).done().expect("found")
}

#[test]
fn o13_two_stages_take_five_segments_and_then_the_nearest_pages() {
    let mut world = World::default();
    let memory = seven_segments(&mut world);
    assert_eq!(memory.stats().mid_term.segments, 7);
    let written = memory.stats().written_bytes;
    let hits = found(&mut world, &memory, "rowing at dawn", Strategy::TwoStage, 3).hits;
    let texts: Vec<_> = hits.iter().map(|hit| hit.text.as_str()).collect();
    assert_eq!(texts[..2], ["More rowing at dawn.", "I went rowing again."]);
    // cos((1, .6), (1, .6)) = 1 and cos((1, .6), (1, 0)) = 1 / sqrt(1.36).
    assert!((hits[0].score - 1.0).abs() < 1e-5 && (hits[1].score - 0.857_493).abs() < 1e-5, "{hits:?}");
    assert_eq!(hits[0].parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["page"]);
    assert_eq!(hits.len(), 3);
    assert_eq!(memory.stats().written_bytes, written, "a search writes nothing");
}

#[test]
fn o13_the_gate_of_the_paper_hides_what_the_default_finds() {
    let mut world = World::default();
    let memory = seven_segments(&mut world);
    // Six topics are asked for; only five segments pass.
    let query = "rowing baking chess tulips opera welding";
    let pages = |recall: &Recall| recall.hits.iter().filter(|hit| hit.text.starts_with("I went")).count();
    assert_eq!(pages(&found(&mut world, &memory, query, Strategy::TwoStage, 100)), 5);
    assert_eq!(pages(&found(&mut world, &memory, query, Strategy::Auto, 100)), 6);
    // Filters apply before the stages.
    let filter = Filter { from_ms: Some(NOON_MS + 5 * 24 * 3_600_000), ..Filter::default() };
    let input = RetrieveInput { strategy: Strategy::TwoStage, filter, ..RetrieveInput::new(query) };
    let late = world.run(memory.retrieve(input, NOON_MS)).done().expect("found");
    assert_eq!(pages(&late), 2);
}
