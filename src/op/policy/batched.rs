//! The `batched` policy: one call files a batch and finds its facts, one more brings profile and traits up to date.

use super::{Analysis, Answer, Desk, Filed, UpdatePolicy};
use crate::error::Result;
use crate::generation::prompt::{Batch, profile, segments};
use crate::updating::traits::dimensions;

#[derive(Debug)]
pub(super) struct Batched;

impl UpdatePolicy for Batched {
    fn name(&self) -> &str {
        "batched"
    }

    fn file<'a>(&'a self, desk: &'a Desk<'a>, batch: &'a Batch<'a>) -> Answer<'a, Filed> {
        Box::pin(async move {
            let prompt = segments::render(batch);
            let (filing, refused) = desk.ask(&prompt, batch.pages.len(), |reply| segments::parse(batch, reply)).await?;
            Ok(Filed { filing, refused, chose: true })
        })
    }

    fn analyse<'a>(&'a self, desk: &'a Desk<'a>, batch: &'a Batch<'a>, profile: &'a str) -> Answer<'a, Analysis> {
        Box::pin(user_profile(desk, batch, profile))
    }
}

/// The one call for profile and traits, which both policies make.
pub(super) async fn user_profile(desk: &Desk<'_>, batch: &Batch<'_>, until_now: &str) -> Result<Analysis> {
    let names: Vec<&str> = dimensions().map(|dimension| dimension.name).collect();
    let prompt = profile::render(until_now, batch, &names);
    let read = desk.ask(&prompt, batch.pages.len(), |reply| profile::parse(batch, &names, reply)).await?;
    Ok(Analysis { profile: Some(read.profile), traits: read.traits, facts: Vec::new(), refused: read.refused })
}
