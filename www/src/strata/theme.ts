import type { SegmentView } from 'memstrata';
import { t } from '../i18n/language';
import { pages } from '../memory/view';
import { titleOf } from './title';

/** What a segment is called wherever it is named. */
export function themeOf(segment: SegmentView): string {
  const first = segment.pages[0] === undefined ? undefined : pages.value.get(segment.pages[0]);
  return titleOf(segment, first?.userInput || first?.agentResponse || '') || t.value.noText;
}
