//! What the models took, by day and by what it was for.

use serde::{Deserialize, Serialize};

/// What one operation took in a day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// What it was for: `respond`, `embed`, or the step of memory work.
    pub operation: String,
    /// Calls, failed ones too.
    pub calls: u64,
    /// Calls that failed, or whose answer could not be used.
    pub failures: u64,
    /// Tokens of requests, as far as providers say.
    pub tokens_in: u64,
    /// Tokens of answers.
    pub tokens_out: u64,
    /// Milliseconds spent waiting.
    pub elapsed_ms: u64,
}

/// The rows of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerDay {
    /// Days since 1970-01-01, UTC.
    pub day: u64,
    /// One row an operation, in the order in which they first came.
    pub rows: Vec<LedgerRow>,
}

impl LedgerDay {
    /// The row of an operation, made where there is none.
    pub fn row(&mut self, operation: &str) -> &mut LedgerRow {
        let at = self.rows.iter().position(|row| row.operation == operation).unwrap_or_else(|| {
            self.rows.push(LedgerRow { operation: operation.into(), ..LedgerRow::default() });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }
}
