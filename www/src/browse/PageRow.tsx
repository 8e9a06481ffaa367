import type { PageView } from 'memstrata';
import { speakerName } from '../chat/Passages';
import { showHeat, showTime, t } from '../i18n/language';
import { segments, tiers } from '../memory/view';
import { heatColour } from '../strata/heat';
import { themeOf } from '../strata/theme';

/** One page of memory. On a narrow screen the cells stand below one another. */
export function PageRow({ page, segmented, onDelete }: { page: PageView; segmented: boolean; onDelete: (page: PageView) => void }) {
  const words = t.value;
  const segment = page.segmentId === undefined ? undefined : segments.value.get(page.segmentId);
  return (
    <tr data-testid="memory-row" data-page-id={page.id}>
      <td class="when">{showTime(page.time)}</td>
      <td class="what">
        {page.userInput && <p dir="auto"><b>{speakerName(page.userName || 'user')}</b> {page.userInput}</p>}
        {page.agentResponse && <p dir="auto"><b>{speakerName(page.agentName || 'assistant')}</b> {page.agentResponse}</p>}
        {!page.userInput && !page.agentResponse && <p class="quiet">{words.noText}</p>}
        {page.waiting && <p class="quiet">{words.waitingMark}</p>}
      </td>
      {segmented && (
        <td class="segment-cell">
          {segment && (
            <>
              <span dir="auto">{themeOf(segment)}</span>{' '}
              <span class="heat-number">
                <span class="swatch" style={{ background: heatColour(segment.heat.value, tiers.value?.heatThreshold ?? 5) }} aria-hidden="true" />
                {words.heatValue(showHeat(segment.heat.value, tiers.value?.heatThreshold))}
              </span>
            </>
          )}
        </td>
      )}
      <td class="act">
        <button type="button" data-testid="delete-item" aria-label={words.deleteNamed((page.userInput || page.agentResponse).slice(0, 60))} onClick={() => onDelete(page)}>
          {words.delete}
        </button>
      </td>
    </tr>
  );
}
