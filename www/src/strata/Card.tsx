import { Chain } from '../browse/Chain';
import { litPages } from '../chat/log';
import { speakerName } from '../chat/Passages';
import { showTime, t } from '../i18n/language';
import { pages, segments, tiers } from '../memory/view';
import { themeOf } from './theme';
import { HeatTerms } from './HeatTerms';
import { RecordCard } from './RecordCard';
import { held, selected, type Selected } from './selection';

/** Text, date and heat of what is pointed at, focused or tapped. It can be entered with the pointer, and Escape closes it. */
export function Card() {
  const item = selected.value;
  const words = t.value;
  if (!item || !tiers.value) return null;
  const page = item.kind === 'page' ? pages.value.get(item.id) : undefined;
  const segment = item.kind === 'segment' ? segments.value.get(item.id) : undefined;
  const record = item.kind === 'record' ? item.id : undefined;
  if (!page && !segment && record === undefined) return null;
  return (
    <div class={`card${held.value ? ' held' : ''}${liesLow(item) ? ' above' : ''}`} data-testid="strata-card">
      <button
        type="button"
        class="icon close"
        aria-label={words.close}
        onClick={() => {
          held.value = false;
          selected.value = null;
        }}
      >
        <span aria-hidden="true">×</span>
      </button>
      {page && (
        <>
          <p class="when">
            {showTime(page.time)}
            {page.waiting && <span class="mark"> · {words.waitingMark}</span>}
            {litPages.value.has(page.id) && <span class="mark used"> · {words.usedMark}</span>}
          </p>
          {page.userInput && <p dir="auto"><b>{speakerName(page.userName || 'user')}</b> {page.userInput}</p>}
          {page.agentResponse && <p dir="auto"><b>{speakerName(page.agentName || 'assistant')}</b> {page.agentResponse}</p>}
          {page.neverRecall && <p class="quiet">{words.neverMark}</p>}
          <Chain page={page} />
        </>
      )}
      {segment && (
        <>
          <p class="when">
            {words.pageCount(segment.pages.length)} · {showTime(segment.endTime)}
            {!segment.enriched && <span class="mark"> · {words.unenriched}</span>}
          </p>
          <p class="card-theme" dir="auto">{themeOf(segment)}</p>
          {segment.summary && <p dir="auto">{segment.summary}</p>}
          <HeatTerms segment={segment} tau={tiers.value.heatThreshold} />
        </>
      )}
      {record !== undefined && <RecordCard id={record} />}
    </div>
  );
}

const ATTRIBUTES: Record<Selected['kind'], string> = { page: 'data-page-id', segment: 'data-segment-id', record: 'data-record-id' };

/** True where the card at the foot would cover what it tells about. */
function liesLow(item: Selected): boolean {
  const drawing = document.querySelector('.drawing')?.getBoundingClientRect();
  const shape = document.querySelector(`.drawing [${ATTRIBUTES[item.kind]}="${CSS.escape(item.id)}"]`)?.getBoundingClientRect();
  return drawing !== undefined && shape !== undefined && shape.top + shape.height / 2 > drawing.top + drawing.height / 2;
}
