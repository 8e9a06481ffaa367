import type { SegmentView, TiersView } from 'memstrata';
import { litFacts, litPages } from '../chat/log';
import { showHeat, showTime, t } from '../i18n/language';
import { moved } from '../memory/persona';
import { pages } from '../memory/view';
import type { Bed } from './bedrock';
import { beds, openRecord } from './records';
import { themeOf } from './theme';
import { HeatTerms } from './HeatTerms';

/** The picture's content as a list, for reading and for screen readers. */
export function Outline({ view }: { view: TiersView }) {
  const words = t.value;
  return (
    // Scrolls by itself, so the keyboard must be able to stand in it.
    <div class="outline" tabIndex={0} role="region" aria-label={words.strataTitle}>
      <h3>{words.shortTerm}</h3>
      {view.shortTerm.length === 0 ? <p class="quiet">{words.shortTermEmpty}</p> : (
        <ol>
          {view.shortTerm.map((page) => (
            <PageItem key={page.id} id={page.id} waiting={page.waiting} />
          ))}
        </ol>
      )}
      <h3>{words.midTerm}</h3>
      {view.midTerm.length === 0 ? <p class="quiet">{words.midTermEmpty}</p> : <Segments list={view.midTerm} tau={view.heatThreshold} />}
      {view.archive.length > 0 && (
        <>
          <h3>{words.archive}</h3>
          <Segments list={view.archive} tau={view.heatThreshold} />
        </>
      )}
      <h3>{words.longTerm}</h3>
      {beds.value.length === 0 ? <p class="quiet">{words.longTermNote}</p> : (
        <ul>
          {beds.value.map((bed) => (
            <BedItem key={bed.id} bed={bed} />
          ))}
        </ul>
      )}
    </div>
  );
}

function BedItem({ bed }: { bed: Bed }) {
  const words = t.value;
  const marks = [moved.value.has(bed.id) ? words.movedMark : '', litFacts.value.has(bed.id) ? words.usedMark : ''].filter(Boolean);
  return (
    <li dir="auto">
      <button type="button" class="link" onClick={() => openRecord(bed.id)}>{bed.struck ? <s>{bed.label}</s> : bed.label}</button>
      {marks.length > 0 && <span class="quiet"> {marks.join(', ')}</span>}
    </li>
  );
}

function Segments({ list, tau }: { list: SegmentView[]; tau: number }) {
  const words = t.value;
  return (
    <ul>
      {[...list]
        .sort((a, b) => b.heat.value - a.heat.value)
        .map((segment) => (
          <li key={segment.id}>
            <details>
              <summary>
                <span dir="auto">{themeOf(segment)}</span> <span class="quiet">{words.pageCount(segment.pages.length)}, {words.heatValue(showHeat(segment.heat.value, tau))}</span>
              </summary>
              {segment.summary && <p dir="auto">{segment.summary}</p>}
              {!segment.enriched && <p class="quiet">{words.unenriched}</p>}
              <HeatTerms segment={segment} tau={tau} />
              <ol>
                {segment.pages.map((id) => (
                  <PageItem key={id} id={id} waiting={false} />
                ))}
              </ol>
            </details>
          </li>
        ))}
    </ul>
  );
}

function PageItem({ id, waiting }: { id: string; waiting: boolean }) {
  const page = pages.value.get(id);
  const words = t.value;
  if (!page) return null;
  return (
    <li>
      <span class="quiet">
        {showTime(page.time)}
        {waiting && `, ${words.waitingMark}`}
        {litPages.value.has(id) && `, ${words.usedMark}`}
      </span>{' '}
      <span dir="auto">{[page.userInput, page.agentResponse].filter(Boolean).join(' — ')}</span>
    </li>
  );
}
