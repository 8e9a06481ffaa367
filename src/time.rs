//! Instants with their zone, and civil dates. The core reads no clock: `now` is always an argument.

use jiff::civil::Date;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

/// Milliseconds of one hour.
pub const HOUR_MS: i64 = 3_600_000;
/// Milliseconds of one day.
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// An instant and the offset of the place where it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Timestamp {
    /// Milliseconds since 1970-01-01T00:00Z.
    pub epoch_ms: i64,
    /// Minutes east of UTC, -1,080 to 1,080.
    pub offset_minutes: i16,
}

impl Timestamp {
    /// An instant in UTC.
    pub const fn utc(epoch_ms: i64) -> Self {
        Self { epoch_ms, offset_minutes: 0 }
    }

    /// The civil date at the place where it was said; `None` outside the years -9999 to 9999.
    pub fn local_date(self) -> Option<Date> {
        let offset = Offset::from_seconds(i32::from(self.offset_minutes) * 60).ok()?;
        let instant = jiff::Timestamp::from_millisecond(self.epoch_ms).ok()?;
        Some(offset.to_datetime(instant).date())
    }

    /// Hours from `earlier` to `self`, never negative: a clock that was set back yields zero.
    pub fn hours_since(self, earlier: Self) -> f64 {
        self.epoch_ms.saturating_sub(earlier.epoch_ms).max(0) as f64 / HOUR_MS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_evening_stays_on_its_local_day() {
        // 2023-05-25T02:30Z is 22:30 on the 24th in UTC-4.
        let instant = 1_684_981_800_000;
        let there = Timestamp { epoch_ms: instant, offset_minutes: -240 };
        assert_eq!(there.local_date().map(|d| d.to_string()).as_deref(), Some("2023-05-24"));
        assert_eq!(Timestamp::utc(instant).local_date().map(|d| d.to_string()).as_deref(), Some("2023-05-25"));
    }

    #[test]
    fn a_clock_set_back_and_an_absurd_instant_are_harmless() {
        assert_eq!(Timestamp::utc(0).hours_since(Timestamp::utc(HOUR_MS)), 0.0);
        assert_eq!(Timestamp::utc(i64::MAX).local_date(), None);
        assert_eq!(Timestamp::utc(i64::MAX).hours_since(Timestamp::utc(i64::MIN)), i64::MAX as f64 / HOUR_MS as f64);
    }
}
