import type { PageView } from 'memstrata';
import { speakerName } from '../chat/Passages';
import { showHeat, showTime, t } from '../i18n/language';
import { segments, tiers } from '../memory/view';
import { heatColour } from '../strata/heat';
import { Chain } from './Chain';
import { themeOf } from '../strata/theme';

/** One page of memory. On a narrow screen the cells stand below one another. */
export function PageRow({ page, segmented, onDelete, onNever }: { page: PageView; segmented: boolean; onDelete: (page: PageView) => void; onNever: (page: PageView) => void }) {
  const words = t.value;
  const held = page.segmentIds.map((id) => segments.value.get(id)).filter((segment) => segment !== undefined);
  const start = (page.userInput || page.agentResponse).slice(0, 60);
  return (
    <tr tabIndex={-1} data-testid="memory-row" data-page-id={page.id} data-never={page.neverRecall ? 'true' : undefined}>
      <td class="when">{showTime(page.time)}</td>
      <td class="what">
        {page.userInput && <p dir="auto"><b>{speakerName(page.userName || 'user')}</b> {page.userInput}</p>}
        {page.agentResponse && <p dir="auto"><b>{speakerName(page.agentName || 'assistant')}</b> {page.agentResponse}</p>}
        {!page.userInput && !page.agentResponse && <p class="quiet">{words.noText}</p>}
        {page.waiting && <p class="quiet">{words.waitingMark}</p>}
        {page.neverRecall && <p class="quiet" data-testid="never-mark">{words.neverMark}</p>}
        <Chain page={page} />
      </td>
      {segmented && (
        <td class="segment-cell">
          {held.map((segment) => (
            <p key={segment.id}>
              <span dir="auto">{themeOf(segment)}</span>{' '}
              <span class="heat-number">
                <span class="swatch" style={{ background: heatColour(segment.heat.value, tiers.value?.heatThreshold ?? 5) }} aria-hidden="true" />
                {words.heatValue(showHeat(segment.heat.value, tiers.value?.heatThreshold))}
              </span>
              {!segment.enriched && <span class="quiet"> · {words.unenriched}</span>}
            </p>
          ))}
        </td>
      )}
      <td class="act">
        <button type="button" data-testid="delete-item" aria-label={words.deleteNamed(start)} onClick={() => onDelete(page)}>
          {words.delete}
        </button>{' '}
        <button type="button" data-testid="never-item" aria-pressed={page.neverRecall} aria-description={start} onClick={() => onNever(page)}>
          {words.neverRecall}
        </button>
      </td>
    </tr>
  );
}
