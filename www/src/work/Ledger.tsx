import type { LedgerRow } from 'memstrata';
import { showCount, showDay, showTenths, t } from '../i18n/language';
import { ledger } from '../memory/view';
import { inOrder, totalOf } from './ledger-total';

/** What the models took, day by day and by what it was for. */
export function Ledger() {
  const words = t.value;
  const days = ledger.value?.days ?? [];
  return (
    <section data-testid="ledger">
      <h3>{words.ledgerTitle}</h3>
      {days.length === 0 && <p class="quiet">{words.ledgerEmpty}</p>}
      {days.map(({ day, rows }, index) => (
        <details key={day} open={index === 0}>
          <summary>
            {words.ledgerDay(showDay(day))} <span class="quiet">{words.calls} {showCount(totalOf(rows).calls)}</span>
          </summary>
          <Table day={words.ledgerDay(showDay(day))} rows={inOrder(rows)} />
        </details>
      ))}
    </section>
  );
}

function Table({ day, rows }: { day: string; rows: LedgerRow[] }) {
  const words = t.value;
  const total = totalOf(rows);
  return (
    // Six columns of figures may be wider than a phone: they scroll by themselves.
    <div class="scroll" tabIndex={0} role="region" aria-label={`${words.ledgerTitle}, ${day}`}>
      <table class="ledger">
        <thead>
          <tr>
            {[words.operation, words.calls, words.failures, words.tokensIn, words.tokensOut, words.time].map((name) => (
              <th key={name} scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.operation} data-testid="ledger-row" data-operation={row.operation}>
              <th scope="row">{operationName(row.operation)}</th>
              <Figures of={row} />
            </tr>
          ))}
        </tbody>
        {rows.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">{words.total}</th>
              <Figures of={total} />
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

function Figures({ of }: { of: Omit<LedgerRow, 'operation'> }) {
  return (
    <>
      <td>{showCount(of.calls)}</td>
      <td class={of.failures > 0 ? 'failed' : undefined}>{showCount(of.failures)}</td>
      <td>{showCount(of.tokensIn)}</td>
      <td>{showCount(of.tokensOut)}</td>
      <td>{showDuration(of.ms)}</td>
    </>
  );
}

/** An operation of a later engine is shown under its own name. */
function operationName(operation: string): string {
  const names = t.value.operations;
  return Object.hasOwn(names, operation) ? names[operation as keyof typeof names] : operation;
}

function showDuration(ms: number): string {
  return ms < 1000 ? t.value.milliseconds(showCount(ms)) : t.value.secondsOf(showTenths(ms / 1000));
}
