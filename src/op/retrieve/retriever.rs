//! Retrievers: other ways of ranking turns, registered by name (DESIGN: strategies, `<registered>`).
//!
//! A retriever sees what the filter lets through, and says which turns answer and how well. Everything else stays here: a turn
//! that it may not see is not found, packing keeps its budget, visits are counted.

use core::fmt;
use std::rc::Rc;

use serde::Serialize;

use super::filter::Sieve;
use super::{RetrieveInput, role_name, search, tier_name};
use crate::effect::{Io, RankRequest};
use crate::error::{Error, ErrorCode, Result};
use crate::id::TurnId;
use crate::model::{Cube, Metadata, Page};
use crate::op::engine::Engine;
use crate::op::policy::Answer;
use crate::order::sort_by;
use crate::retrieval::Strategy;
use crate::time::Timestamp;

/// Turns of a retriever that are taken where fewer hits are wanted: what the context is packed from.
const LEAST_LIMIT: usize = 100;

/// A way of ranking turns.
pub trait Retriever: fmt::Debug {
    /// The name it is chosen by; none of [`Strategy`]'s.
    fn name(&self) -> &str;

    /// Turns with their scores, in any order; greater is better, and only differences mean something. Of a turn that is named
    /// twice the greater score counts; one that is unknown or hidden is passed over.
    ///
    /// # Errors
    /// Any; the search fails with its code, and with the retriever's name in the message.
    fn rank<'a>(&'a self, search: &'a Search<'a>) -> Answer<'a, Vec<(TurnId, f64)>>;
}

/// A turn that may be found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The turn.
    pub id: String,
    /// Its page.
    pub page_id: String,
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The label under which it is printed.
    pub speaker: String,
    /// The whole turn.
    pub text: String,
    /// `short`, `mid` or `archive`.
    pub tier: &'static str,
    /// When it was said, milliseconds since the epoch.
    pub time: Option<i64>,
    /// Minutes east of UTC where it was said.
    pub offset_minutes: i16,
    /// The session.
    pub session: String,
    /// The caller's keys.
    #[serde(serialize_with = "crate::model::serialize_map")]
    pub metadata: Metadata,
}

impl Candidate {
    pub(super) fn of(cube: &Cube, page: &Page, turn: TurnId) -> Self {
        let session = cube.session(page.session).and_then(|session| session.label.clone());
        Self {
            id: turn.to_string(),
            page_id: page.id.to_string(),
            role: role_name(turn.side),
            speaker: page.speaker(turn.side).into(),
            text: page.text(turn.side).into(),
            tier: tier_name(cube.tier(page.id)),
            time: page.time.map(|time| time.epoch_ms),
            offset_minutes: page.time.map_or(0, |time| time.offset_minutes),
            session: session.unwrap_or_else(|| page.session.to_string()),
            metadata: page.metadata.clone(),
        }
    }
}

/// What a retriever is asked, and what it may look at.
pub struct Search<'a> {
    /// Asks models.
    pub io: &'a Io,
    /// When and where the question is asked.
    pub now: Timestamp,
    pub(super) engine: &'a Engine,
    pub(super) input: &'a RetrieveInput,
    pub(super) vector: Option<&'a [f32]>,
}

impl fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search").field("input", self.input).field("now", &self.now).finish_non_exhaustive()
    }
}

impl Search<'_> {
    /// The question.
    pub fn query(&self) -> &str {
        &self.input.query
    }

    /// Most turns that are of use; the best so many of the answer are taken.
    pub fn limit(&self) -> usize {
        self.input.top_k.max(LEAST_LIMIT)
    }

    /// Every turn that the filter lets through, in the order of arrival.
    pub fn candidates(&self) -> Vec<(TurnId, Candidate)> {
        let cube = self.engine.cube.borrow();
        let sieve = Sieve::new(&cube, &self.input.filter, self.input.as_of_ms);
        let mut shown = Vec::new();
        for page in cube.pages() {
            for turn in page.turns() {
                if sieve.lets_through(turn) {
                    shown.push((turn, Candidate::of(&cube, page, turn)));
                }
            }
        }
        shown
    }

    /// The best turns by a strategy of the core, over the same candidates, best first.
    pub fn ranked(&self, strategy: Strategy, limit: usize) -> Vec<(TurnId, f64)> {
        let input = RetrieveInput { strategy, top_k: limit, ..self.input.clone() };
        search(self.engine, &input, self.now, self.vector, None, 0).turns
    }
}

/// What a retriever found: scores of turns.
#[derive(Debug)]
pub(super) struct Ranked<'a> {
    pub(super) name: &'a str,
    /// By turn.
    scores: Vec<(TurnId, f64)>,
}

impl Ranked<'_> {
    /// Asks the retriever of a name.
    pub(super) async fn by<'a>(name: &'a str, search: &Search<'_>) -> Result<Ranked<'a>> {
        let known = search.engine.retrievers.borrow().clone();
        let Some(retriever) = known.iter().find(|known| known.name() == name) else {
            let names: Vec<&str> = Strategy::ALL.iter().map(|strategy| strategy.as_str()).collect();
            let names = names.into_iter().chain(known.iter().map(|known| known.name()));
            let names = names.collect::<Vec<_>>().join(", ");
            return Err(Error::invalid(format!("there is no strategy {name:?}; there are {names}")));
        };
        let named = |code, why: &str| Error::new(code, format!("the retriever {name:?} failed: {why}"));
        let mut found = retriever.rank(search).await.map_err(|error| named(error.code(), error.message()))?;
        if found.iter().any(|(_, score)| !score.is_finite()) {
            return Err(named(ErrorCode::ProviderBadReply, "a score is not finite"));
        }
        // It may have taken its time.
        search.engine.check_readable()?;
        let cube = search.engine.cube.borrow();
        let sieve = Sieve::new(&cube, &search.input.filter, search.input.as_of_ms);
        let is_there = |turn: TurnId| cube.page(turn.page).is_some_and(|page| !page.text(turn.side).trim().is_empty());
        let mut last = None;
        sort_by(&mut found, |a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.retain(|&(turn, _)| last.replace(turn) != Some(turn) && is_there(turn) && sieve.lets_through(turn));
        sort_by(&mut found, |a, b| b.1.total_cmp(&a.1));
        found.truncate(search.limit());
        sort_by(&mut found, |a, b| a.0.cmp(&b.0));
        Ok(Ranked { name, scores: found })
    }

    pub(super) fn score(&self, turn: TurnId) -> Option<f64> {
        self.scores.binary_search_by(|(of, _)| of.cmp(&turn)).ok().map(|at| self.scores[at].1)
    }

    /// A score's share of the way from the least to the greatest; 1 where all are equal.
    pub(super) fn share(&self, score: f64) -> f32 {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for (_, score) in &self.scores {
            (least, most) = (least.min(*score), most.max(*score));
        }
        // Halved, so that the span of scores at both ends of the range stays finite.
        if most > least { ((score / 2.0 - least / 2.0) / (most / 2.0 - least / 2.0)) as f32 } else { 1.0 }
    }
}

/// A retriever outside: the host answers for it.
#[derive(Debug)]
struct Outside(String);

impl Retriever for Outside {
    fn name(&self) -> &str {
        &self.0
    }

    fn rank<'a>(&'a self, search: &'a Search<'a>) -> Answer<'a, Vec<(TurnId, f64)>> {
        Box::pin(search.io.rank(RankRequest {
            retriever: self.0.clone(),
            query: search.query().into(),
            limit: search.limit(),
            call_id: search.input.call_id.clone(),
        }))
    }
}

impl Engine {
    /// Registers a retriever, in place of one of the same name.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for the name of a strategy, and for none.
    pub fn register(&self, retriever: Rc<dyn Retriever>) -> Result<()> {
        let name = retriever.name();
        if name.is_empty() || Strategy::ALL.iter().any(|strategy| strategy.as_str() == name) {
            return Err(Error::invalid(format!("a retriever cannot be called {name:?}")));
        }
        let mut retrievers = self.retrievers.borrow_mut();
        retrievers.retain(|known| known.name() != name);
        retrievers.push(retriever);
        Ok(())
    }

    /// Registers a retriever that the host answers for, by [`crate::effect::Effect::Rank`].
    ///
    /// # Errors
    /// As [`Engine::register`].
    pub fn register_outside(&self, name: String) -> Result<()> {
        self.register(Rc::new(Outside(name)))
    }

    /// What a search may find, in the order of arrival.
    ///
    /// # Errors
    /// `CLOSED`.
    pub fn candidates(&self, input: &RetrieveInput) -> Result<Vec<Candidate>> {
        self.check_readable()?;
        let now = Timestamp::utc(0);
        let search = Search { io: &Io::default(), now, engine: self, input, vector: None };
        Ok(search.candidates().into_iter().map(|(_, candidate)| candidate).collect())
    }
}
