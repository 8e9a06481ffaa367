import { signal } from '@preact/signals';
import { inspected } from '../chat/log';
import { t } from '../i18n/language';
import { memory, strategies } from '../memory/open';
import { troubleOf, type Trouble } from '../memory/trouble';
import { TroubleNote } from '../shell/TroubleNote';

const profiles = ['auto', 'chat', 'assistant', 'preference'] as const;
const budgets = [256, 512, 1024, 2048, 4096];

const query = signal('');
const strategy = signal('auto');
const profile = signal<(typeof profiles)[number]>('auto');
const budget = signal(1024);
const trouble = signal<Trouble | null>(null);
const running = signal(false);

/** A look into memory that stores nothing: for trying strategies and budgets on the same question. */
export function Probe() {
  const words = t.value;
  const run = async (): Promise<void> => {
    const text = query.value.trim();
    if (text === '' || running.value) return;
    running.value = true;
    trouble.value = null;
    try {
      const opened = await memory();
      // The model that it asks may have been taken away meanwhile.
      if (!opened.strategies.includes(strategy.value)) strategy.value = 'auto';
      const recall = await opened.retrieve(text, { strategy: strategy.value, profile: profile.value, budgetTokens: budget.value });
      inspected.value = { query: text, recall, exchangeId: null };
    } catch (error) {
      trouble.value = troubleOf(error);
    } finally {
      running.value = false;
    }
  };
  return (
    <form
      class="probe"
      aria-label={words.tryQuery}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <label class="grow">
        {words.tryQuery}
        <input
          type="search"
          dir="auto"
          data-testid="probe-input"
          value={query.value}
          onInput={(event) => (query.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.isComposing || event.keyCode === 229)) event.preventDefault();
          }}
        />
      </label>
      <label>
        {words.strategy}
        <select value={strategy.value} onChange={(event) => (strategy.value = event.currentTarget.value)}>
          {strategies.value.map((each) => (
            <option key={each} value={each}>{words.strategies[each] ?? each}</option>
          ))}
        </select>
      </label>
      <label>
        {words.profile}
        <select value={profile.value} onChange={(event) => (profile.value = event.currentTarget.value as (typeof profiles)[number])}>
          {profiles.map((each) => (
            <option key={each} value={each}>{words.profiles[each]}</option>
          ))}
        </select>
      </label>
      <label>
        {words.budget}
        <select value={budget.value} onChange={(event) => (budget.value = Number(event.currentTarget.value))}>
          {budgets.map((each) => (
            <option key={each} value={each}>{each}</option>
          ))}
        </select>
      </label>
      <button type="submit" data-testid="probe-run" disabled={running.value || query.value.trim() === ''}>{words.run}</button>
      {trouble.value && <TroubleNote trouble={trouble.value} />}
    </form>
  );
}
