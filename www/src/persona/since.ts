import type { FactView } from 'memstrata';
import { showDate, t } from '../i18n/language';

/** Since when a fact holds: the words that said so, with the date they mean. An event is at a time, not since one. */
export function sinceWords(fact: FactView): string {
  const words = t.value;
  const when = showDate(fact.validFrom);
  if (fact.validFromPhrase) return fact.kind === 'event' ? words.atPhrase(fact.validFromPhrase, when) : words.sincePhrase(fact.validFromPhrase, when);
  if (fact.validFrom === null) return words.noted(showDate(fact.recordedAt));
  return fact.kind === 'event' ? words.at(when) : words.since(when);
}
