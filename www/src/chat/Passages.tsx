import type { RetrieveResult } from 'memstrata';
import { showTime, t } from '../i18n/language';
import { forgotten } from '../memory/view';

/** The answer of memory-only mode: what was said, by whom and when, in order of time. */
export function Passages({ recall }: { recall: RetrieveResult }) {
  const words = t.value;
  const packed = recall.hits.filter((hit) => hit.packed && !forgotten.value.has(hit.pageId)).sort((a, b) => (a.time ?? 0) - (b.time ?? 0));
  if (packed.length === 0) return <p>{words.nothingRecalled}</p>;
  return (
    <>
      <p class="quiet">{words.passages(packed.length)}</p>
      <ol class="passages">
        {packed.map((hit) => (
          <li key={hit.id}>
            <p class="quiet">
              <b>{speakerName(hit.speaker)}</b> · {showTime(hit.time)}
            </p>
            <blockquote dir="auto">{hit.quotes.length ? hit.quotes.join(' … ') : hit.text}</blockquote>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Roles are words of the page and are translated; names are the conversation's own. */
export function speakerName(speaker: string): string {
  if (speaker === 'user') return t.value.you;
  return speaker === 'assistant' ? t.value.assistant : speaker;
}
