import type { SegmentView } from 'memstrata';

const MOST_KEYWORDS = 4;
const MOST_CHARS = 72;

/** A segment's title. Where its theme says too little the first keywords stand for it, and where they do too, what was said first in it. */
export function titleOf(segment: Pick<SegmentView, 'theme' | 'keywords'>, firstWords: string): string {
  const keywords = distinct(segment.keywords).slice(0, MOST_KEYWORDS).join(' · ');
  const said = shorten(firstWords);
  const choices = [segment.theme.trim(), keywords, said];
  return shorten(choices.find((choice) => !isFragment(choice)) ?? choices.find((choice) => choice !== '') ?? '');
}

/** Too little to tell one topic from another: one short word, or words that break off. */
export function isFragment(text: string): boolean {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return (han > 0 ? letters < 3 : letters < 4) || /[,;:、，；：(（“-]$/u.test(text.trim());
}

function distinct(keywords: string[]): string[] {
  const seen = new Set<string>();
  return keywords.filter((keyword) => {
    const key = keyword.toLocaleLowerCase();
    return key.trim() !== '' && !seen.has(key) && seen.add(key);
  });
}

function shorten(text: string): string {
  const flat = text.replace(/\s+/gu, ' ').trim();
  const chars = [...flat];
  return chars.length <= MOST_CHARS ? flat : `${chars.slice(0, MOST_CHARS - 1).join('').trimEnd()}…`;
}
