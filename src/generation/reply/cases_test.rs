//! Replies of the steps against the pages they were given: what is kept and what is refused.

use super::{BadReply, MAX_FACTS_PER_PAGE, Reason, Refusal, ReplyEnd, ReplyText};
use crate::error::{Error, ErrorCode};
use crate::generation::prompt::segments::parse;
use crate::generation::prompt::step::tests::page;
use crate::generation::prompt::{Batch, OpenSegment, continuity, knowledge, meta_info, multi_topic, profile};
use crate::id::{PageId, SegmentId, Side};
use crate::model::{FactKind, FactSource, Filing, Page, Subject, TraitLevel};
use proptest::prelude::*;

fn pages() -> Vec<Page> {
    let mut pages = vec![
        page(1, "I moved to  Lisbon\nlast week.", "Try the custard tarts; you seem to love sweets."),
        page(2, "My friend Jack dislikes football. I said “never mind”.", "Noted."),
        page(3, "Let's talk Rust.", "Yes."),
    ];
    pages[0].user_name = "Anna".into();
    pages
}

fn with_batch<T>(run: impl FnOnce(&Batch<'_>) -> T) -> T {
    let (before, pages) = (page(9, "Hi.", ""), pages());
    let open = [OpenSegment { id: SegmentId::from_raw(7), theme: "moving" }];
    run(&Batch { before: Some(&before), pages: &pages.iter().collect::<Vec<_>>(), open: &open })
}

fn stop(text: &str) -> ReplyText<'_> {
    ReplyText { text, end: ReplyEnd::Stop }
}

/// What was read, and what is left of the batch.
#[derive(Debug)]
struct Read {
    filing: Filing,
    refused: Vec<Refusal>,
    unplaced: Vec<PageId>,
}

fn read(text: &str) -> Result<Read, Error> {
    with_batch(|batch| {
        let (filing, refused) = parse(batch, &stop(text))?;
        let is_placed = |id: &PageId| filing.segments.iter().any(|segment| segment.pages.contains(id));
        let unplaced = batch.pages.iter().map(|page| page.id).filter(|id| !is_placed(id)).collect();
        Ok(Read { filing, refused, unplaced })
    })
}

/// A fact in the fields of the schema.
fn fact(subject: &str, value: &str, quote: &str, page: &str) -> String {
    format!(
        r#"{{"subject":"{subject}","attribute":"a","value":"{value}","kind":"preference","confidence":0.9,"valid_from":null,"quote":"{quote}","page":"{page}"}}"#
    )
}

/// Facts as `subject=value`, refusals as their reasons, an error as its code.
fn told(reply: Result<Read, Error>) -> String {
    match reply {
        Ok(reply) => {
            let facts = reply.filing.facts.iter().map(|fact| format!("{:?}={}", fact.subject, fact.value));
            let refused = reply.refused.iter().map(|refusal| format!("!{:?}", refusal.reason));
            facts.chain(refused).collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.code().as_str().to_owned(),
    }
}

#[track_caller]
fn check(facts: &[String], expected: &str) {
    assert_eq!(told(read(&format!(r#"{{"segments":[],"links":[],"facts":[{}]}}"#, facts.join(",")))), expected);
}

#[test]
fn a_whole_reply_is_read_whole() {
    let reply = read(
        r#"{"reasoning":"x","segments":[
            {"continues":"s1","title":"Moving","summary":"Anna moved to Lisbon.","keywords":["Lisbon","lisbon","move"],"pages":["p1","p1"]},
            {"continues":null,"title":"Jack","summary":"","keywords":"Jack, football","pages":["p2"]}],
          "links":[{"page":"p1","continues":"p0","meta_info":"The\n move."},{"page":"p2","continues":null,"meta_info":""},
                   {"page":"p3","continues":"p3","meta_info":""}],
          "facts":[{"subject":"Anna","attribute":"home city","value":"Lisbon","kind":"knowledge","confidence":1.7,"valid_from":"last week",
                    "quote":"I moved to Lisbon last week","page":"p1"}]}"#,
    )
    .expect("readable");
    assert_eq!(reply.filing.segments[0].continues, Some(SegmentId::from_raw(7)));
    assert_eq!(reply.filing.segments[0].pages, [PageId::from_raw(1)]);
    assert_eq!(reply.filing.segments[0].keywords, ["Lisbon", "move"]);
    assert_eq!(reply.filing.segments[1].keywords, ["Jack", "football"]);
    assert_eq!(reply.filing.links[0].continues, Some(PageId::from_raw(9)));
    assert_eq!(reply.filing.links[0].meta_info, "The move.");
    assert_eq!(reply.unplaced, [PageId::from_raw(3)]);
    assert_eq!(reply.refused.iter().map(|refusal| refusal.reason).collect::<Vec<_>>(), [Reason::NotEarlier]);
    let fact = &reply.filing.facts[0];
    assert_eq!((&fact.subject, fact.kind, fact.source), (&Subject::User, FactKind::Knowledge, FactSource::Stated));
    assert_eq!(fact.since.as_deref(), Some("last week"));
    assert_eq!(fact.evidence[0].quote, "I moved to  Lisbon\nlast week", "the page's own words");
    assert_eq!(fact.evidence[0].turn.side, Side::User);
}

#[test]
fn case_04_other_shapes_are_coerced_or_refused_as_a_whole() {
    let good = fact("user", "x", "I moved", "p1");
    for text in [
        format!("[{good}]"),
        good.clone(),
        format!(r#"{{"facts":{good}}}"#),
        format!(r#"{{"Candidate Facts":[{good}],"Topics":[]}}"#),
        format!(r#"{{"segments":[{{"title":"t","pages":"p1","facts":[{good}]}}]}}"#),
        good.replace("\"quote\"", "\"Quotation\"").replace("\"page\"", "\"pageId\""),
        good.replace("\"p1\"", "1"),
        good.replace("\"p1\"", "null"),
    ] {
        assert_eq!(told(read(&text)), "User=x", "{text}");
    }
    for text in [
        r#"{"segments":[{"title":"t","summary":"s","pages":["p1"]}]}"#.to_owned(),
        r#"[{"title":"t","summary":"s","pages":["p1"]}]"#.to_owned(),
        r#"{"facts":["Anna lives in Lisbon"]}"#.to_owned(),
        r#"{"facts":[{"remark":"Anna lives in Lisbon"}]}"#.to_owned(),
    ] {
        assert_eq!(told(read(&text)), "PROVIDER_BAD_REPLY", "{text}");
    }
}

#[test]
fn case_05_nothing_of_a_cut_reply_is_used() {
    let text = format!(r#"{{"segments":[],"facts":[{}"#, fact("user", "x", "I moved", "p1"));
    let error = with_batch(|batch| parse(batch, &ReplyText { text: &text, end: ReplyEnd::Length })).expect_err("cut");
    assert_eq!(error.code(), ErrorCode::ProviderBadReply);
    assert!(error.message().contains("truncated"));
    assert_eq!(BadReply::of(&error), Some(BadReply::Truncated));
}

#[test]
fn case_06_empty_lists_are_an_answer_and_prose_is_none() {
    for text in [r#"{"segments":[],"links":[],"facts":[]}"#, r#"{"facts":null}"#, "[]"] {
        let reply = read(text).expect("readable");
        assert!(reply.filing.facts.is_empty() && reply.refused.is_empty());
        assert_eq!(reply.unplaced.len(), 3);
    }
    assert_eq!(told(read("There are no facts.")), "PROVIDER_BAD_REPLY");
}

#[test]
fn case_07_the_steps_own_schemas_are_no_answers() {
    let with_pages = pages();
    let pages: Vec<&Page> = with_pages.iter().collect();
    let batch = Batch { pages: &pages, ..Batch::default() };
    let echoed = |result: Result<(), Error>| {
        assert_eq!(result.as_ref().map_err(BadReply::of), Err(Some(BadReply::EchoedSchema)))
    };
    echoed(parse(&batch, &stop(crate::generation::prompt::segments::render(&batch).schema)).map(drop));
    echoed(continuity::parse(&stop(continuity::render(pages[0], pages[1]).schema)).map(drop));
    echoed(meta_info::parse(&stop(meta_info::render(None, &pages).schema)).map(drop));
    echoed(multi_topic::parse(&batch, &stop(multi_topic::render(&batch).schema)).map(drop));
    echoed(profile::parse(&batch, &["a"], &stop(profile::render("", &batch, &["a"]).schema)).map(drop));
    echoed(knowledge::parse(&batch, &stop(knowledge::render(&batch).schema)).map(drop));
}

#[test]
fn case_08_what_was_never_offered_is_refused_and_the_rest_applied() {
    let good = fact("user", "x", "I moved", "p1");
    for page in ["p4", "p99", "p0", "s1", "page_0000000000000001"] {
        check(&[fact("user", "y", "I moved", page), good.clone()], "User=x !UnknownPage");
    }
    let reply = read(
        r#"{"segments":[{"continues":"s2","title":"t","pages":["p1","p7"]},{"continues":"s1","title":"u","pages":["p8"]}],
            "links":[{"page":"p7","continues":null}, {"page":"p1","continues":null}],"facts":[]}"#,
    )
    .expect("readable");
    assert_eq!(reply.filing.segments.len(), 1);
    assert_eq!(
        (reply.filing.segments[0].continues, reply.filing.segments[0].pages.len(), reply.filing.links.len()),
        (None, 1, 1)
    );
    let reasons: Vec<_> = reply.refused.iter().map(|refusal| refusal.reason).collect();
    use Reason::{UnknownPage, UnknownSegment};
    assert_eq!(reasons, [UnknownPage, UnknownSegment, UnknownPage, UnknownPage, UnknownPage]);
}

#[test]
fn case_09_no_outage_becomes_a_summary_or_a_profile() {
    let reply =
        read(r#"{"segments":[{"title":"t","summary":"I'm sorry, but I cannot help.","pages":["p1"]}],"facts":[]}"#);
    assert_eq!(told(reply), "!NotContent");
    for (text, code) in [
        ("Service unavailable", ErrorCode::ProviderFailed),
        (r#"{"profile":"Error: quota exceeded","traits":[]}"#, ErrorCode::ProviderBadReply),
        (r#"{"profile":"","traits":[]}"#, ErrorCode::ProviderBadReply),
        (r#"{"profile":"The whole new profile.","traits":[]}"#, ErrorCode::ProviderBadReply),
    ] {
        let error = with_batch(|batch| profile::parse(batch, &[], &stop(text))).expect_err("no profile");
        assert_eq!(error.code(), code, "{text}");
    }
    for text in ["I'm sorry, I can't do that.", r#"{"meta_info":"抱歉，我无法回答。"}"#] {
        assert!(meta_info::parse(&stop(text)).is_err(), "{text}");
    }
    let error = read(r#"{"error":{"message":"quota"}}"#).expect_err("a failure");
    assert_eq!(error.code(), ErrorCode::ProviderFailed);
}

#[test]
fn a_quotation_must_stand_in_its_page() {
    check(&[fact("user", "x", "I moved to Madrid", "p1")], "!QuoteNotInPage");
    check(&[fact("user", "x", "I moved to Lisbon", "p2")], "!QuoteNotInPage");
    check(&[fact("user", "x", "I said 'never mind'", "p2")], "User=x");
    check(&[fact("user", "x", "Anna (user): I moved to Lisbon", "p1")], "User=x");
}

#[test]
fn case_12_what_the_assistant_recommends_is_no_fact_about_the_user() {
    check(&[fact("user", "sweets", "you seem to love sweets", "p1")], "!SaidByAssistantOnly");
    check(&[fact("Anna", "sweets", "you seem to love sweets", "p1")], "!SaidByAssistantOnly");
    check(&[fact("assistant", "tarts", "Try the custard tarts", "p1")], "Assistant=tarts");
}

#[test]
fn case_13_a_third_person_keeps_the_name() {
    check(&[fact("Jack", "no football", "My friend Jack dislikes football", "p2")], "Named(\"Jack\")=no football");
}

#[test]
fn one_reply_cannot_flood_memory_and_repetitions_are_one() {
    let many: Vec<_> = (0..40).map(|n| fact("user", &format!("x{n}"), "I moved", "p1")).collect();
    let reply = read(&format!(r#"{{"facts":[{}]}}"#, many.join(","))).expect("readable");
    assert_eq!((reply.filing.facts.len(), reply.refused.len()), (MAX_FACTS_PER_PAGE, 40 - MAX_FACTS_PER_PAGE));
    let twice = [fact("user", "X", "I moved", "p1"), fact("user", "x", "My friend", "p2")];
    let reply = read(&format!(r#"{{"facts":[{}]}}"#, twice.join(","))).expect("readable");
    assert_eq!((reply.filing.facts.len(), reply.filing.facts[0].evidence.len()), (1, 2));
    check(&[fact("user", &"x".repeat(500), "I moved", "p1")], "!TooLong");
}

#[test]
fn o03_continuity_takes_any_spelling_of_yes_and_no() {
    for (text, expected) in [
        (r#"{"reasoning":"x","continues":true}"#, Some(true)),
        (r#"{"is_continuous":"No"}"#, Some(false)),
        ("<think>hm</think> True.", Some(true)),
        ("是", Some(true)),
        ("```\n{'continues': False}\n```", Some(false)),
        ("It is hard to say, yes and no.", None),
        ("<think>true", None),
        (r#"{"continues":"perhaps"}"#, None),
    ] {
        assert_eq!(continuity::parse(&stop(text)).ok(), expected, "{text}");
    }
}

#[test]
fn o04_o09_o11_the_papers_steps_are_read() {
    with_batch(|batch| {
        let themes = multi_topic::parse(
            batch,
            &stop(r#"[{"topic":"Rust","content":"s","keywords":["Rust"],"pages":[3,"p2"]}]"#),
        );
        assert_eq!(themes.expect("readable").kept[0].pages.len(), 2);
        assert_eq!(meta_info::parse(&stop("{\"meta_info\": \"a\nb\"}")), Ok("a b".into()));
        let reply = profile::parse(
            batch,
            &["openness", "order"],
            &stop(
                r#"{"profile":"Anna lives in Lisbon.","traits":[
                {"dimension":1,"level":"High","confidence":0.8,"quote":"I moved","page":"p1"},
                {"dimension":"openness","level":"low","confidence":2,"quote":"Let's talk Rust","page":"p3"},
                {"dimension":7,"level":"low","confidence":1,"quote":"I moved","page":"p1"},
                {"dimension":0,"level":"low","confidence":1,"quote":"you seem to love sweets","page":"p1"}]}"#,
            ),
        );
        let reply = reply.expect("readable");
        let traits: Vec<_> =
            reply.traits.iter().map(|found| (found.dimension, found.level, found.evidence.len())).collect();
        assert_eq!(traits, [(1, TraitLevel::High, 1), (0, TraitLevel::Low, 1)]);
        let reasons: Vec<_> = reply.refused.iter().map(|refusal| refusal.reason).collect();
        assert_eq!(reasons, [Reason::UnknownDimension, Reason::SaidByAssistantOnly]);
        let user = fact("user", "x", "I moved", "p1").replace("\"subject\":\"user\",", "");
        let agent = fact("", "y", "Noted", "p2");
        let known = knowledge::parse(
            batch,
            &stop(&format!(r#"{{"user_knowledge":[{user}],"assistant_knowledge":[{agent}]}}"#)),
        );
        let subjects: Vec<_> = known.expect("readable").kept.into_iter().map(|fact| fact.subject).collect();
        assert_eq!(subjects, [Subject::User, Subject::Assistant]);
        assert!(knowledge::parse(batch, &stop(r#"{"user_knowledge":[]}"#)).is_err());
    });
}

proptest! {
    #[test]
    fn no_reply_yields_a_fact_whose_quote_is_not_in_its_page(
        facts in proptest::collection::vec(("[pPs]{0,1}[0-4]{0,2}", "(user|Jack|assistant|)", prop_oneof![
            any::<String>(),
            "(I moved|to  Lisbon|custard tarts|never mind|[a-z ]{1,6}|Rust|是)",
        ], any::<f64>()), 0..8),
        noise in any::<String>(),
        mode in 0..3_u8,
    ) {
        let items = facts.iter().map(|(page, subject, quote, confidence)| serde_json::json!({
            "subject": subject, "attribute": "a", "value": quote, "confidence": confidence, "quote": quote, "page": page,
        }));
        let json = serde_json::json!({ "facts": items.collect::<Vec<_>>() }).to_string();
        let text = match mode {
            0 => json,
            1 => format!("{noise}{json}"),
            _ => noise,
        };
        if let Ok(reply) = read(&text) {
            let pages = pages();
            for fact in reply.filing.facts {
                prop_assert!((0.0..=1.0).contains(&fact.confidence));
                prop_assert!(!fact.evidence.is_empty());
                for evidence in fact.evidence {
                    let page = pages.iter().find(|page| page.id == evidence.turn.page).expect("an offered page");
                    prop_assert!(page.text(evidence.turn.side).contains(&evidence.quote));
                    prop_assert!(fact.subject != Subject::User || evidence.turn.side == Side::User);
                }
            }
        }
    }
}
