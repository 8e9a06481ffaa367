//! What the models took, what they may take, and whether they can be asked at all.

use super::engine::{Engine, Limits};
use crate::config::{FILE_BY_RULES_AFTER, LEDGER_DAYS, RETRY_FIRST_MS, RETRY_LONGEST_MS};
use crate::effect::Usage;
use crate::model::{Change, LedgerDay, ModeRecord, ModelModes, Record, RecordKey, RecordKind};
use crate::time::DAY_MS;

/// Operations that answer somebody who waits; no limit holds them back.
pub(super) const RESPOND: &str = "respond";
pub(super) const QUERY: &str = "query";
/// Vectors of stored pages.
pub(super) const EMBED: &str = "embed";

/// What keeps a job waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Background work is paused.
    Pause,
    /// Today's limit is reached.
    Budget,
    /// The model failed, and rests.
    Model,
    /// The embedding table is on its way.
    Table,
    /// The update policy asks no model.
    Policy,
}

impl Waits {
    /// Its name.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Budget => "budget",
            Self::Model => "model",
            Self::Table => "table",
            Self::Policy => "policy",
        }
    }
}

/// How the language model has been doing since the memory was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Health {
    /// Failures in a row.
    pub(super) failures: u32,
    /// Whether it has answered at all.
    pub(super) answered: bool,
    /// Not to be asked before, milliseconds since the epoch.
    pub(super) rests_until_ms: Option<i64>,
}

/// Delay after so many failures in a row.
pub(super) fn delay_ms(failures: u32) -> i64 {
    (RETRY_FIRST_MS << failures.saturating_sub(1).min(16)).min(RETRY_LONGEST_MS)
}

/// When something that was put off is due. No delay is longer than [`RETRY_LONGEST_MS`]: one that is comes from a clock that was
/// ahead, and is over.
pub(super) fn due_at(not_before_ms: i64, now_ms: i64) -> i64 {
    if not_before_ms.saturating_sub(now_ms) > RETRY_LONGEST_MS { now_ms } else { not_before_ms.max(now_ms) }
}

fn day_of(now_ms: i64) -> u64 {
    now_ms.div_euclid(DAY_MS).max(0) as u64
}

impl Engine {
    /// Books a call. It reaches the store with the next commit.
    pub(super) fn spend(&self, now_ms: i64, operation: &str, usage: Usage, succeeded: bool) {
        let mut spent = self.spent.borrow_mut();
        let day = day_of(now_ms);
        if spent.as_ref().is_none_or(|of| of.day != day) {
            let stored = self.cube.borrow().ledger().find(|of| of.day == day).cloned();
            *spent = Some(stored.unwrap_or(LedgerDay { day, rows: Vec::new() }));
        }
        if let Some(today) = spent.as_mut() {
            let row = today.row(operation);
            row.calls += 1;
            row.failures += u64::from(!succeeded);
            row.tokens_in += usage.input_tokens.unwrap_or(0);
            row.tokens_out += usage.output_tokens.unwrap_or(0);
            row.elapsed_ms += usage.elapsed_ms;
        }
    }

    /// The day's rows as they are by now.
    pub(super) fn spent_on(&self, day: u64) -> Option<LedgerDay> {
        let fresh = self.spent.borrow().clone().filter(|of| of.day == day);
        fresh.or_else(|| self.cube.borrow().ledger().find(|of| of.day == day).cloned())
    }

    /// Every day that is kept, oldest first.
    pub(super) fn ledger_days(&self) -> Vec<LedgerDay> {
        let fresh = self.spent.borrow().clone();
        let cube = self.cube.borrow();
        let stored = cube.ledger().filter(|of| fresh.as_ref().is_none_or(|fresh| fresh.day != of.day)).cloned();
        let mut days: Vec<_> = stored.chain(fresh.iter().cloned()).collect();
        crate::order::sort_by_key(&mut days, |of| of.day);
        days
    }

    /// Calls and tokens that background work has taken today.
    pub(super) fn background_today(&self, now_ms: i64) -> (u64, u64) {
        let today = self.spent_on(day_of(now_ms)).unwrap_or_default();
        let background = today.rows.iter().filter(|row| row.operation != RESPOND && row.operation != QUERY);
        background.fold((0, 0), |(calls, tokens), row| (calls + row.calls, tokens + row.tokens_in + row.tokens_out))
    }

    /// Whether today's limit is reached.
    pub(super) fn is_budget_spent(&self, now_ms: i64) -> bool {
        let limits = self.limits.get();
        if limits == Limits::default() {
            return false;
        }
        let (calls, tokens) = self.background_today(now_ms);
        (limits.calls > 0 && calls >= limits.calls) || (limits.tokens > 0 && tokens >= limits.tokens)
    }

    /// When the next day of the ledger begins.
    pub(super) fn next_day_ms(now_ms: i64) -> i64 {
        (day_of(now_ms) as i64 + 1) * DAY_MS
    }

    /// The model has said something of use.
    pub(super) fn model_answered(&self) {
        self.health.set(Health { answered: true, ..Health::default() });
    }

    /// The user insists: the model need not rest any longer.
    pub(super) fn let_model_try(&self) {
        self.health.set(Health { failures: 0, rests_until_ms: None, ..self.health.get() });
    }

    /// The model could not be asked, or said nothing of use: it rests for a while, longer each time.
    pub(super) fn model_failed(&self, now_ms: i64) {
        let health = self.health.get();
        let failures = health.failures.saturating_add(1);
        let rests_until_ms = Some(now_ms.saturating_add(delay_ms(failures)));
        self.health.set(Health { failures, rests_until_ms, ..health });
    }

    /// Why the model is not asked now; `None` if it can be.
    pub(super) fn model_waits(&self, now_ms: i64) -> Option<Waits> {
        if self.is_budget_spent(now_ms) {
            return Some(Waits::Budget);
        }
        self.rests_until(now_ms).map(|_| Waits::Model)
    }

    /// When a failing model is asked again; `None` if it can be asked now.
    pub(super) fn rests_until(&self, now_ms: i64) -> Option<i64> {
        let until = self.health.get().rests_until_ms.map(|until| due_at(until, now_ms));
        until.filter(|until| *until > now_ms)
    }

    /// Whether pages should not wait for the model any longer.
    pub(super) fn is_model_out(&self, now_ms: i64) -> bool {
        match self.model_waits(now_ms) {
            Some(Waits::Model) => self.health.get().failures >= FILE_BY_RULES_AFTER,
            waits => waits.is_some(),
        }
    }

    /// What is remembered of the model's modes.
    pub(super) fn modes(&self) -> ModeRecord {
        let Some(model) = &self.options.chat_model else { return ModeRecord::default() };
        let fresh = *self.fresh_modes.borrow();
        fresh.unwrap_or_else(|| self.cube.borrow().modes(model))
    }

    /// Remembers; it reaches the store with the next commit.
    pub(super) fn set_modes(&self, modes: ModeRecord) {
        if self.modes() != modes {
            *self.fresh_modes.borrow_mut() = Some(modes);
        }
    }

    /// What the next commit carries: the day's rows, without days that are too old, and the model's modes.
    pub(super) fn bookings(&self) -> Vec<Change> {
        let cube = self.cube.borrow();
        let mut delta = Vec::new();
        if let Some(today) = &*self.spent.borrow()
            && cube.ledger().all(|of| of != today)
        {
            delta.push(Change::Put(Record::Ledger(today.clone())));
            let others: Vec<u64> = cube.ledger().map(|of| of.day).filter(|day| *day != today.day).collect();
            let surplus = (others.len() + 1).saturating_sub(LEDGER_DAYS);
            let old = others.into_iter().take(surplus);
            delta.extend(old.map(|id| Change::Remove(RecordKey { kind: RecordKind::Ledger, id })));
        }
        if let (Some(model), Some(modes)) = (&self.options.chat_model, *self.fresh_modes.borrow())
            && cube.modes(model) != modes
        {
            delta.push(Change::Put(Record::Modes(ModelModes { model: model.clone(), modes })));
        }
        delta
    }
}
