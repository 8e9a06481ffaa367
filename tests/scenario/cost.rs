//! What memory costs on a real conversation. The data are not part of this repository: `MEMSTRATA_DATA` names the file, and
//! without it the test says so and ends.

#![allow(clippy::print_stdout)] // The figures are the point.

use std::collections::BTreeMap;

use memstrata::config::Config;
use memstrata::effect::{ChatReply, ChatRequest};
use memstrata::error::Result;
use memstrata::time::Timestamp;
use memstrata::updating::short_term::NewPage;
use serde_json::{Value, json};

use crate::model::{Shown, answer_by_rule, open_segments, reply, shown};
use crate::steps::{reopen, watched, with, work};
use crate::world::{NOON_MS, World, table};

/// Pages of a conversation, a user's turn with the answer to it, as `tests/lib/pages.mjs` makes them; and its turns.
fn conversation(path: &str, id: &str) -> Option<(Vec<NewPage>, usize)> {
    let data: Value = serde_json::from_slice(&std::fs::read(path).ok()?).expect("JSON");
    let conversations = data["conversations"].as_array().expect("conversations");
    let turns = conversations.iter().find(|of| of["id"] == id)?["turns"].as_array().expect("turns");
    let mut pages: Vec<NewPage> = Vec::new();
    let mut open = false;
    for turn in turns {
        let text = |key: &str| turn[key].as_str().unwrap_or_default().to_owned();
        let session = Some(turn["session"].to_string());
        if turn["role"] == "assistant"
            && let Some(page) = pages.last_mut().filter(|page| open && page.session == session)
        {
            (page.agent_response, page.agent_name) = (text("text"), text("speaker"));
            open = false;
            continue;
        }
        let page = NewPage { session, time: time(&text("time")), ..NewPage::default() };
        open = turn["role"] != "assistant";
        pages.push(match open {
            true => NewPage { user_input: text("text"), user_name: text("speaker"), ..page },
            false => NewPage { agent_response: text("text"), agent_name: text("speaker"), ..page },
        });
    }
    Some((pages, turns.len()))
}

fn time(text: &str) -> Option<Timestamp> {
    let local: jiff::civil::DateTime = text.parse().ok()?;
    let since = local.duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0));
    Some(Timestamp::utc(i64::try_from(since.as_millis()).ok()?))
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    calls: usize,
    front: u32,
    /// Of the schema, which some providers count too.
    schema: u32,
    data: u32,
    out: u32,
}

/// A model that writes as much as models do, and keeps to a topic: a batch continues the latest segment, so that segments grow
/// hot; each page gives two facts, each link and summary has its length, and a profile has 250 words.
fn talkative(request: &ChatRequest) -> Result<ChatReply> {
    let pages = shown(request);
    let words = |n: usize, from: &str| {
        let said: Vec<&str> = from.split_whitespace().chain(["something"]).collect();
        said.iter().cycle().take(n).copied().collect::<Vec<_>>().join(" ")
    };
    let quote = |page: &Shown| {
        let text = if page.user.is_empty() { &page.assistant } else { &page.user };
        text.split_inclusive(['.', '!', '?']).next().unwrap_or(text).trim().to_owned()
    };
    let fact = |page: &Shown, n: usize| {
        let attribute = words(3, page.user.get(n * 9..).unwrap_or("plan"));
        json!({"subject": if page.user.is_empty() { "assistant" } else { "user" }, "attribute": attribute, "value": words(5, &page.user), "kind": "knowledge",
            "confidence": 0.9, "valid_from": null, "quote": quote(page), "page": page.id})
    };
    let facts = || pages.iter().flat_map(|page| [fact(page, 0), fact(page, 1)]).collect::<Vec<_>>();
    let ids: Vec<_> = pages.iter().map(|page| page.id.clone()).collect();
    let open = open_segments(request);
    let all = pages.iter().map(|page| page.user.as_str()).collect::<Vec<_>>().join(" ");
    // Every fourth batch begins a topic.
    let fresh = all.len() % 4 == 0;
    let segment = json!({"continues": open.first().filter(|_| !fresh).map(|(id, _)| id), "title": words(4, &all), "summary": words(45, &all),
        "keywords": words(6, &all).split(' ').collect::<Vec<_>>(), "pages": ids});
    let link = |page: &Shown| json!({"page": page.id, "continues": null, "meta_info": words(16, &page.user)});
    let value = match request.format.expect("a step").name {
        "memory_batch" => {
            json!({"reasoning": words(25, &all), "segments": [segment], "links": pages.iter().map(link).collect::<Vec<_>>(), "facts": facts()})
        }
        "multi_topic_summary" => json!({"reasoning": words(20, &all), "themes": [segment]}),
        "continuity" => json!({"reasoning": words(15, &all), "continues": all.len() % 3 > 0}),
        "meta_info" => json!({"meta_info": words(25, &all)}),
        "knowledge" => json!({"reasoning": words(25, &all), "user_knowledge": facts(), "assistant_knowledge": []}),
        "user_profile" => {
            let of = |page: &Shown| json!({"dimension": page.user.len() % 90, "level": "high", "confidence": 0.7, "quote": quote(page), "page": page.id});
            json!({"reasoning": words(25, &all), "profile": words(250, &all), "traits": pages.iter().take(3).map(of).collect::<Vec<_>>()})
        }
        other => panic!("{other}"),
    };
    Ok(reply(value.to_string(), request))
}

fn run(
    policy: &str,
    model: fn(&ChatRequest) -> Result<ChatReply>,
    config: Config,
    pages: &[NewPage],
    n_turns: usize,
) -> Row {
    let mut world = World::default();
    let calls = watched(&mut world, model);
    let memory = reopen(&mut world, with(config));
    for page in pages {
        let now_ms = page.time.map_or(NOON_MS, |time| time.epoch_ms);
        let before = calls.borrow().len();
        world.run(memory.add(vec![page.clone()], now_ms)).done().expect("stored");
        assert_eq!(calls.borrow().len(), before, "adding asks nobody");
        work(&mut world, &memory, now_ms);
    }
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for request in calls.borrow().iter() {
        let row = rows.entry(request.format.expect("a step").name).or_default();
        row.calls += 1;
        row.front += table().count(&request.messages[0].content);
        row.schema += table().count(request.format.expect("a step").schema);
        row.data += table().count(&request.messages[1].content);
        row.out += table().count(&model(request).expect("it answers").text);
    }
    let sum = rows.values().fold(Row::default(), |a, b| Row {
        calls: a.calls + b.calls,
        front: a.front + b.front,
        schema: a.schema + b.schema,
        data: a.data + b.data,
        out: a.out + b.out,
    });
    println!(
        "{policy}: {} pages, {n_turns} turns, {} segments, {} facts",
        pages.len(),
        memory.stats().mid_term.segments,
        memory.stats().facts.open
    );
    for (name, row) in rows.into_iter().chain([("all told", sum)]) {
        let a = |n: usize, what: u32| f64::from(what) / n as f64;
        let line = |n: usize| {
            format!(
                "{:.2} calls, {:.0} in ({:.0} front, {:.0} data) + {:.0} schema, {:.0} out",
                row.calls as f64 / n as f64,
                a(n, row.front + row.data),
                a(n, row.front),
                a(n, row.data),
                a(n, row.schema),
                a(n, row.out)
            )
        };
        println!("  {name:<20} {:>4} calls; a turn: {}; a page: {}", row.calls, line(n_turns), line(pages.len()));
    }
    sum
}

#[test]
fn b03_cost_of_a_real_conversation() {
    let path = std::env::var("MEMSTRATA_DATA").unwrap_or_default();
    let Some((pages, n_turns)) = conversation(&path, "conv-26") else {
        println!("no data: MEMSTRATA_DATA names no file with LoCoMo's conv-26");
        return;
    };
    for (name, model) in
        [("by rule", answer_by_rule as fn(&ChatRequest) -> Result<ChatReply>), ("talkative", talkative)]
    {
        println!("model: {name}");
        let batched = run("batched", model, Config::default(), &pages, n_turns);
        let paper = run("paper", model, Config::paper(), &pages, n_turns);
        assert!(batched.calls as f64 <= 0.4 * n_turns as f64, "{batched:?}");
        assert!(batched.front + batched.data <= 450 * n_turns as u32, "{batched:?}");
        assert!((2.88..=3.52).contains(&(paper.calls as f64 / pages.len() as f64)) || name != "by rule", "{paper:?}");
    }
}
