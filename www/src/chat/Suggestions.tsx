import { t } from '../i18n/language';
import { suggested } from '../sample/load';
import { ask, busy, exchanges } from './log';

/** Questions that came with what was just imported. */
export function Suggestions() {
  const asked = new Set(exchanges.value.map((exchange) => exchange.question));
  const open = suggested.value.filter((question) => !asked.has(question));
  if (open.length === 0) return null;
  return (
    <div class="suggestions" role="group" aria-label={t.value.tryAsking}>
      <span class="quiet">{t.value.tryAsking}</span>
      {open.map((question) => (
        <button
          key={question}
          type="button"
          class="chip"
          dir="auto"
          disabled={busy.value}
          onClick={() => ask(question)}
        >
          {question}
        </button>
      ))}
    </div>
  );
}
