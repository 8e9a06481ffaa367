import { useState } from 'preact/hooks';
import { showCount, t } from '../i18n/language';
import { troubleOf, type Trouble } from '../memory/trouble';
import { ledger } from '../memory/view';
import { TroubleNote } from '../shell/TroubleNote';
import { configure } from './configure';
import { dailyCalls, dailyTokens, readLimit } from './settings';

/** What background work may take in a day, and what it has taken. */
export function Budget() {
  const [calls, setCalls] = useState(dailyCalls.value);
  const [tokens, setTokens] = useState(dailyTokens.value);
  const [outcome, setOutcome] = useState<'none' | 'set' | 'bad'>('none');
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const words = t.value;
  const today = ledger.value?.today;

  const set = async (): Promise<void> => {
    const limits = { dailyCalls: readLimit(calls), dailyTokens: readLimit(tokens) };
    setTrouble(null);
    if (limits.dailyCalls === null || limits.dailyTokens === null) {
      setOutcome('bad');
      document.getElementById(limits.dailyCalls === null ? 'daily-calls' : 'daily-tokens')?.focus();
      return;
    }
    setOutcome('none');
    try {
      await configure({ dailyCalls: limits.dailyCalls, dailyTokens: limits.dailyTokens });
      setOutcome('set');
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };

  return (
    <section>
      <h3>{words.budgetTitle}</h3>
      <p class="quiet">{words.budgetBody}</p>
      {today && (
        <ul class="plain budget" data-testid="budget">
          <Used used={today.calls} limit={today.callsLimit} words={[words.callsUsed, words.budgetCalls]} />
          <Used used={today.tokens} limit={today.tokensLimit} words={[words.tokensUsed, words.budgetTokens]} />
        </ul>
      )}
      <form
        class="filters"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void set();
        }}
      >
        <label>
          {words.dailyCalls}
          <input id="daily-calls" type="text" inputmode="numeric" data-testid="daily-calls" value={calls} aria-invalid={outcome === 'bad' && readLimit(calls) === null} onInput={(event) => setCalls(event.currentTarget.value)} />
        </label>
        <label>
          {words.dailyTokens}
          <input id="daily-tokens" type="text" inputmode="numeric" data-testid="daily-tokens" value={tokens} aria-invalid={outcome === 'bad' && readLimit(tokens) === null} onInput={(event) => setTokens(event.currentTarget.value)} />
        </label>
        <button type="submit" data-testid="set-limits">{words.setLimits}</button>
      </form>
      <p role="status">{outcome === 'set' && words.limitsSet}</p>
      {outcome === 'bad' && <p class="trouble" role="alert">{words.limitBad}</p>}
      {trouble && <TroubleNote trouble={trouble} />}
    </section>
  );
}

function Used({ used, limit, words: [open, limited] }: { used: number; limit: number; words: [(used: string) => string, (used: string, limit: string) => string] }) {
  if (limit === 0) return <li>{open(showCount(used))}</li>;
  const text = limited(showCount(used), showCount(limit));
  return (
    <li>
      <span>{text}</span> <meter min={0} max={limit} value={Math.min(used, limit)} aria-label={text} />
    </li>
  );
}
