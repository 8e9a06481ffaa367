//! What a search may find: zones that whole blocks are skipped by, and a question asked of single rows.

use super::kernel::BLOCK;

/// A span of time and tags that a row must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Not before this, in milliseconds since the epoch.
    pub from_ms: i64,
    /// Before this.
    pub end_ms: i64,
    /// All of these bits.
    pub tags: u64,
}

/// Times and tags of rows, and of every block of rows what they have in common: its zone.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    rows: Vec<(i64, u64)>,
    blocks: Vec<Zone>,
}

/// Covers what any row of a block has or ever had.
#[derive(Clone, Copy, Debug)]
struct Zone {
    first_ms: i64,
    last_ms: i64,
    tags: u64,
}

impl Zone {
    const EMPTY: Self = Self { first_ms: i64::MAX, last_ms: i64::MIN, tags: 0 };
}

impl Zones {
    /// Appends what the next row has: its time in milliseconds since the epoch, and its tags, a bit each.
    pub fn push(&mut self, time_ms: i64, tags: u64) {
        self.blocks.resize(self.rows.len() / BLOCK + 1, Zone::EMPTY);
        self.rows.push((time_ms, tags));
        self.widen(self.rows.len() - 1);
    }

    /// Changes what a row has.
    ///
    /// # Panics
    /// For a row that was not pushed.
    pub fn set(&mut self, row: usize, time_ms: i64, tags: u64) {
        self.rows[row] = (time_ms, tags);
        self.widen(row);
    }

    /// Keeps the rows of `kept`, in that order, renumbered from 0. Zones are then as narrow as they can be.
    pub fn retain(&mut self, kept: &[u32]) {
        let mut next = Self::default();
        kept.iter().map(|&row| self.rows[row as usize]).for_each(|(time_ms, tags)| next.push(time_ms, tags));
        *self = next;
    }

    fn widen(&mut self, row: usize) {
        let ((time_ms, tags), zone) = (self.rows[row], &mut self.blocks[row / BLOCK]);
        zone.first_ms = zone.first_ms.min(time_ms);
        zone.last_ms = zone.last_ms.max(time_ms);
        zone.tags |= tags;
    }

    /// Rows of a block that lie in the window, a bit each.
    fn mask(&self, block: usize, window: &Window) -> u64 {
        let Some(zone) = self.blocks.get(block) else { return 0 };
        if zone.last_ms < window.from_ms || zone.first_ms >= window.end_ms || zone.tags & window.tags != window.tags {
            return 0;
        }
        let inside = |&(time_ms, tags): &(i64, u64)| {
            window.from_ms <= time_ms && time_ms < window.end_ms && tags & window.tags == window.tags
        };
        let rows = self.rows[block * BLOCK..].iter().take(BLOCK).enumerate();
        rows.fold(0, |mask, (n, row)| mask | u64::from(inside(row)) << n)
    }
}

/// Which rows a search may find. It is asked before the choice, never after, so a filter costs no results.
#[derive(Clone, Copy, Default)]
pub struct Filter<'a> {
    zones: Option<(&'a Zones, Window)>,
    keep: Option<&'a dyn Fn(u32) -> bool>,
}

impl<'a> Filter<'a> {
    /// Lets every row through.
    pub const NONE: Self = Self { zones: None, keep: None };

    /// Lets those rows through that `keep` does. It is asked only about rows near enough to be found.
    pub fn keeping(keep: &'a dyn Fn(u32) -> bool) -> Self {
        Self { keep: Some(keep), ..Self::NONE }
    }

    /// Lets only rows through that also lie in `window`.
    #[must_use]
    pub fn within(self, zones: &'a Zones, window: Window) -> Self {
        Self { zones: Some((zones, window)), ..self }
    }

    /// Whether every row is let through.
    pub fn is_none(&self) -> bool {
        self.zones.is_none() && self.keep.is_none()
    }

    /// Of the rows of a block that are set in `live`, those that the zones let through.
    pub(super) fn mask(&self, block: usize, live: u64) -> u64 {
        match self.zones {
            Some((zones, window)) if live != 0 => live & zones.mask(block, &window),
            _ => live,
        }
    }

    /// Whether a row is let through that [`Filter::mask`] holds.
    pub(super) fn admits(&self, row: u32) -> bool {
        self.keep.is_none_or(|keep| keep(row))
    }
}

impl core::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Filter")
            .field("window", &self.zones.map(|(_, window)| window))
            .field("keep", &self.keep.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn zones_hide_exactly_the_rows_outside(
            rows in prop::collection::vec((0i64..50, 0u64..8), 0..400),
            changes in prop::collection::vec((0usize..400, 0i64..50, 0u64..8), 0..40),
            from_ms in 0i64..50,
            span in 0i64..30,
            tags in 0u64..8,
        ) {
            let mut rows = rows;
            // In order of time, as memories come.
            rows.sort_unstable();
            let mut zones = Zones::default();
            rows.iter().for_each(|&(time_ms, tags)| zones.push(time_ms, tags));
            for (row, time_ms, tags) in changes {
                if row < rows.len() {
                    rows[row] = (time_ms, tags);
                    zones.set(row, time_ms, tags);
                }
            }
            let window = Window { from_ms, end_ms: from_ms + span, tags };
            let inside = |&(time_ms, has): &(i64, u64)| {
                (window.from_ms..window.end_ms).contains(&time_ms) && has & tags == tags
            };
            let check = |zones: &Zones, rows: &[(i64, u64)]| {
                let filter = Filter::NONE.within(zones, window);
                for (row, values) in rows.iter().enumerate() {
                    let let_through = filter.mask(row / BLOCK, u64::MAX) >> (row % BLOCK) & 1 == 1;
                    prop_assert_eq!(let_through, inside(values), "row {} {:?}", row, values);
                }
                prop_assert_eq!(filter.mask(rows.len().div_ceil(BLOCK), u64::MAX), 0);
                Ok(())
            };
            check(&zones, &rows)?;
            let kept: Vec<u32> = (0..rows.len() as u32).filter(|row| row % 3 != 1).collect();
            zones.retain(&kept);
            check(&zones, &kept.iter().map(|&row| rows[row as usize]).collect::<Vec<_>>())?;
        }
    }
}
