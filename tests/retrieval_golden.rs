//! Retrieval against the reference: eval/prototype/golden.txt always, LoCoMo dev when its file is at hand.
//!
//! LoCoMo may not be copied into the project. Point MEMSTRATA_DATA at a folder that holds locomo-dev.json to measure.

// What was measured, and whether it was, is to be read in the output.
#![allow(clippy::print_stdout)]

mod golden;

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use golden::{Turn, id, index, noon, pack_ranking};
use memstrata::id::TurnId;
use memstrata::retrieval::{Request, rank};
use memstrata::text::StaticTable;
use serde_json::Value;

fn table() -> StaticTable {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg-js/table/table-128-int4.safetensors");
    StaticTable::from_bytes(&std::fs::read(path).expect("the table is part of the package")).expect("a sound table")
}

#[test]
fn golden_scores_and_packs() {
    golden::check(&table());
}

/// evidence@N of recipe.py with the same table and shipped weights. Source: eval/RETRIEVAL.md, part A.
const BUDGETS: [u32; 5] = [256, 300, 512, 1024, 2048];
const RECIPE: [f64; 5] = [0.851, 0.860, 0.896, 0.936, 0.964];

#[test]
fn locomo_dev_equals_the_recipe() {
    let Some(folder) = std::env::var_os("MEMSTRATA_DATA") else {
        println!("MEMSTRATA_DATA is not set: LoCoMo dev was not measured, only the golden lines were checked");
        return;
    };
    let text =
        std::fs::read_to_string(Path::new(&folder).join("locomo-dev.json")).expect("locomo-dev.json in MEMSTRATA_DATA");
    let data: Value = serde_json::from_str(&text).expect("JSON");
    let table = table();
    let (mut evidence, mut n, mut micros) = ([0f64; 5], 0, Vec::new());
    for conversation in data["conversations"].as_array().expect("conversations") {
        let (turns, places) = turns(conversation);
        let index = index(&turns, &table);
        for question in conversation["questions"].as_array().expect("questions") {
            let wanted: Vec<usize> = question["evidence_turns"]
                .as_array()
                .map(|ids| ids.iter().filter_map(|id| places.get(&id.to_string()).copied()).collect())
                .unwrap_or_default();
            if wanted.is_empty() || question["category"] == "adversarial" {
                continue;
            }
            let text_of = |id: TurnId, read: &mut dyn FnMut(&str)| read(&turns[id.page.raw() as usize].text);
            let request =
                Request { text_of: Some(&text_of), ..Request::new(question["question"].as_str().expect("a question")) };
            let start = Instant::now();
            let ranking = rank(&index, Some(&table), &request, &|_| true);
            micros.push(start.elapsed().as_micros());
            for (sum, budget) in evidence.iter_mut().zip(BUDGETS) {
                let packed = pack_ranking(&ranking, budget);
                let found = |place: &&usize| {
                    let turn = index.handle(id(**place, &turns[**place]));
                    packed.groups.iter().any(|group| Some(group.group) == turn)
                };
                *sum += wanted.iter().filter(found).count() as f64 / wanted.len() as f64;
            }
            n += 1;
        }
    }
    let evidence = evidence.map(|sum| sum / f64::from(n));
    micros.sort_unstable();
    println!("LoCoMo dev, {n} questions: evidence@{BUDGETS:?} {evidence:.4?}, recipe {RECIPE:?}");
    println!("rank: median {} us, 95 % {} us", micros[micros.len() / 2], micros[micros.len() * 95 / 100]);
    for (found, expected) in evidence.into_iter().zip(RECIPE) {
        assert!((found - expected).abs() < 0.002, "{found} is not {expected}");
    }
}

/// Turns of a conversation, and the position of each by its id.
fn turns(conversation: &Value) -> (Vec<Turn>, HashMap<String, usize>) {
    let mut sessions: HashMap<String, u64> = HashMap::new();
    let (mut turns, mut places) = (Vec::new(), HashMap::new());
    for (at, turn) in conversation["turns"].as_array().expect("turns").iter().enumerate() {
        places.insert(turn["id"].to_string(), at);
        let n = sessions.len() as u64;
        turns.push(Turn {
            session: *sessions.entry(turn["session"].to_string()).or_insert(n),
            time: turn["time"].as_str().and_then(noon),
            speaker: turn["speaker"].as_str().unwrap_or_default().to_owned(),
            is_user: turn["role"] == "user",
            text: turn["text"].as_str().unwrap_or_default().to_owned(),
        });
    }
    (turns, places)
}
