//! Update policies: what is made of pages that leave short-term memory, and of those that are hot (DESIGN: pluggable, registered
//! by name).
//!
//! A policy reads and asks; it changes nothing. What it answers is checked against the pages it was given, and settled by the
//! rules of [`crate::updating`], whichever policy it is.

mod batched;
mod desk;
mod offline;
mod paper;

use core::fmt;
use core::pin::Pin;
use std::rc::Rc;

use crate::config::AUTO_POLICY;
use crate::error::{Error, Result};
use crate::generation::prompt::Batch;
use crate::generation::reply::Refusal;
use crate::model::{CandidateFact, Filing, Trait};

pub use self::desk::Desk;

/// What a policy answers, once its models have.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + 'a>>;

/// What a batch of pages is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filed {
    /// What it is.
    pub filing: Filing,
    /// What of the model's answer was not taken, and why.
    pub refused: Vec<Refusal>,
    /// Whether the model could choose among the open segments; those that it did not choose then take none of its themes.
    pub chose: bool,
}

/// What hot pages tell of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// The whole new profile; `None` leaves the present one.
    pub profile: Option<String>,
    /// Traits that the pages show.
    pub traits: Vec<Trait>,
    /// Candidate facts.
    pub facts: Vec<CandidateFact>,
    /// What of the model's answer was not taken, and why.
    pub refused: Vec<Refusal>,
}

/// A way of updating memory.
pub trait UpdatePolicy: fmt::Debug {
    /// The name it is chosen by.
    fn name(&self) -> &str;

    /// Whether it asks a language model. One that does not leaves pages to be seen by a model later.
    fn asks_model(&self) -> bool {
        true
    }

    /// Files a batch of pages that leave short-term memory. Pages in no segment of the answer are placed by rules.
    fn file<'a>(&'a self, desk: &'a Desk<'a>, batch: &'a Batch<'a>) -> Answer<'a, Filed>;

    /// Reads pages of hot segments for long-term memory; `profile` is the user's profile until now, or empty.
    fn analyse<'a>(&'a self, desk: &'a Desk<'a>, batch: &'a Batch<'a>, profile: &'a str) -> Answer<'a, Analysis>;
}

/// The policies that can be chosen.
#[derive(Clone, Debug)]
pub struct Policies(Vec<Rc<dyn UpdatePolicy>>);

impl Default for Policies {
    fn default() -> Self {
        Self(vec![Rc::new(batched::Batched), Rc::new(paper::Paper), Rc::new(offline::Offline)])
    }
}

impl Policies {
    /// Adds a policy, in place of one of the same name.
    pub fn register(&mut self, policy: Rc<dyn UpdatePolicy>) {
        self.0.retain(|known| known.name() != policy.name());
        self.0.push(policy);
    }

    /// The policy of a name. `auto` is `batched` with a model and `offline` without, and without a model there is no other.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown name.
    pub fn choose(&self, name: &str, has_model: bool) -> Result<Rc<dyn UpdatePolicy>> {
        let named = |name: &str| self.0.iter().find(|policy| policy.name() == name).cloned();
        let wanted = named(if name == AUTO_POLICY { "batched" } else { name });
        let wanted = wanted.ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|policy| policy.name()).collect();
            Error::invalid(format!("there is no update policy {name:?}; there are {AUTO_POLICY}, {}", known.join(", ")))
        })?;
        let possible = has_model || !wanted.asks_model();
        Ok(if possible { wanted } else { Rc::new(offline::Offline) })
    }
}
