import { t } from '../i18n/language';
import { suggested } from '../sample/load';
import { ask, busy } from './log';

/** Questions that came with what was just imported. */
export function Suggestions() {
  if (suggested.value.length === 0) return null;
  return (
    <div class="suggestions" role="group" aria-label={t.value.tryAsking}>
      <span class="quiet">{t.value.tryAsking}</span>
      {suggested.value.map((question) => (
        <button
          key={question}
          type="button"
          class="chip"
          dir="auto"
          disabled={busy.value}
          onClick={() => {
            suggested.value = suggested.value.filter((each) => each !== question);
            ask(question);
          }}
        >
          {question}
        </button>
      ))}
    </div>
  );
}
