import type { SegmentView } from 'memstrata';
import { t } from '../i18n/language';
import { pages } from '../memory/view';

/** A segment's title; where rules found no keywords, the first words that were said in it. */
export function themeOf(segment: SegmentView): string {
  const first = segment.pages[0] === undefined ? undefined : pages.value.get(segment.pages[0]);
  return segment.theme || segment.keywords.join(', ') || first?.userInput || first?.agentResponse || t.value.noText;
}
