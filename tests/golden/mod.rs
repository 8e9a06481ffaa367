//! eval/prototype/golden.txt: the conversation, and what retrieval must make of it, natively and in a browser.

use memstrata::generation::{Candidate, Packed, REP, pack};
use memstrata::id::{PageId, SessionId, Side, TurnId};
use memstrata::index::{Index, NewTurn, is_personal_name};
use memstrata::model::Space;
use memstrata::retrieval::{Profile, Ranking, Request, ScoredAtom, Weights, rank};
use memstrata::text::{StaticTable, units};
use memstrata::time::Timestamp;

pub(crate) struct Turn {
    pub(crate) session: u64,
    pub(crate) time: Option<Timestamp>,
    pub(crate) speaker: String,
    pub(crate) is_user: bool,
    pub(crate) text: String,
}

pub(crate) fn id(at: usize, turn: &Turn) -> TurnId {
    TurnId { page: PageId::from_raw(at as u64), side: if turn.is_user { Side::User } else { Side::Agent } }
}

pub(crate) fn index(turns: &[Turn], table: &StaticTable) -> Index {
    let mut index = Index::new(Some(Space { model: table.model_id().to_owned(), dimensions: table.dims() as u32 }));
    for (at, turn) in turns.iter().enumerate() {
        let Turn { speaker, text, .. } = turn;
        let units = units(text, speaker, Some(table));
        let embedded = if is_personal_name(speaker) { format!("{speaker}: {text}") } else { text.clone() };
        let vector = table.unit_vector(&embedded);
        let is_known = vector.iter().any(|&x| x != 0.0);
        let new = NewTurn {
            id: id(at, turn),
            session: SessionId::from_raw(turn.session),
            time: turn.time,
            speaker,
            text,
            units: &units,
            vector: is_known.then_some(&vector),
        };
        index.insert(new).expect("a table vector is sound");
    }
    index
}

pub(crate) fn pack_ranking(ranking: &Ranking<'_>, budget_tokens: u32, rep: f64) -> Packed {
    let candidate = |atom: &ScoredAtom| Candidate {
        group: atom.turn,
        session: atom.session() as u32,
        score: atom.score,
        cost_tokens: atom.cost_tokens,
        label_tokens: atom.label_tokens,
    };
    pack(&ranking.atoms().iter().map(candidate).collect::<Vec<_>>(), budget_tokens, rep, &|_| 0)
}

pub(crate) fn noon(date: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = date.get(..10)?.parse().ok()?;
    let days = date.since(jiff::civil::date(1970, 1, 1)).ok()?.get_days();
    Some(Timestamp::utc(i64::from(days) * 86_400_000 + 43_200_000))
}

/// The conversation and the lines of eval/prototype/golden.txt: scores of the eleven atoms, then what a budget of 40 packs.
const GOLDEN: [(u64, &str, &str, bool, &str); 6] = [
    (1, "2023-05-08", "Anna", true, "Hi Ben! I adopted a puppy from the shelter yesterday. Her name is Luna."),
    (1, "2023-05-08", "Ben", false, "That's wonderful! Do you walk her a lot? I moved to Lisbon last month."),
    (2, "2023-06-11", "Anna", true, "We hiked near Sintra. Luna loved the river and slept all day after that."),
    (2, "2023-06-11", "Ben", false, "I started a pottery class in June; my first bowl was a café-blue disaster."),
    (3, "2023-07-02", "Anna", true, "我上周去了图书馆，借了一本科幻小说。书名叫《三体》，非常好看！"),
    (3, "2023-07-02", "Ben", false, "听起来很有意思。我更喜欢看电影和喝茶。"),
];
const GOLDEN_LINES: [(Profile, &str, [f32; 11], &[usize]); 8] = [
    (
        Profile::Chat,
        "When did Anna get her dog?",
        [11.755, 7.977, 4.528, 8.081, 5.137, 4.334, 5.720, 3.504, 3.024, 0.072, 0.222],
        &[0, 1, 3, 4],
    ),
    (
        Profile::Assistant,
        "When did Anna get her dog?",
        [10.436, 9.957, 7.553, 6.999, 6.466, 6.696, 3.920, 5.687, 5.463, 2.627, 2.697],
        &[0, 1, 2, 3],
    ),
    (
        Profile::Chat,
        "What is Ben's hobby?",
        [6.069, 5.701, 7.134, 8.375, 3.963, 2.825, 7.284, 0.078, 0.264, 3.061, 2.994],
        &[1, 3, 6],
    ),
    (
        Profile::Assistant,
        "What is Ben's hobby?",
        [7.265, 7.421, 10.483, 9.807, 6.319, 6.393, 9.438, 2.517, 2.604, 6.023, 5.992],
        &[0, 1, 2, 3],
    ),
    (
        Profile::Chat,
        "你读过什么书？",
        [2.365, 1.016, -0.460, 2.265, 1.489, 0.472, 2.454, 8.402, 8.188, 5.743, 6.160],
        &[7, 8],
    ),
    (
        Profile::Assistant,
        "你读过什么书？",
        [2.886, 2.584, 2.709, 2.724, 2.691, 2.821, 3.184, 10.300, 10.084, 8.722, 8.917],
        &[7, 8],
    ),
    (
        Profile::Chat,
        "Что любит Бен?",
        [1.295, 0.593, -1.396, 1.295, 1.295, 0.000, 1.295, 0.000, 0.000, 0.000, 0.000],
        &[0, 1, 3, 4],
    ),
    (
        Profile::Assistant,
        "Что любит Бен?",
        [2.334, 2.334, 2.334, 2.334, 2.414, 2.414, 2.414, 2.495, 2.495, 2.495, 2.495],
        &[1, 3, 4, 9],
    ),
];

/// Holds retrieval against the golden lines.
pub(crate) fn check(table: &StaticTable) {
    let turn = |&(session, date, speaker, is_user, text): &(u64, &str, &str, bool, &str)| Turn {
        session,
        time: noon(date),
        speaker: speaker.to_owned(),
        is_user,
        text: text.to_owned(),
    };
    let index = index(&GOLDEN.iter().map(turn).collect::<Vec<_>>(), table);
    for (profile, question, scores, packed) in GOLDEN_LINES {
        let recipe = (profile == Profile::Chat).then_some(Weights::RECIPE);
        let request = Request { profile: Some(profile), weights: recipe, ..Request::new(question) };
        let ranking = rank(&index, Some(table), &request, &|_| true);
        let found: Vec<f32> = ranking.atoms().iter().map(|atom| atom.score).collect();
        assert_eq!(found.len(), scores.len(), "{profile:?} {question} {found:.3?}");
        for (found, expected) in found.iter().zip(scores) {
            assert!((found - expected).abs() < 0.0006, "{profile:?} {question}: {found} is not {expected}");
        }
        for atom in &ranking.atoms() {
            let sum: f32 = ranking.parts(atom).iter().map(|(_, part)| part).sum();
            assert!((sum - atom.score).abs() < 1e-4, "the parts of a score add up to it");
        }
        let parts: Vec<usize> =
            pack_ranking(&ranking, 40, REP).groups.into_iter().flat_map(|group| group.parts).collect();
        assert_eq!(parts, packed, "{profile:?} {question}");
    }
}
