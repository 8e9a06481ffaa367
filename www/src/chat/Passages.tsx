import type { RetrieveResult } from 'memstrata';
import { showClock, showDate, t } from '../i18n/language';
import { factsOf, passagesOf, type Passage } from './packed';
import { factWords } from '../persona/record';
import { joinQuotes } from './quotes';

/** Of more passages than this, the closest one is out of sight. */
const FEW = 5;

/** The answer of memory-only mode: what was said, by whom and when, in order of time, day by day. */
export function Passages({ recall }: { recall: RetrieveResult }) {
  const words = t.value;
  const passages = passagesOf(recall);
  const facts = factsOf(recall).filter((fact) => fact.packed);
  if (passages.length === 0 && facts.length === 0) return <p>{words.nothingRecalled}</p>;
  const best = recall.hits[0]?.id;
  return (
    <>
      {facts.length > 0 && (
        <>
          <p class="quiet">{words.known}</p>
          <ul class="known">
            {facts.map((fact) => (
              <li key={fact.id} dir="auto" data-testid="known-fact">
                {fact.subject === 'other' && fact.subjectName && <><b>{fact.subjectName}</b> </>}
                {factWords(fact)}
              </li>
            ))}
          </ul>
        </>
      )}
      {passages.length > 0 && <p class="quiet">
        {words.passages(passages.length)}
        {passages.length > FEW && passages.some((passage) => passage.turnId === best) && (
          <>
            {' · '}
            <button type="button" class="link" data-testid="to-best" onClick={(event) => show(event.currentTarget.closest('article')?.querySelector<HTMLElement>('li.best'))}>
              {words.toBestMatch}
            </button>
          </>
        )}
      </p>}
      {days(passages).map((day) => (
        <section key={day.passages[0]!.turnId} class="day">
          <p class="day-name">{day.name}</p>
          <ol class="passages">
            {day.passages.map((passage, index) => (
              <li key={passage.turnId} class={passage.turnId === best ? 'best' : undefined} tabIndex={passage.turnId === best ? -1 : undefined} data-testid="passage">
                <p class="quiet">
                  <b>{speakerName(passage.speaker)}</b>
                  {passage.time !== null && passage.time !== day.passages[index - 1]?.time && <> {showClock(passage.time)}</>}
                  {passage.turnId === best && <span class="mark used"> · {words.bestMatch}</span>}
                </p>
                <blockquote dir="auto">{joinQuotes(passage.text, passage.quotes)}</blockquote>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

/** Into view, and with the focus, so that the keyboard goes on from there. */
function show(passage: HTMLElement | null | undefined): void {
  passage?.scrollIntoView({ block: 'center' });
  passage?.focus({ preventScroll: true });
}

/** Passages of one day in a row stand under its date once. */
function days(passages: Passage[]): { name: string; passages: Passage[] }[] {
  const list: { name: string; passages: Passage[] }[] = [];
  for (const passage of passages) {
    const name = showDate(passage.time);
    const last = list.at(-1);
    if (last?.name === name) last.passages.push(passage);
    else list.push({ name, passages: [passage] });
  }
  return list;
}

/** Roles are words of the page and are translated; names are the conversation's own. */
export function speakerName(speaker: string): string {
  if (speaker === 'user') return t.value.you;
  return speaker === 'assistant' ? t.value.assistant : speaker;
}
