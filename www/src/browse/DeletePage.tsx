import type { PageView } from 'memstrata';
import { t } from '../i18n/language';
import { segments } from '../memory/view';
import { Confirm } from '../shell/Confirm';
import { themeOf } from '../strata/theme';

/** Asks before a page goes, and shows what goes with it. */
export function DeletePage({ page, onAnswer }: { page: PageView; onAnswer: (yes: boolean) => void }) {
  const words = t.value;
  const segment = page.segmentId === undefined ? undefined : segments.value.get(page.segmentId);
  return (
    <Confirm title={words.deleteTitle} action={words.delete} onAnswer={onAnswer}>
      <blockquote dir="auto">{page.userInput || page.agentResponse || words.noText}</blockquote>
      <ul>
        <li>{words.deletePage}</li>
        <li>{!segment ? words.deleteShort : segment.pages.length > 1 ? words.deleteSegmentRewritten(themeOf(segment)) : words.deleteSegmentRemoved(themeOf(segment))}</li>
      </ul>
    </Confirm>
  );
}
