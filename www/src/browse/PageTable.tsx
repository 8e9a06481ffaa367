import { useState } from 'preact/hooks';
import type { PageView } from 'memstrata';
import { showCount, t } from '../i18n/language';
import { PageRow } from './PageRow';

const ROWS_AT_ONCE = 50;

/** The pages of one tier, newest first. */
export function PageTable({ name, list, onDelete, onNever }: { name: string; list: PageView[]; onDelete: (page: PageView) => void; onNever: (page: PageView) => void }) {
  const [limit, setLimit] = useState(ROWS_AT_ONCE);
  const words = t.value;
  if (list.length === 0) return null;
  // Short-term pages have no segment yet: a column for it would stand empty.
  const segmented = list.some((page) => page.segmentId !== undefined);
  const more = Math.min(ROWS_AT_ONCE, list.length - limit);
  return (
    <>
      <table class="pages">
        <caption>
          {name} <span class="quiet">{words.pageCount(list.length)}</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">{words.columnWhen}</th>
            <th scope="col">{words.columnWhat}</th>
            {segmented && <th scope="col">{words.columnSegment}</th>}
            <th scope="col">
              <span class="visually-hidden">{words.columnAction}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list.slice(0, limit).map((page) => (
            <PageRow key={page.id} page={page} segmented={segmented} onDelete={onDelete} onNever={onNever} />
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <button type="button" onClick={() => setLimit(limit + ROWS_AT_ONCE)}>
          {words.showMore(showCount(more))}
        </button>
      )}
    </>
  );
}
