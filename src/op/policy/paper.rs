//! The `paper` policy: the steps of MemoryOS, each a call of its own (MemoryOS, 3.2): whether a page continues the one before,
//! the meta info of its chain, the themes of what leaves short-term memory; then profile and knowledge of hot segments.

use super::batched::user_profile;
use super::{Analysis, Answer, Desk, Filed, UpdatePolicy};
use crate::effect::join;
use crate::error::Result;
use crate::generation::prompt::{Batch, continuity, knowledge, meta_info, multi_topic};
use crate::model::{Filing, Link, Page};

#[derive(Debug)]
pub(super) struct Paper;

impl UpdatePolicy for Paper {
    fn name(&self) -> &str {
        "paper"
    }

    fn file<'a>(&'a self, desk: &'a Desk<'a>, batch: &'a Batch<'a>) -> Answer<'a, Filed> {
        Box::pin(async move {
            // Which segment a theme joins is for `f_score` to say, so the model is shown none.
            let prompt = multi_topic::render(&Batch { open: &[], ..*batch });
            let themes = desk.ask(&prompt, batch.pages.len(), |reply| multi_topic::parse(batch, reply));
            // Themes do not depend on chains, so both are asked for together.
            let (themes, links) = join(themes, chains(desk, batch)).await;
            let (themes, links) = (themes?, links?);
            let filing = Filing { segments: themes.kept, links, facts: Vec::new() };
            Ok(Filed { filing, refused: themes.refused, chose: false })
        })
    }

    fn analyse<'a>(&'a self, desk: &'a Desk<'a>, batch: &'a Batch<'a>, profile: &'a str) -> Answer<'a, Analysis> {
        Box::pin(async move {
            let prompt = knowledge::render(batch);
            let facts = desk.ask(&prompt, batch.pages.len(), |reply| knowledge::parse(batch, reply));
            let (facts, analysis) = join(facts, user_profile(desk, batch, profile)).await;
            let (facts, mut analysis) = (facts?, analysis?);
            analysis.refused.extend(facts.refused);
            Ok(Analysis { facts: facts.kept, ..analysis })
        })
    }
}

/// The links of a batch: each page after the other, since a chain's meta info grows with it.
async fn chains(desk: &Desk<'_>, batch: &Batch<'_>) -> Result<Vec<Link>> {
    let mut links: Vec<Link> = Vec::new();
    let mut before: Option<&Page> = batch.before;
    for &page in batch.pages {
        let mut continues = None;
        if let Some(earlier) = before
            && desk.ask(&continuity::render(earlier, page), 1, continuity::parse).await?
        {
            continues = Some(earlier.id);
        }
        let until_now = continues.and_then(|earlier| {
            let here = links.iter().find(|link| link.page == earlier).map(|link| link.meta_info.clone());
            here.or_else(|| desk.meta_info(earlier))
        });
        let meta_info = desk.ask(&meta_info::render(until_now.as_deref(), &[page]), 1, meta_info::parse).await?;
        links.push(Link { page: page.id, continues, meta_info });
        before = Some(page);
    }
    Ok(links)
}
