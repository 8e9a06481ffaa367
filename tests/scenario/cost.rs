//! What memory costs on a real conversation. The data are not part of this repository: `MEMSTRATA_DATA` names the file, and
//! without it the test says so and ends.

use std::collections::BTreeMap;

use memstrata::config::Config;
use memstrata::time::Timestamp;
use memstrata::updating::short_term::NewPage;
use serde_json::Value;

use crate::model::answer_by_rule;
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
        if turn["role"] == "assistant" {
            if let Some(page) = pages.last_mut().filter(|page| open && page.session == session) {
                (page.agent_response, page.agent_name) = (text("text"), text("speaker"));
                open = false;
                continue;
            }
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
    data: u32,
    out: u32,
}

fn run(policy: &str, config: Config, pages: &[NewPage], n_turns: usize) -> Row {
    let mut world = World::default();
    let calls = watched(&mut world, answer_by_rule);
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
        row.data += table().count(&request.messages[1].content);
        row.out += table().count(&answer_by_rule(request).expect("it answers").text);
    }
    let sum = rows.values().fold(Row::default(), |a, b| Row { calls: a.calls + b.calls, front: a.front + b.front, data: a.data + b.data, out: a.out + b.out });
    println!("{policy}: {} pages, {n_turns} turns, {} segments, {} facts", pages.len(), memory.stats().mid_term.segments, memory.stats().facts.open);
    for (name, row) in rows.into_iter().chain([("all told", sum)]) {
        let a = |n: usize, what: u32| f64::from(what) / n as f64;
        let line = |n: usize| format!("{:.2} calls, {:.0} in ({:.0} front, {:.0} data), {:.0} out", row.calls as f64 / n as f64, a(n, row.front + row.data), a(n, row.front), a(n, row.data), a(n, row.out));
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
    let batched = run("batched", Config::default(), &pages, n_turns);
    let paper = run("paper", Config::paper(), &pages, n_turns);
    assert!(batched.calls as f64 <= 0.4 * n_turns as f64, "{batched:?}");
    assert!((2.88..=3.52).contains(&(paper.calls as f64 / pages.len() as f64)), "{paper:?}");
}
