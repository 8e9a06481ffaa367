//! From the text of a model's reply to something that may be believed: read, then checked against what was offered.

mod bad;
mod check;
mod field;
mod filed;
mod parse;
mod quote;
mod scan;
mod words;

#[cfg(test)]
mod cases_test;
#[cfg(test)]
mod scan_test;

pub use bad::BadReply;
pub use check::{Checked, MAX_FACTS_PER_PAGE, Part, Reason, Refusal, facts};
pub(in crate::generation) use check::{confidence, evidence};
pub use field::{Json, boolean, field, items, local_id, number, text, texts};
pub use filed::{links, segments};
pub use quote::find_quote;
pub(in crate::generation) use scan::without_reasoning;
pub use scan::{Expected, ReplyEnd, ReplyText, read};
pub use words::{echoes, one_line, refuses};
