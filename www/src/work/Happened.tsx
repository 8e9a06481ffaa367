import { showClock, showCount, t } from '../i18n/language';
import { happenings, type Happening } from './happened-log';

/** Background work as it went, since the page was opened. */
export function Happened() {
  const words = t.value;
  return (
    <section>
      <h3>{words.happenedTitle}</h3>
      {happenings.value.length === 0 ? <p class="quiet">{words.happenedEmpty}</p> : (
        <ol class="plain happened" data-testid="happened">
          {happenings.value.map((each) => (
            <li key={each.key} data-type={each.event.type}>
              <time class="quiet">{showClock(each.at)}</time> {sentence(each)}
              <Detail of={each} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function sentence({ event }: Happening): string {
  const words = t.value;
  const of = words.happened;
  switch (event.type) {
    case 'persona-changed':
      return of['persona-changed'](showCount(event.facts + event.profiles + event.traits));
    case 'reply-refused':
      return of['reply-refused'](showCount(event.parts.length));
    case 'job-failed':
      return of['job-failed'](event.code);
    case 'segment-archived':
      return of['segment-archived'](showCount(1));
    default:
      return of[event.type](words.pagesInWords(event.pages.length));
  }
}

/** The engine's own words, folded away. */
function Detail({ of: { event } }: { of: Happening }) {
  const lines =
    event.type === 'reply-refused' ? event.parts.map((part) => `${part.part}: ${part.reason}${part.detail ? ` (${part.detail})` : ''}`)
    : event.type === 'filed-by-rules' ? [event.reason]
    : event.type === 'job-failed' ? [event.message]
    : [];
  if (lines.length === 0) return null;
  return (
    <details>
      <summary>{t.value.details}</summary>
      {lines.map((line, index) => (
        <code key={index}>{line}</code>
      ))}
    </details>
  );
}
