import type { LedgerRow } from 'memstrata';

/** A day's rows as one. */
export function totalOf(rows: LedgerRow[]): Omit<LedgerRow, 'operation'> {
  return rows.reduce(
    (sum, row) => ({ calls: sum.calls + row.calls, failures: sum.failures + row.failures, tokensIn: sum.tokensIn + row.tokensIn, tokensOut: sum.tokensOut + row.tokensOut, ms: sum.ms + row.ms }),
    { calls: 0, failures: 0, tokensIn: 0, tokensOut: 0, ms: 0 },
  );
}

/** The dearest operation first. */
export function inOrder(rows: LedgerRow[]): LedgerRow[] {
  return [...rows].sort((a, b) => b.tokensIn + b.tokensOut - (a.tokensIn + a.tokensOut) || b.calls - a.calls || a.operation.localeCompare(b.operation));
}
