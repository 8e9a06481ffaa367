import type { EvidenceView } from 'memstrata';
import { showPage } from '../browse/selection';
import { showDate, t } from '../i18n/language';
import { pages } from '../memory/view';

/** What a fact or a trait rests on, word for word, each leading to the page it was said on. Text nodes only. */
export function Quotes({ evidence, open = false }: { evidence: EvidenceView[]; open?: boolean }) {
  const words = t.value;
  if (evidence.length === 0) return <p class="quiet">{words.noQuotes}</p>;
  return (
    // One is read at a glance; more are folded away.
    <details class="quotes" open={open || evidence.length === 1}>
      <summary>{words.quotes(evidence.length)}</summary>
      <ul class="plain">
        {evidence.map((each) => {
          const page = pages.value.get(each.pageId);
          return (
            <li key={`${each.pageId} ${each.role} ${each.quote}`}>
              <blockquote dir="auto" data-testid="quote" data-page-id={each.pageId}>{each.quote}</blockquote>
              <p class="quiet">
                {words.quoteBy[each.role]}
                {page && `, ${showDate(page.time)}`}
                {page && (
                  <>
                    {' · '}
                    <button type="button" class="link" data-testid="to-page" aria-description={each.quote} onClick={() => showPage(each.pageId)}>
                      {words.toPage}
                    </button>
                  </>
                )}
              </p>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
