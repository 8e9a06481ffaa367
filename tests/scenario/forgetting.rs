//! Deleting what models have made of a page, or a fact, for good.

use memstrata::config::Config;
use memstrata::effect::{ChatReply, ChatRequest};
use memstrata::error::Result;
use memstrata::id::{FactId, PageId};
use memstrata::memory_os::MemoryOs;
use memstrata::op::{FactsWanted, OpenOptions, Settings};
use memstrata::updating::short_term::NewPage;
use serde_json::{Value, json};

use crate::model::{answer_by_rule, reply, shown};
use crate::steps::{
    add, all_facts, all_views, eager, facts, merge, open, pages, reopen, retrieve, segments, tell, value, with, work,
};
use crate::world::{NOON_MS, World, answer, turn};

const CANARY: &str = "xylophone-canary-7731";

/// What a prompt shows of a page for context, and of a profile or meta info until now.
fn shown_before(request: &ChatRequest) -> String {
    let prompt = &request.messages[1].content;
    let mut lines = prompt.lines().skip_while(|line| !line.starts_with("[p0]")).skip(1);
    let before = lines.next().unwrap_or_default();
    let until_now = |tag: &str| {
        let start = prompt.find(&format!("<{tag} "))?;
        let text = &prompt[start..];
        Some(text[text.find('\n')? + 1..text.find(&format!("\n</{tag}"))?].to_owned())
    };
    [before.to_owned(), until_now("meta-info").unwrap_or_default(), until_now("profile").unwrap_or_default()].join(" ")
}

/// A model that repeats every word it was shown wherever it may: the worst that a page's words can spread.
fn parrot(request: &ChatRequest) -> Result<ChatReply> {
    let pages = shown(request);
    let mut so_far = shown_before(request);
    let said: Vec<&str> = pages.iter().map(|page| page.user.as_str()).collect();
    let all = [so_far.as_str(), &said.join(" ")].join(" ");
    let all: String = all.chars().rev().take(900).collect::<Vec<_>>().into_iter().rev().collect();
    let tail = |text: &str| text.chars().rev().take(250).collect::<Vec<_>>().into_iter().rev().collect::<String>();
    let facts = |pages: &[crate::model::Shown]| -> Vec<Value> {
        let fact = |page: &crate::model::Shown| json!({"subject": "user", "attribute": format!("said {}", page.user.split(' ').next().unwrap_or("")), "value": tail(&page.user), "kind": "knowledge", "confidence": 0.9, "valid_from": null, "quote": page.user, "page": page.id});
        pages.iter().map(fact).collect()
    };
    let ids: Vec<_> = pages.iter().map(|page| page.id.clone()).collect();
    let keywords: Vec<_> = said
        .iter()
        .flat_map(|text| text.split(' '))
        .filter(|word| word.contains("canary") || word.len() > 6)
        .map(|word| word.trim_matches('.'))
        .collect();
    let links: Vec<Value> = pages
        .iter()
        .enumerate()
        .map(|(at, page)| {
            so_far = [so_far.as_str(), page.user.as_str()].join(" ");
            let is_first = at == 0 && !request.messages[1].content.contains("[p0]");
            json!({"page": page.id, "continues": (!is_first).then(|| format!("p{at}")), "meta_info": tail(&so_far)})
        })
        .collect();
    let segment = json!({"continues": null, "title": tail(&said.join(" ")).chars().take(90).collect::<String>(), "summary": all, "keywords": keywords, "pages": ids});
    let value = match request.format.expect("a step").name {
        "memory_batch" => json!({"segments": [segment], "links": links, "facts": facts(&pages)}),
        "multi_topic_summary" => json!({"themes": [segment]}),
        "continuity" => json!({"continues": true}),
        "meta_info" => json!({"meta_info": tail(&all)}),
        "knowledge" => json!({"user_knowledge": facts(&pages), "assistant_knowledge": []}),
        "user_profile" => {
            let of: Vec<_> = pages.iter().map(|page| json!({"dimension": 5, "level": "high", "confidence": 0.7, "quote": page.user, "page": page.id})).collect();
            json!({"profile": all, "traits": of})
        }
        other => panic!("{other}"),
    };
    Ok(reply(value.to_string(), request))
}

fn is_nowhere(world: &mut World, memory: &MemoryOs, options: OpenOptions, when: &str) {
    let word = "canary-7731";
    assert!(!world.holds(word), "{when}: in the store");
    let export = world.run(memory.export()).done().expect("exports");
    assert!(!export.windows(word.len()).any(|window| window == word.as_bytes()), "{when}: in the export");
    let again = reopen(world, options);
    for memory in [memory, &again] {
        assert!(!all_views(memory).contains(word), "{when}: in a view");
        let merged = merge(world, memory, "What of the xylophone?");
        assert!(merged.messages.iter().all(|message| !message.content.contains(word)), "{when}: in a prompt");
        let found = retrieve(world, memory, CANARY);
        assert!(
            !format!("{found:?}").replace(CANARY, "").contains(word)
                && found.hits.iter().all(|hit| !hit.text.contains(word)),
            "{when}: in a recall"
        );
        for at_ms in [NOON_MS - 1, NOON_MS, NOON_MS + 1] {
            let then = memory.facts(&FactsWanted { closed: true, as_of_ms: Some(at_ms), ..FactsWanted::default() });
            assert!(!format!("{then:?}").contains(word), "{when}: in what was believed then");
        }
    }
}

fn secret() -> NewPage {
    turn(&format!("Nobody may know of the {CANARY}."), "I will not tell.", 3)
}

fn talk(n: std::ops::Range<usize>) -> Vec<NewPage> {
    let themes = ["Kayaks are tippy boats", "Violins want rosin often", "Ryebread takes a day"];
    n.map(|at| turn(&format!("{} number {at}.", themes[at % themes.len()]), "I see.", at as i64)).collect()
}

#[test]
fn case_32_a_page_that_models_have_spread_everywhere_is_gone_without_a_trace() {
    for (policy, batch) in [("batched", 3), ("batched", 1), ("paper", 1), ("paper", 3)] {
        for sealed in [false, true] {
            let mut world = World::default();
            let config = Config {
                update_policy: policy.into(),
                short_term_capacity: 2,
                consolidation_batch: batch,
                heat_threshold: 0.0,
                promotion_batch: 2,
                seal_threshold_bytes: if sealed { 4_096 } else { 1 << 20 },
                ..Config::default()
            };
            let options = || with(config.clone());
            let when = format!("{policy} {batch} sealed {sealed}");
            let memory = open(&mut world, options());
            world.chat = Box::new(parrot);
            for turn in talk(0..5) {
                add(&mut world, &memory, vec![turn]);
                work(&mut world, &memory, NOON_MS);
            }
            let page: PageId = world.run(memory.add(vec![secret()], NOON_MS)).done().expect("stored")[0].page();
            for turn in talk(5..14) {
                add(&mut world, &memory, vec![turn]);
                work(&mut world, &memory, NOON_MS);
            }
            world.run(memory.analyse(NOON_MS)).done().expect("analysed");
            let views = all_views(&memory);
            assert!(world.holds(CANARY) && views.matches(CANARY).count() > 5, "{when}: it has spread");
            assert!(memory.profile().user.is_some_and(|of| of.text.contains(CANARY)), "{when}");
            let others: Vec<_> = facts(&memory)
                .into_iter()
                .filter(|fact| !fact.evidence.iter().any(|of| of.page_id == page.to_string()))
                .collect();
            let gone = world.run(memory.forget(vec![page], vec![], NOON_MS)).done().expect("forgotten");
            assert!(gone.profiles_removed && !gone.facts.is_empty(), "{when}: {gone:?}");
            is_nowhere(&mut world, &memory, options(), &when);
            assert_eq!(memory.stats().pages, 14);
            let left: Vec<_> = facts(&memory).into_iter().map(|fact| fact.id).collect();
            let mine = |fact: &memstrata::op::FactView| !fact.value.contains(CANARY);
            for fact in others.iter().filter(|fact| mine(fact)) {
                assert!(left.contains(&fact.id), "{when}: another page's fact stays: {fact:?}");
            }
            // The next analysis writes the profile anew, from what is left.
            world.run(memory.analyse(NOON_MS)).done().expect("analysed");
            assert!(memory.profile().user.is_some_and(|of| of.text.contains("Kayaks")), "{when}");
            is_nowhere(&mut world, &memory, options(), &when);
            world.run(memory.flush(NOON_MS)).done().expect("sealed");
            is_nowhere(&mut world, &memory, options(), &when);
        }
    }
}

#[test]
fn case_32_a_page_that_rules_summarised_and_a_model_filed_anew_is_gone_too() {
    for sealed in [false, true] {
        let mut world = World::default();
        let config = |policy: &str| Config {
            update_policy: policy.into(),
            heat_threshold: 1e6,
            short_term_capacity: 1,
            consolidation_batch: 2,
            seal_threshold_bytes: if sealed { 4_096 } else { 1 << 20 },
            ..Config::default()
        };
        let memory = open(&mut world, with(config("offline")));
        add(&mut world, &memory, talk(0..2));
        let page = world.run(memory.add(vec![secret()], NOON_MS)).done().expect("stored")[0].page();
        add(&mut world, &memory, talk(2..8));
        work(&mut world, &memory, NOON_MS);
        assert!(segments(&memory).iter().any(|segment| segment.summary.contains(CANARY)));
        memory.configure(&Settings { update_policy: Some("batched".into()), ..Settings::default() }).expect("known");
        work(&mut world, &memory, NOON_MS);
        assert!(segments(&memory).iter().all(|segment| segment.enriched));
        world.run(memory.forget(vec![page], vec![], NOON_MS)).done().expect("forgotten");
        is_nowhere(&mut world, &memory, with(config("batched")), &format!("sealed {sealed}"));
    }
}

#[test]
fn case_32_the_words_of_a_failed_reply_go_with_the_page() {
    let mut world = World::default();
    let memory = open(&mut world, with(eager()));
    world.chat = Box::new(|request| Ok(answer(&format!("Let me think about it: {}", shown(request)[0].user))));
    add(&mut world, &memory, vec![secret(), turn("end", "", 4)]);
    let page = pages(&memory)[0].id.parse().expect("an id");
    work(&mut world, &memory, NOON_MS);
    work(&mut world, &memory, NOON_MS + 60_000);
    assert!(format!("{:?}", memory.jobs(NOON_MS)).contains("canary"), "the job tells what went wrong");
    world.run(memory.forget(vec![page], vec![], NOON_MS)).done().expect("forgotten");
    is_nowhere(&mut world, &memory, with(eager()), "a failed reply");
}

#[test]
fn case_32_o03_meta_info_of_the_whole_chain_goes_and_its_ends_are_joined() {
    let mut world = World::default();
    let config = || Config {
        update_policy: "paper".into(),
        heat_threshold: 1e6,
        short_term_capacity: 1,
        consolidation_batch: 1,
        ..Config::default()
    };
    let memory = open(&mut world, with(config()));
    world.chat = Box::new(parrot);
    let page = {
        add(&mut world, &memory, talk(0..2));
        let page = world.run(memory.add(vec![secret()], NOON_MS)).done().expect("stored")[0].page();
        add(&mut world, &memory, talk(2..6));
        work(&mut world, &memory, NOON_MS);
        page
    };
    assert!(
        pages(&memory)[4].meta_info.as_ref().is_some_and(|line| line.contains(CANARY)),
        "two pages on it is still told"
    );
    world.run(memory.forget(vec![page], vec![], NOON_MS)).done().expect("forgotten");
    let pages = pages(&memory);
    assert_eq!((pages[1].next.as_ref(), pages[2].pre.as_ref()), (Some(&pages[2].id), Some(&pages[1].id)));
    assert!(pages[..5].iter().all(|page| page.meta_info.is_none()));
    is_nowhere(&mut world, &memory, with(config()), "a chain");
}

#[test]
fn case_32_a_deleted_fact_is_gone_from_history_and_is_not_learnt_from_the_same_pages_again() {
    for policy in ["batched", "paper"] {
        let mut world = World::default();
        let config = || Config { update_policy: policy.into(), heat_threshold: 0.0, ..eager() };
        let memory = open(&mut world, with(config()));
        tell(&mut world, &memory, &["My locker is quetzal-55.", "My home city is Porto.", "end"]);
        let locker = facts(&memory).into_iter().find(|fact| fact.attribute == "locker").expect("learnt");
        let id: FactId = locker.id.parse().expect("an id");
        let gone = world.run(memory.forget(vec![], vec![id, FactId::from_raw(9)], NOON_MS)).done().expect("deleted");
        assert_eq!((gone.facts, gone.facts_not_found), (vec![id], vec![FactId::from_raw(9)]));
        let without_pages = |memory: &MemoryOs| format!("{:?}{:?}", all_facts(memory), memory.history("", 0, 100));
        // The page stays, and with it what else quotes it.
        let knows = |record: &str| record.contains("attribute: \"locker\"");
        assert!(!knows(&without_pages(&memory)), "{policy}");
        assert_eq!(value(&memory, "home city"), ["Porto"]);
        // The same page is analysed again: the model says it again in the same words.
        let first: PageId = pages(&memory)[1].id.parse().expect("an id");
        world.run(memory.forget(vec![first], vec![], NOON_MS)).done().expect("forgotten");
        tell(&mut world, &memory, &["My locker is quetzal-55.", "end."]);
        world.run(memory.analyse(NOON_MS)).done().expect("analysed");
        assert!(value(&memory, "locker").is_empty(), "{policy}: {:?}", all_facts(&memory));
        assert!(!knows(&without_pages(&memory)), "{policy}");
        let memory = reopen(&mut world, with(config()));
        tell(&mut world, &memory, &["My locker is quetzal-55.", "end!"]);
        assert!(value(&memory, "locker").is_empty(), "{policy}: after a reopen");
        // But the user may enter it.
        let input = memstrata::op::FactInput {
            attribute: Some("locker".into()),
            value: Some("quetzal-55".into()),
            ..Default::default()
        };
        world.run(memory.act(memstrata::op::Act::Add(input), NOON_MS)).done().expect("entered");
        assert_eq!(value(&memory, "locker"), ["quetzal-55"]);
    }
}

#[test]
fn case_32_a_fact_that_was_closed_by_a_deleted_one_is_believed_again() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { heat_threshold: 1e6, ..eager() }));
    tell(&mut world, &memory, &["My home city is Porto.", "My home city is Faro.", "end"]);
    let second: PageId = pages(&memory)[1].id.parse().expect("an id");
    let gone = world.run(memory.forget(vec![second], vec![], NOON_MS)).done().expect("forgotten");
    assert_eq!((gone.facts.len(), gone.facts_rewritten.len()), (1, 1));
    let porto = facts(&memory).remove(0);
    assert_eq!((porto.value.as_str(), porto.valid_to, porto.superseded_by), ("Porto", None, None));
    assert!(!world.holds("Faro"));
    // Undoing what is left of history brings nothing back.
    for change in memory.history("", 0, 10) {
        let _ = world.run(memory.undo(change.id.parse().expect("an id"), NOON_MS)).done();
    }
    assert!(!all_views(&memory).contains("Faro"));
}

#[test]
fn case_32_a_fact_that_two_pages_tell_keeps_the_words_of_the_other() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { heat_threshold: 1e6, ..eager() }));
    tell(&mut world, &memory, &["My home city is Porto.", "My home city is Porto!", "end"]);
    assert_eq!(facts(&memory)[0].evidence.len(), 2);
    let first: PageId = pages(&memory)[0].id.parse().expect("an id");
    world.run(memory.forget(vec![first], vec![], NOON_MS)).done().expect("forgotten");
    let left = facts(&memory).remove(0);
    assert_eq!(
        (left.value.as_str(), left.evidence.len(), left.evidence[0].quote.as_str()),
        ("Porto", 1, "My home city is Porto!")
    );
}

#[test]
fn case_32_what_a_model_says_of_a_page_that_was_forgotten_meanwhile_is_not_kept() {
    let mut world = World::default();
    let memory = open(&mut world, with(eager()));
    add(&mut world, &memory, vec![secret(), turn("end", "", 4)]);
    let page = pages(&memory)[0].id.parse().expect("an id");
    let mut task = memory.work(NOON_MS);
    let memstrata::effect::Step::NeedIo(mut effects) = task.step() else { panic!("it asks nobody") };
    let (id, effect) = effects.remove(0);
    let memstrata::effect::Effect::Chat(request) = effect else { panic!("no chat") };
    world.run(memory.forget(vec![page], vec![], NOON_MS)).done().expect("forgotten");
    task.resume(id, memstrata::effect::Reply::Chat(answer_by_rule(&request))).expect("asked for");
    world.run(task).done().expect("works");
    is_nowhere(&mut world, &memory, with(eager()), "an answer that came late");
    assert_eq!(memory.jobs(NOON_MS).len(), 0);
}
