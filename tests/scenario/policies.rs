//! How pages sink: `batched`, `paper`, `offline`, and a policy of the caller's own.

use std::rc::Rc;

use memstrata::config::{Config, SEGMENT_MAX_PAGES};
use memstrata::effect::{ChatReply, ChatRequest, Effect, Reply, Step};
use memstrata::error::{Error, ErrorCode, Result};
use memstrata::generation::prompt::Batch;
use memstrata::memory_os::MemoryOs;
use memstrata::model::{Filing, SegmentDraft};
use memstrata::op::policy::{Analysis, Answer, Desk, Filed};
use memstrata::op::{Event, OpenOptions, Policies, Settings, UpdatePolicy};
use memstrata::time::HOUR_MS;
use memstrata::updating::short_term::NewPage;
use serde_json::json;

use crate::model::{answer_by_rule, reply, shown, theme};
use crate::steps::{add, eager, facts, names, open, pages, reopen, retrieve, segments, tell, watched, with, work};
use crate::world::{NOON_MS, Random, World, made_up, options, turn};

/// Several themes, each said several times.
fn notes(n: usize) -> Vec<NewPage> {
    let themes = ["Tomatoes want watering", "Altos sing Faure", "Ryebread dough rises"];
    let note = |number: usize| format!("{} (note {number})", themes[number / 2 % themes.len()]);
    (0..n).map(|number| turn(&note(number), "", number as i64)).collect()
}

fn batched(capacity: usize, batch: usize) -> OpenOptions {
    with(Config { short_term_capacity: capacity, consolidation_batch: batch, ..Config::default() })
}

fn paper() -> OpenOptions {
    with(Config::paper())
}

fn is_placed_once(memory: &MemoryOs, n: usize) {
    let pages = pages(memory);
    assert_eq!(pages.len(), n);
    let clients: std::collections::BTreeSet<_> = pages.iter().map(|page| page.user_input.clone()).collect();
    assert_eq!(clients.len(), n, "a page is doubled");
    for page in pages.iter().filter(|page| page.tier != "short") {
        assert!(!page.segment_ids.is_empty());
        for segment in memory.tiers(NOON_MS).mid_term {
            let times = segment.pages.iter().filter(|id| **id == page.id).count();
            assert_eq!(times, usize::from(page.segment_ids.contains(&segment.id)), "{page:?}");
        }
    }
}

#[test]
fn o02_a_failing_model_loses_no_page_and_the_job_is_done_by_a_memory_that_was_reopened() {
    let mut world = World::default();
    let memory = open(&mut world, batched(3, 2));
    world.chat = Box::new(|_| Err(Error::new(ErrorCode::ProviderFailed, "HTTP 503")));
    add(&mut world, &memory, notes(5));
    assert!(world.run(memory.work(NOON_MS)).done().expect("works").ran);
    let stats = memory.stats();
    assert_eq!((stats.short_term.pages, stats.mid_term.pages, stats.jobs.queued), (5, 0, 1));
    let again = open(&mut world, batched(3, 2));
    assert_eq!((again.stats().short_term.pages, again.jobs(NOON_MS)[0].attempts), (5, 1));
    assert_eq!(work(&mut world, &again, NOON_MS), 0, "it waits for its time");
    assert!(work(&mut world, &again, NOON_MS + HOUR_MS) > 0);
    let stats = again.stats();
    assert_eq!((stats.short_term.pages, stats.mid_term.pages, stats.jobs.queued), (3, 2, 0));
    is_placed_once(&again, 5);
}

#[test]
fn o02_pages_stay_in_short_term_memory_while_the_model_thinks_and_after_the_tab_was_closed() {
    let mut world = World::default();
    let memory = open(&mut world, batched(3, 2));
    add(&mut world, &memory, notes(5));
    let mut task = memory.work(NOON_MS);
    let Step::NeedIo(effects) = task.step() else { panic!("it asks nobody") };
    assert!(matches!(effects.as_slice(), [(_, Effect::Chat(_))]), "{effects:?}");
    assert_eq!((memory.stats().short_term.pages, memory.stats().mid_term.pages), (5, 0));
    // Turns are stored meanwhile, and found.
    add(&mut world, &memory, vec![turn("a quokka at noon", "I see.", 9)]);
    assert_eq!(retrieve(&mut world, &memory, "quokka").hits[0].text, "a quokka at noon");
    drop(task);
    drop(memory);
    let again = open(&mut world, batched(3, 2));
    assert_eq!((again.stats().short_term.pages, again.stats().jobs.queued), (6, 1));
    work(&mut world, &again, NOON_MS);
    assert_eq!((again.stats().short_term.pages, again.stats().mid_term.pages), (4, 2));
    is_placed_once(&again, 6);
}

#[test]
fn o02_o04_batched_asks_once_a_batch_and_shows_every_page_once() {
    let mut world = World::default();
    let memory = open(&mut world, batched(2, 3));
    let calls = watched(&mut world, answer_by_rule);
    add(&mut world, &memory, notes(11));
    work(&mut world, &memory, NOON_MS);
    let filed = calls
        .borrow()
        .iter()
        .filter(|call| call.format.expect("a step").name == "memory_batch")
        .map(shown)
        .collect::<Vec<_>>();
    let sizes: Vec<_> = filed.iter().map(Vec::len).collect();
    assert_eq!(sizes, [3, 3, 3]);
    let texts: Vec<_> = filed.into_iter().flatten().map(|page| page.user).collect();
    let expected: Vec<_> = pages(&memory)[..9].iter().map(|page| page.user_input.clone()).collect();
    assert_eq!(texts, expected);
    is_placed_once(&memory, 11);
}

/// A model that spells its truth values in many ways.
fn spelling_yes(request: &ChatRequest) -> Result<ChatReply> {
    if request.format.expect("a step").name != "continuity" {
        return answer_by_rule(request);
    }
    let pages = shown(request);
    let continues = theme(&pages[0]) == theme(&pages[1]);
    let yes = ["TRUE", "{\"continues\": \"yes\"}", "是", "True.", "{\"continues\": 1}", "yes"];
    let no = ["False", "{\"continues\": \"no\"}", "否"];
    let at = pages[1].user.len() + pages[1].user.bytes().map(usize::from).sum::<usize>();
    Ok(reply(if continues { yes[at % yes.len()] } else { no[at % no.len()] }.into(), request))
}

#[test]
fn o03_paper_links_chains_by_any_yes_over_batches_and_a_reopen() {
    let mut world = World::default();
    let options = || with(Config { short_term_capacity: 1, ..Config::paper() });
    let memory = open(&mut world, options());
    world.chat = Box::new(spelling_yes);
    add(&mut world, &memory, notes(4));
    work(&mut world, &memory, NOON_MS);
    drop(memory);
    let memory = reopen(&mut world, options());
    let rest = notes(13).split_off(4);
    for turn in rest {
        add(&mut world, &memory, vec![turn]);
        work(&mut world, &memory, NOON_MS);
    }
    let memory = reopen(&mut world, options());
    let pages = pages(&memory);
    for (at, page) in pages[..12].iter().enumerate() {
        // Themes change every second page.
        let pre = (at % 2 == 1).then(|| pages[at - 1].id.clone());
        let next = (at % 2 == 0).then(|| pages[at + 1].id.clone());
        assert_eq!((&page.pre, &page.next), (&pre, &next), "page {at}");
        let about = page.user_input.split(" (note").next().expect("a theme");
        assert_eq!(page.meta_info.as_deref(), Some(format!("About {about}.").as_str()));
    }
}

#[test]
fn o03_batched_links_a_page_to_the_one_before_the_batch() {
    let mut world = World::default();
    let memory = open(&mut world, batched(1, 2));
    world.chat = Box::new(|request| {
        let pages = shown(request);
        let ids = || pages.iter().map(|page| page.id.clone());
        let links: Vec<_> = ids()
            .zip(0..)
            .map(|(id, at)| json!({"page": id, "continues": format!("p{at}"), "meta_info": "One long talk."}))
            .collect();
        let links =
            if request.messages[1].content.contains("[p0]") { links } else { links.into_iter().skip(1).collect() };
        let segment = json!({"continues": null, "title": "Talk", "summary": "A talk.", "keywords": ["talk"], "pages": ids().collect::<Vec<_>>()});
        Ok(reply(json!({"segments": [segment], "links": links, "facts": []}).to_string(), request))
    });
    add(&mut world, &memory, notes(7));
    work(&mut world, &memory, NOON_MS);
    let memory = reopen(&mut world, batched(1, 2));
    let pages = pages(&memory);
    for at in 1..6 {
        assert_eq!(
            (pages[at].pre.as_ref(), pages[at - 1].next.as_ref()),
            (Some(&pages[at - 1].id), Some(&pages[at].id))
        );
    }
    assert_eq!(pages[5].meta_info.as_deref(), Some("One long talk."));
}

/// Files the second page of a batch under both themes.
fn two_themes(request: &ChatRequest) -> Result<ChatReply> {
    let theme = |title: &str, pages: &[&str]| json!({"title": title, "summary": format!("On {title}."), "keywords": [title], "pages": pages, "continues": null});
    let themes = [theme("gardens", &["p1", "p2"]), theme("choirs", &["p2", "p3"])];
    let links: Vec<serde_json::Value> = Vec::new();
    match request.format.expect("a step").name {
        "multi_topic_summary" => Ok(reply(json!({ "themes": themes }).to_string(), request)),
        "memory_batch" => Ok(reply(json!({"segments": themes, "links": links, "facts": []}).to_string(), request)),
        _ => answer_by_rule(request),
    }
}

#[test]
fn o04_a_page_of_two_themes_is_stored_once_in_two_segments_and_returned_once() {
    for policy in ["paper", "batched"] {
        let mut world = World::default();
        let config = Config {
            short_term_capacity: 1,
            consolidation_batch: 3,
            update_policy: policy.into(),
            ..Config::default()
        };
        let memory = open(&mut world, with(config));
        world.chat = Box::new(two_themes);
        let texts = ["Tomatoes like sun", "The xylem song of our garden choir", "Altos stand left", "And so on"];
        add(&mut world, &memory, texts.iter().map(|text| turn(text, "", 0)).collect());
        work(&mut world, &memory, NOON_MS);
        assert_eq!(memory.stats().mid_term.pages, 4, "{policy}: memberships");
        let of_two = pages(&memory).remove(1);
        assert_eq!((of_two.segment_ids.len(), memory.stats().pages), (2, 4));
        let found = retrieve(&mut world, &memory, "xylem");
        let times = |id: &str| found.hits.iter().filter(|hit| hit.page_id == id).count();
        assert_eq!((times(&of_two.id), found.context.matches("xylem").count()), (1, 1));
        let gone =
            world.run(memory.forget(vec![of_two.id.parse().expect("an id")], vec![], NOON_MS)).done().expect("gone");
        assert_eq!(gone.segments_rewritten.len(), 2);
        assert!(
            segments(&memory).iter().all(|segment| segment.pages.len() == 1 && !segment.pages.contains(&of_two.id))
        );
        assert!(!world.holds("xylem"), "{policy}");
    }
}

#[test]
fn o04_more_than_two_themes_of_a_batch_are_all_kept() {
    let mut world = World::default();
    let memory = open(
        &mut world,
        with(Config {
            short_term_capacity: 1,
            consolidation_batch: 5,
            update_policy: "paper".into(),
            ..Config::default()
        }),
    );
    let texts = [
        "Kayaks are tippy things",
        "Violins need rosin often",
        "Bread wants time anyway",
        "Trains run late here",
        "Moss grows on slate",
        "x",
    ];
    add(&mut world, &memory, texts.iter().map(|text| turn(text, "", 0)).collect());
    work(&mut world, &memory, NOON_MS);
    let titles: Vec<_> = segments(&memory).into_iter().map(|segment| segment.theme).collect();
    assert_eq!(
        titles,
        ["Kayaks are tippy", "Violins need rosin", "Bread wants time", "Trains run late", "Moss grows on"]
    );
}

#[test]
fn o05_summary_keywords_and_centroid_follow_the_pages_that_a_model_files() {
    let mut world = World::default();
    let memory = open(&mut world, batched(1, 1));
    let say = |title: &'static str, summary: &'static str, keyword: &'static str| {
        move |request: &ChatRequest| {
            let open = request.messages[1].content.contains("s1: ").then_some("s1");
            let segment =
                json!({"continues": open, "title": title, "summary": summary, "keywords": [keyword], "pages": ["p1"]});
            Ok(reply(json!({"segments": [segment], "links": [], "facts": []}).to_string(), request))
        }
    };
    world.chat = Box::new(say("Puppy", "Ada adopts a puppy.", "puppy"));
    add(&mut world, &memory, turns_of(&["I adopted a puppy.", "Its name is Rex and it had worms."]));
    work(&mut world, &memory, NOON_MS);
    let before = segments(&memory).remove(0);
    world.chat = Box::new(say("Vet", "Rex had worms and is well again.", "worms"));
    add(&mut world, &memory, turns_of(&["The vet cured Rex."]));
    work(&mut world, &memory, NOON_MS + HOUR_MS);
    let after = segments(&memory).remove(0);
    assert_eq!((segments(&memory).len(), before.pages.len(), after.pages.len()), (1, 1, 2));
    assert_eq!(after.summary, "Ada adopts a puppy. Rex had worms and is well again.");
    assert_eq!(
        (after.keywords.as_slice(), after.theme.as_str()),
        (["worms".to_owned(), "puppy".into()].as_slice(), "Puppy")
    );
    assert_eq!((before.heat.l_interaction, after.heat.l_interaction), (1, 2));
    assert!(after.end_time >= before.end_time && after.last_access > before.last_access);
}

fn turns_of(texts: &[&str]) -> Vec<NewPage> {
    texts.iter().map(|text| turn(text, "", 0)).collect()
}

#[test]
fn o05_offline_summary_and_keywords_follow_the_pages() {
    let mut world = World::default();
    let config = Config { short_term_capacity: 1, consolidation_batch: 1, ..Config::default() };
    let memory = world.open_with(OpenOptions { config, ..options() }).done().expect("opens");
    add(
        &mut world,
        &memory,
        turns_of(&["My bicycle chain squeaks.", "My bicycle chain needs oil for its derailleur.", "Later."]),
    );
    work(&mut world, &memory, NOON_MS);
    let segments = segments(&memory);
    assert_eq!(segments.len(), 1, "{segments:?}");
    assert!(segments[0].keywords.iter().any(|word| word.contains("derailleur")), "{:?}", segments[0].keywords);
    assert!(segments[0].summary.contains("derailleur"), "{}", segments[0].summary);
}

/// Files every page as one new segment of these words, and never continues one.
fn always_new(keywords: &'static [&'static str]) -> impl FnMut(&ChatRequest) -> Result<ChatReply> {
    move |request| {
        let ids: Vec<_> = shown(request).into_iter().map(|page| page.id).collect();
        let segment = json!({"continues": null, "title": keywords[0], "summary": keywords.join(" "), "keywords": keywords, "pages": ids});
        let themes = json!([segment]);
        Ok(match request.format.expect("a step").name {
            "multi_topic_summary" => reply(json!({ "themes": themes }).to_string(), request),
            _ => return answer_by_rule(request),
        })
    }
}

#[test]
fn o05_a_theme_joins_the_segment_whose_f_score_reaches_theta_and_else_begins_one() {
    let mut world = World::default();
    let config =
        Config { short_term_capacity: 1, consolidation_batch: 1, update_policy: "paper".into(), ..Config::default() };
    let memory = open(&mut world, with(config));
    world.chat = Box::new(always_new(&["choir", "alto", "rehearsal"]));
    add(
        &mut world,
        &memory,
        turns_of(&["The choir rehearses the alto part.", "The choir rehearses the alto part again."]),
    );
    work(&mut world, &memory, NOON_MS);
    add(&mut world, &memory, turns_of(&["Diesel prices rose by nine cents."]));
    work(&mut world, &memory, NOON_MS);
    assert_eq!(segments(&memory).len(), 1, "the same words and keywords are one topic");
    world.chat = Box::new(always_new(&["diesel", "prices", "fuel"]));
    add(&mut world, &memory, turns_of(&["End."]));
    work(&mut world, &memory, NOON_MS);
    let sizes: Vec<_> = segments(&memory).iter().map(|segment| segment.pages.len()).collect();
    assert_eq!(sizes, [2, 1]);
}

#[test]
fn o05_a_full_segment_takes_no_more() {
    for policy in ["batched", "paper", "offline"] {
        let mut world = World::default();
        let config = Config {
            short_term_capacity: 1,
            consolidation_batch: 5,
            update_policy: policy.into(),
            heat_threshold: 1e6,
            ..Config::default()
        };
        let memory = open(&mut world, with(config));
        let n = SEGMENT_MAX_PAGES + 12;
        add(&mut world, &memory, (0..n).map(|at| turn(&format!("I sing alto (note {at})"), "", 0)).collect());
        work(&mut world, &memory, NOON_MS);
        let segments = segments(&memory);
        assert!(segments.iter().all(|segment| segment.pages.len() <= SEGMENT_MAX_PAGES), "{policy}");
        assert!(
            segments.len() >= 2 && segments.iter().map(|segment| segment.pages.len()).max() > Some(50),
            "{policy}: {}",
            segments.len()
        );
        is_placed_once(&memory, n);
    }
}

/// Effects of the steps of a task, until it is done.
fn asked_together(world: &mut World, memory: &MemoryOs) -> Vec<Vec<&'static str>> {
    let mut task = memory.work(NOON_MS);
    let mut steps = Vec::new();
    loop {
        let Step::NeedIo(effects) = task.step() else { return steps };
        let chats = effects.iter().filter_map(|(_, effect)| match effect {
            Effect::Chat(request) => Some(request.format.expect("a step").name),
            _ => None,
        });
        let chats: Vec<_> = chats.collect();
        if !chats.is_empty() {
            steps.push(chats);
        }
        for (id, effect) in effects {
            let reply = match effect {
                Effect::Chat(request) => Reply::Chat((world.chat)(&request)),
                Effect::Commit(batch) => {
                    world.store.commit(batch);
                    Reply::Commit(Ok(()))
                }
                Effect::Read(range) => Reply::Read(Ok(world.store.read(&range))),
                other => panic!("{other:?}"),
            };
            task.resume(id, reply).expect("asked for");
        }
    }
}

#[test]
fn o19_independent_calls_of_the_paper_go_out_together() {
    let mut world = World::default();
    let config = Config { short_term_capacity: 1, heat_threshold: 1.5, ..Config::paper() };
    let memory = open(&mut world, with(config));
    add(&mut world, &memory, notes(3));
    let first = asked_together(&mut world, &memory);
    assert_eq!(first, [vec!["multi_topic_summary", "meta_info"]], "the first page has nothing before it");
    let second = asked_together(&mut world, &memory);
    assert_eq!(second[0], ["multi_topic_summary", "continuity"]);
    let third = asked_together(&mut world, &memory);
    assert_eq!(third, [["knowledge", "user_profile"]]);
}

#[test]
fn o18_o09_o11_paper_from_end_to_end() {
    let mut world = World::default();
    let memory = open(&mut world, paper());
    let calls = watched(&mut world, answer_by_rule);
    let n = 60;
    for turn in notes(n) {
        add(&mut world, &memory, vec![turn]);
        work(&mut world, &memory, NOON_MS);
    }
    let count = |name: &str| names(&calls.borrow()).iter().filter(|of| **of == name).count();
    let sunk = n - 7;
    assert_eq!((count("continuity"), count("meta_info"), count("multi_topic_summary")), (sunk - 1, sunk, sunk));
    assert_eq!((count("memory_batch"), count("knowledge")), (0, count("user_profile")));
    let stats = memory.stats();
    assert_eq!((stats.short_term.pages, stats.mid_term.pages, stats.mid_term.segments), (7, sunk, 3));
    assert!(pages(&memory)[..sunk].iter().all(|page| page.meta_info.is_some()));
    assert!(memory.profile().user.expect("a profile").text.starts_with("The user speaks of "));
    assert!(!facts(&memory).is_empty() && stats.traits == 1);
    is_placed_once(&memory, n);
}

#[test]
fn b01_offline_asks_nobody_and_pages_are_enriched_once_a_model_is_there() {
    let mut world = World::default();
    let mut random = Random(11);
    // No f_score reaches this threshold: cosines depend on the pages that are there, and the later ones were not at first.
    let config = Config {
        short_term_capacity: 4,
        consolidation_batch: 4,
        heat_threshold: 1e6,
        similarity_threshold: 2.0,
        ..Config::default()
    };
    let story: Vec<NewPage> = (0..40).map(|number| made_up(number, &mut random)).collect();
    world.chat = Box::new(|request| panic!("nobody is to be asked: {request:?}"));
    let memory = reopen(&mut world, OpenOptions { config: config.clone(), ..options() });
    add(&mut world, &memory, story.clone());
    work(&mut world, &memory, NOON_MS);
    world.run(memory.analyse(NOON_MS)).done().expect("nothing to do");
    assert!(segments(&memory).iter().all(|segment| !segment.enriched));
    assert_eq!((memory.stats().calls.chat, facts(&memory).len()), (0, 0));
    // The same with a model from the beginning.
    let mut other = World::default();
    let drafted = open(&mut other, with(config.clone()));
    add(&mut other, &drafted, story);
    work(&mut other, &drafted, NOON_MS);

    let memory = open(&mut world, with(config.clone()));
    work(&mut world, &memory, NOON_MS);
    let events = memory.take_events();
    let enriched = |event: &&Event| matches!(event, Event::Enriched { .. });
    assert_eq!(events.iter().filter(enriched).count(), 9);
    is_placed_once(&memory, 40);
    let filed = |memory: &MemoryOs| {
        let said: std::collections::BTreeMap<_, _> =
            pages(memory).into_iter().map(|page| (page.id, page.user_input)).collect();
        let of = |ids: &[String]| ids.iter().map(|id| said[id].clone()).collect::<Vec<_>>();
        let mut filed: Vec<_> = segments(memory)
            .into_iter()
            .map(|segment| (of(&segment.pages), segment.theme, segment.summary, segment.enriched))
            .collect();
        filed.sort();
        filed
    };
    for (one, other) in filed(&memory).into_iter().zip(filed(&drafted)) {
        assert_eq!(one, other);
    }
    assert_eq!(filed(&memory).len(), filed(&drafted).len());
    let chains = |memory: &MemoryOs| {
        let pages = pages(memory);
        let at = |id: &Option<String>| id.as_ref().and_then(|id| pages.iter().position(|page| page.id == *id));
        pages.iter().map(|page| (at(&page.pre), at(&page.next), page.meta_info.clone())).collect::<Vec<_>>()
    };
    assert_eq!(chains(&memory), chains(&drafted));
    let told =
        |memory: &MemoryOs| facts(memory).into_iter().map(|fact| (fact.attribute, fact.value)).collect::<Vec<_>>();
    assert_eq!(told(&memory), told(&drafted));
    assert!(memory.stats().jobs.queued == 0 && segments(&memory).iter().all(|segment| segment.enriched));
    // Nothing is left to do after a reopen.
    let calls = watched(&mut world, answer_by_rule);
    let memory = reopen(&mut world, with(config));
    assert_eq!((work(&mut world, &memory, NOON_MS), calls.borrow().len()), (0, 0));
}

#[test]
fn b01_a_page_that_leaves_a_segment_takes_its_keywords_along() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { update_policy: "batched".into(), ..eager() }));
    add(&mut world, &memory, turns_of(&["I sing alto in the choir.", "I sing alto in the choir again."]));
    work(&mut world, &memory, NOON_MS);
    memory.configure(&Settings { update_policy: Some("offline".into()), ..Settings::default() }).expect("known");
    add(&mut world, &memory, turns_of(&["The choir sings quodlibets."]));
    work(&mut world, &memory, NOON_MS);
    add(&mut world, &memory, turns_of(&["Last."]));
    work(&mut world, &memory, NOON_MS);
    let held = |word: &str| {
        segments(&memory).into_iter().filter(|of| of.keywords.iter().any(|known| known.contains(word))).count()
    };
    assert_eq!((held("quodlibet"), segments(&memory).len()), (1, 1), "rules put it into the choir's segment");
    memory.configure(&Settings { update_policy: Some("batched".into()), ..Settings::default() }).expect("known");
    world.chat = Box::new(|request| {
        let segment = json!({"continues": null, "title": "Medleys", "summary": "Medleys.", "keywords": ["medley"], "pages": ["p1"]});
        Ok(reply(json!({"segments": [segment], "links": [], "facts": []}).to_string(), request))
    });
    work(&mut world, &memory, NOON_MS);
    assert_eq!((held("quodlibet"), segments(&memory).len()), (0, 3), "{:?}", segments(&memory));
}

/// A policy that asks nobody and files by first letters.
#[derive(Debug)]
struct ByLetter;

impl UpdatePolicy for ByLetter {
    fn name(&self) -> &str {
        "by-letter"
    }

    fn asks_model(&self) -> bool {
        true
    }

    fn file<'a>(&'a self, _: &'a Desk<'a>, batch: &'a Batch<'a>) -> Answer<'a, Filed> {
        Box::pin(async move {
            let draft = |page: &&memstrata::model::Page| SegmentDraft {
                continues: None,
                title: page.user_input[..1].to_owned(),
                summary: String::new(),
                keywords: vec![page.user_input[..1].to_owned()],
                pages: vec![page.id],
            };
            let segments = batch.pages.iter().map(draft).collect();
            Ok(Filed { filing: Filing { segments, ..Filing::default() }, ..Filed::default() })
        })
    }

    fn analyse<'a>(&'a self, _: &'a Desk<'a>, batch: &'a Batch<'a>, _: &'a str) -> Answer<'a, Analysis> {
        let profile = Some(format!("{} pages.", batch.pages.len()));
        Box::pin(async { Ok(Analysis { profile, ..Analysis::default() }) })
    }
}

#[test]
fn o22_a_policy_of_the_callers_own_is_registered_by_name_and_chosen() {
    let mut world =
        World { chat: Box::new(|request| panic!("this policy asks nobody: {request:?}")), ..World::default() };
    let mut policies = Policies::default();
    policies.register(Rc::new(ByLetter));
    let config = |name: &str| Config { update_policy: name.into(), similarity_threshold: 2.0, ..eager() };
    let memory = reopen(&mut world, OpenOptions { policies: policies.clone(), ..with(config("by-letter")) });
    tell(&mut world, &memory, &["apples", "bread", "cream"]);
    let titles: Vec<_> = segments(&memory).into_iter().map(|segment| segment.theme).collect();
    assert_eq!(titles, ["a", "b"]);
    world.run(memory.analyse(NOON_MS)).done().expect("analysed");
    assert_eq!(memory.profile().user.expect("a profile").text, "2 pages.");
    let unknown = world.open_with(with(config("by-letter"))).done().err().expect("not registered here");
    assert_eq!(unknown.code(), ErrorCode::InvalidArgument);
    assert!(unknown.message().contains("batched, paper, offline"), "{unknown}");
    let settings = Settings { update_policy: Some("by-letters".into()), ..Settings::default() };
    assert_eq!(memory.configure(&settings).expect_err("unknown").code(), ErrorCode::InvalidArgument);
}
