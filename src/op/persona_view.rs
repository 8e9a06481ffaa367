//! Pictures of long-term memory, for people: facts, profile, traits, history, ledger.

use serde::Serialize;

use super::engine::Engine;
use super::retrieve::role_name;
use crate::error::Result;
use crate::id::{FactId, Side};
use crate::model::{
    Cause, ChangeEntry, Cube, Evidence, Fact, FactKind, FactSource, LongTerm, Profile, RecordKey, RecordKind, Subject,
    Trait, TraitLevel,
};
use crate::time::{DAY_MS, Timestamp};
use crate::updating::history::{as_of, undo};
use crate::updating::long_term::static_profile;
use crate::updating::traits::{TraitCategory, dimension};

/// A quotation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceView {
    /// The page.
    pub page_id: String,
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The words.
    pub quote: String,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FactView {
    /// Its id.
    pub id: String,
    /// `user`, `assistant` or `other`.
    pub subject: &'static str,
    /// The name of another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_name: Option<String>,
    /// What it tells.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// `knowledge`, `preference` or `event`.
    pub kind: &'static str,
    /// `inferred`, `stated` or `edited`.
    pub source: &'static str,
    /// 0 to 1.
    pub confidence: f32,
    /// 0 to 1.
    pub trust: f32,
    /// Event time from which it holds.
    pub valid_from: Option<i64>,
    /// The words that say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from_phrase: Option<String>,
    /// Event time at which it ceased to hold.
    pub valid_to: Option<i64>,
    /// When it was recorded.
    pub recorded_at: i64,
    /// The fact that closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Why it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it has left its queue.
    pub archived: bool,
    /// Whether the user pinned it.
    pub pinned: bool,
    /// Whether it is kept out of every recall.
    pub never_recall: bool,
    /// What supports it.
    pub evidence: Vec<EvidenceView>,
    /// How much it bears on a question that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Whether it is in the context of that question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packed: Option<bool>,
}

/// A version of a profile text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileText {
    /// 1 for the first.
    pub version: u64,
    /// `user` or `assistant`.
    pub of: &'static str,
    /// The text.
    pub text: String,
    /// When it was written.
    pub recorded_at: i64,
}

/// The profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileView {
    /// The user's present text.
    pub user: Option<ProfileText>,
    /// The assistant's.
    pub assistant: Option<ProfileText>,
    /// Every version that is kept, newest first.
    pub versions: Vec<ProfileText>,
    /// The user's name.
    pub name: Option<FactView>,
    /// The user's gender.
    pub gender: Option<FactView>,
    /// The user's year of birth.
    pub birth_year: Option<FactView>,
}

/// A trait.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraitView {
    /// Number of the dimension.
    pub dimension: u8,
    /// Its English name.
    pub name: &'static str,
    /// Its Chinese name.
    pub chinese_name: &'static str,
    /// `psychology`, `alignment` or `interest`.
    pub category: &'static str,
    /// What it is.
    pub definition: &'static str,
    /// `low`, `medium` or `high`.
    pub level: &'static str,
    /// What the level means.
    pub level_rule: &'static str,
    /// 0 to 1.
    pub confidence: f32,
    /// What shows it.
    pub evidence: Vec<EvidenceView>,
}

/// Who or what made a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "by", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum CauseView {
    /// The user.
    User,
    /// The user took back an earlier change.
    Undo {
        /// That change.
        change_id: String,
    },
    /// An analysis.
    Analysis {
        /// The pages it read.
        pages: Vec<String>,
        /// The model.
        model: Option<String>,
        /// The step.
        step: String,
    },
}

/// A record of long-term memory at a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RecordView {
    /// A fact.
    Fact(FactView),
    /// A profile text.
    Profile(ProfileText),
    /// A trait.
    Trait(TraitView),
}

/// A record before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepView {
    /// `fact`, `profile` or `trait`.
    pub what: &'static str,
    /// Names the record: a fact's id, `profile_3`, `trait_7`.
    pub id: String,
    /// As it was.
    pub before: Option<RecordView>,
    /// As it is.
    pub after: Option<RecordView>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeView {
    /// Its id.
    pub id: String,
    /// When.
    pub at: i64,
    /// Why.
    pub cause: CauseView,
    /// What it did.
    pub steps: Vec<StepView>,
    /// Whether it can be taken back now.
    pub undoable: bool,
}

/// What one operation took in a day.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerRowView {
    /// What it was for.
    pub operation: String,
    /// Calls.
    pub calls: u64,
    /// Of which failed.
    pub failures: u64,
    /// Tokens of requests.
    pub tokens_in: u64,
    /// Tokens of answers.
    pub tokens_out: u64,
    /// Milliseconds.
    pub ms: u64,
}

/// A day of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LedgerDayView {
    /// `2026-11-30`.
    pub day: String,
    /// Its rows.
    pub rows: Vec<LedgerRowView>,
}

/// What background work took today, and may take.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TodayView {
    /// Calls.
    pub calls: u64,
    /// Their limit; 0 is none.
    pub calls_limit: u64,
    /// Tokens.
    pub tokens: u64,
    /// Their limit; 0 is none.
    pub tokens_limit: u64,
}

/// What the models took.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerView {
    /// Newest first.
    pub days: Vec<LedgerDayView>,
    /// Today's background work.
    pub today: TodayView,
    /// Whether background work is paused.
    pub paused: bool,
    /// When a failing model is asked again.
    pub resumes_at: Option<i64>,
}

/// Which facts are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactsWanted {
    /// `user`, `assistant` or `other`; empty means all.
    pub subject: String,
    /// Closed facts too.
    pub closed: bool,
    /// As of this time, milliseconds since the epoch.
    pub as_of_ms: Option<i64>,
}

/// Facts as they were recorded at a time.
pub(super) fn facts_as_of(cube: &Cube, at_ms: i64) -> Vec<Fact> {
    let fact = |record| if let LongTerm::Fact(fact) = record { Some(fact) } else { None };
    as_of(cube, at_ms).into_iter().filter_map(fact).collect()
}

impl Engine {
    /// Facts of long-term memory, in the order in which they were recorded. With `as_of_ms` those that were believed then.
    pub fn facts(&self, wanted: &FactsWanted) -> Vec<FactView> {
        let cube = self.cube.borrow();
        let is_wanted = |fact: &&Fact| {
            (wanted.subject.is_empty() || subject_name(&fact.subject) == wanted.subject)
                && (wanted.closed || fact.is_open())
        };
        match wanted.as_of_ms {
            None => cube.facts().filter(is_wanted).map(fact_view).collect(),
            Some(at_ms) => facts_as_of(&cube, at_ms).iter().filter(is_wanted).map(fact_view).collect(),
        }
    }

    /// One fact.
    pub(super) fn fact(&self, id: FactId) -> Result<FactView> {
        let cube = self.cube.borrow();
        let missing =
            || crate::error::Error::new(crate::error::ErrorCode::NotFound, format!("no fact {id} in this memory"));
        cube.fact(id).map(fact_view).ok_or_else(missing)
    }

    /// The profiles.
    pub fn profile(&self) -> ProfileView {
        let cube = self.cube.borrow();
        let fixed = static_profile(&cube);
        ProfileView {
            user: cube.profile(Side::User).map(profile_text),
            assistant: cube.profile(Side::Agent).map(profile_text),
            versions: cube.profiles().rev().map(profile_text).collect(),
            name: fixed.name.map(fact_view),
            gender: fixed.gender.map(fact_view),
            birth_year: fixed.birth_year.map(fact_view),
        }
    }

    /// The traits that are known, by dimension.
    pub fn traits(&self) -> Vec<TraitView> {
        self.cube.borrow().traits().filter_map(trait_view).collect()
    }

    /// Changes of long-term memory, newest first. `id` names one record (a fact's id, `trait_7`), `profile` stands for all
    /// profile texts, and empty for everything.
    pub fn history(&self, id: &str, offset: usize, limit: usize) -> Vec<ChangeView> {
        let cube = self.cube.borrow();
        let touches = |entry: &&ChangeEntry| {
            id.is_empty()
                || entry
                    .steps
                    .iter()
                    .any(|step| step_id(step.key) == id || (id == "profile" && step.key.kind == RecordKind::Profile))
        };
        let mut entries: Vec<&ChangeEntry> = cube.changes().filter(touches).collect();
        crate::order::sort_by_key(&mut entries, |entry| core::cmp::Reverse(entry.order()));
        let view = |entry: &ChangeEntry| ChangeView {
            id: entry.id.to_string(),
            at: entry.at_ms,
            cause: cause_view(&entry.cause),
            steps: entry
                .steps
                .iter()
                .map(|step| StepView {
                    what: match step.key.kind {
                        RecordKind::Profile => "profile",
                        RecordKind::Trait => "trait",
                        _ => "fact",
                    },
                    id: step_id(step.key),
                    before: step.before.as_ref().and_then(record_view),
                    after: step.after.as_ref().and_then(record_view),
                })
                .collect(),
            undoable: undo(&cube, entry.id).is_ok(),
        };
        entries.into_iter().skip(offset).take(limit).map(view).collect()
    }

    /// What the models took.
    pub fn ledger(&self, now_ms: i64) -> LedgerView {
        let (calls, tokens) = self.background_today(now_ms);
        let limits = self.limits.get();
        let row = |row: crate::model::LedgerRow| LedgerRowView {
            operation: row.operation,
            calls: row.calls,
            failures: row.failures,
            tokens_in: row.tokens_in,
            tokens_out: row.tokens_out,
            ms: row.elapsed_ms,
        };
        let days = self
            .ledger_days()
            .into_iter()
            .rev()
            .map(|of| LedgerDayView { day: day_name(of.day), rows: of.rows.into_iter().map(row).collect() });
        LedgerView {
            days: days.collect(),
            today: TodayView { calls, calls_limit: limits.calls, tokens, tokens_limit: limits.tokens },
            paused: self.paused.get(),
            resumes_at: self.rests_until(now_ms),
        }
    }
}

fn day_name(day: u64) -> String {
    let at = Timestamp::utc((day as i64).saturating_mul(DAY_MS));
    at.local_date().map(|date| date.to_string()).unwrap_or_default()
}

fn step_id(key: RecordKey) -> String {
    match key.kind {
        RecordKind::Profile => format!("profile_{}", key.id),
        RecordKind::Trait => format!("trait_{}", key.id),
        _ => FactId::from_raw(key.id).to_string(),
    }
}

fn record_view(record: &LongTerm) -> Option<RecordView> {
    match record {
        LongTerm::Fact(fact) => Some(RecordView::Fact(fact_view(fact))),
        LongTerm::Profile(profile) => Some(RecordView::Profile(profile_text(profile))),
        LongTerm::Trait(of) => trait_view(of).map(RecordView::Trait),
    }
}

fn cause_view(cause: &Cause) -> CauseView {
    match cause {
        Cause::User => CauseView::User,
        Cause::Undo(change) => CauseView::Undo { change_id: change.to_string() },
        Cause::Analysis { pages, model, step } => CauseView::Analysis {
            pages: pages.iter().map(ToString::to_string).collect(),
            model: model.clone(),
            step: step.clone(),
        },
    }
}

fn profile_text(profile: &Profile) -> ProfileText {
    ProfileText {
        version: profile.version,
        of: role_name(profile.of),
        text: profile.text.clone(),
        recorded_at: profile.recorded_at_ms,
    }
}

fn trait_view(of: &Trait) -> Option<TraitView> {
    let dimension = dimension(of.dimension)?;
    Some(TraitView {
        dimension: of.dimension,
        name: dimension.name,
        chinese_name: dimension.chinese,
        category: match dimension.category {
            TraitCategory::Psychology => "psychology",
            TraitCategory::Alignment => "alignment",
            TraitCategory::Interest => "interest",
        },
        definition: dimension.definition,
        level: match of.level {
            TraitLevel::Low => "low",
            TraitLevel::Medium => "medium",
            TraitLevel::High => "high",
        },
        level_rule: dimension.level_rule(of.level),
        confidence: of.confidence,
        evidence: of.evidence.iter().map(evidence_view).collect(),
    })
}

fn evidence_view(of: &Evidence) -> EvidenceView {
    EvidenceView { page_id: of.turn.page.to_string(), role: role_name(of.turn.side), quote: of.quote.clone() }
}

fn subject_name(subject: &Subject) -> &'static str {
    match subject {
        Subject::User => "user",
        Subject::Assistant => "assistant",
        Subject::Named(_) => "other",
    }
}

/// A fact as people see it.
pub(super) fn fact_view(fact: &Fact) -> FactView {
    FactView {
        id: fact.id.to_string(),
        subject: subject_name(&fact.subject),
        subject_name: if let Subject::Named(name) = &fact.subject { Some(name.clone()) } else { None },
        attribute: fact.attribute.clone(),
        value: fact.value.clone(),
        kind: match fact.kind {
            FactKind::Knowledge => "knowledge",
            FactKind::Preference => "preference",
            FactKind::Event => "event",
        },
        source: match fact.source {
            FactSource::Inferred => "inferred",
            FactSource::Stated => "stated",
            FactSource::Edited => "edited",
        },
        confidence: fact.confidence,
        trust: fact.trust,
        valid_from: fact.valid_from.map(|time| time.epoch_ms),
        valid_from_phrase: fact.since.clone(),
        valid_to: fact.valid_to.map(|time| time.epoch_ms),
        recorded_at: fact.recorded_at_ms,
        superseded_by: fact.superseded_by.map(|id| id.to_string()),
        reason: fact.reason.clone(),
        archived: fact.archived,
        pinned: fact.pinned,
        never_recall: fact.never_recall,
        evidence: fact.evidence.iter().map(evidence_view).collect(),
        score: None,
        packed: None,
    }
}

/// A fact that a recall found.
pub(super) fn fact_hit(fact: &Fact, score: f32, packed: bool) -> FactView {
    FactView { score: Some(score), packed: Some(packed), ..fact_view(fact) }
}
