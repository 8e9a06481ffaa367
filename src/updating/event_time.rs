//! When facts hold: phrases of time, resolved in code against the date and zone of the message that has them.

use crate::model::{CandidateFact, Cube};
use crate::text::time_phrase;

/// Gives a candidate its event time: the start of what its phrase means where and when it was said, or else when it was said.
/// Without evidence, or where the message has no date, it stays as it is. The phrase is kept.
pub fn date(cube: &Cube, candidate: &mut CandidateFact) {
    let page = candidate.evidence.first().and_then(|of| cube.page(of.turn.page));
    let Some(said) = page.and_then(|page| page.time) else { return };
    let meant = candidate.since.as_deref().and_then(|phrase| time_phrase::resolve(phrase, said));
    candidate.valid_from = Some(meant.map_or(said, |range| range.start));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PageId, SessionId, Side, TurnId};
    use crate::model::{Change, Evidence, FactKind, FactSource, Metadata, Page, Record, Subject};
    use crate::time::Timestamp;

    #[test]
    fn case_25_last_week_is_the_week_before_the_message_in_its_zone() {
        // 2023-05-24 22:30 in UTC-4, a Wednesday: the week before begins on Monday the 15th, at local midnight.
        let time = Some(Timestamp { epoch_ms: 1_684_981_800_000, offset_minutes: -240 });
        let mut cube = Cube::default();
        let page = Page {
            id: PageId::from_raw(1),
            client_id: None,
            user_input: "I moved last week".into(),
            agent_response: String::new(),
            user_name: String::new(),
            agent_name: String::new(),
            time,
            recorded_at_ms: 1_900_000_000_000,
            session: SessionId::from_raw(1),
            metadata: Metadata::new(),
            position: 0,
        };
        cube.apply(Change::Put(Record::Page(page)));
        let turn = TurnId { page: PageId::from_raw(1), side: Side::User };
        let mut fact = CandidateFact {
            subject: Subject::User,
            attribute: "home city".into(),
            value: "Lisbon".into(),
            kind: FactKind::Knowledge,
            source: FactSource::Stated,
            confidence: 1.0,
            trust: 1.0,
            since: Some("last week".into()),
            valid_from: None,
            evidence: vec![Evidence { turn, quote: "I moved last week".into() }],
        };
        date(&cube, &mut fact);
        assert_eq!(fact.valid_from, Some(Timestamp { epoch_ms: 1_684_123_200_000, offset_minutes: -240 }));
        assert_eq!(fact.since.as_deref(), Some("last week"));
        fact.since = Some("some day".into());
        date(&cube, &mut fact);
        assert_eq!(fact.valid_from, time);
    }
}
