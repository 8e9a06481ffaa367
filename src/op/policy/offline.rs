//! The `offline` policy: nobody is asked. Rules place and describe the pages; a model may see them later.

use super::{Analysis, Answer, Desk, Filed, UpdatePolicy};
use crate::generation::prompt::Batch;

#[derive(Debug)]
pub(super) struct Offline;

impl UpdatePolicy for Offline {
    fn name(&self) -> &str {
        "offline"
    }

    fn asks_model(&self) -> bool {
        false
    }

    fn file<'a>(&'a self, _: &'a Desk<'a>, _: &'a Batch<'a>) -> Answer<'a, Filed> {
        Box::pin(async { Ok(Filed::default()) })
    }

    fn analyse<'a>(&'a self, _: &'a Desk<'a>, _: &'a Batch<'a>, _: &'a str) -> Answer<'a, Analysis> {
        Box::pin(async { Ok(Analysis::default()) })
    }
}
