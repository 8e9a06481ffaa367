import type { PageView } from 'memstrata';
import { t } from '../i18n/language';
import { pages } from '../memory/view';
import { showPage } from './selection';

/** The dialogue chain a page stands in: what it is about so far, and its neighbours. */
export function Chain({ page }: { page: PageView }) {
  const words = t.value;
  const pre = page.pre !== undefined && pages.value.has(page.pre) ? page.pre : undefined;
  const next = page.next !== undefined && pages.value.has(page.next) ? page.next : undefined;
  if (!page.metaInfo && pre === undefined && next === undefined) return null;
  return (
    <div class="chain" data-testid="chain">
      {page.metaInfo && (
        <p class="quiet" dir="auto">
          {words.chain}: {page.metaInfo}
        </p>
      )}
      {(pre !== undefined || next !== undefined) && (
        <p>
          {pre !== undefined && <button type="button" class="link" data-testid="chain-previous" onClick={() => showPage(pre)}>{words.chainPrevious}</button>}{' '}
          {next !== undefined && <button type="button" class="link" data-testid="chain-next" onClick={() => showPage(next)}>{words.chainNext}</button>}
        </p>
      )}
    </div>
  );
}
