import { showCount, t } from '../i18n/language';
import { reopen } from '../memory/open';
import { stats } from '../memory/view';
import { embedder } from './choice';

const choices = ['builtin', 'none'] as const;

export function EmbedderChoice() {
  const words = t.value;
  const now = stats.value?.embedder;
  return (
    <fieldset>
      <legend>{words.embedderTitle}</legend>
      <p class="quiet">{words.embedderBody}</p>
      {choices.map((choice) => (
        <label key={choice} class="choice">
          <input
            type="radio"
            name="embedder"
            value={choice}
            data-testid={`embedder-${choice}`}
            checked={embedder.value === choice}
            onChange={() => {
              embedder.value = choice;
              void reopen();
            }}
          />
          <span>
            <b>{words.embedderNames[choice]}</b> <span class="quiet">{words.embedderNotes[choice]}</span>
          </span>
        </label>
      ))}
      {now && (
        <p class="quiet">
          {words.embedderNow}: {now.id !== null && now.ready ? words.embedderReady(now.id, showCount(now.dimensions)) : words.embedderOff}
        </p>
      )}
    </fieldset>
  );
}
