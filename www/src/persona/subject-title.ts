import type { Subject } from 'memstrata';
import { t } from '../i18n/language';

/** Whom facts are about, as a heading. */
export function subjectTitle({ subject, name }: { subject: Subject; name: string }): string {
  const words = t.value;
  if (subject === 'user') return words.aboutYou;
  return subject === 'assistant' ? words.aboutAssistant : words.aboutOther(name || words.someoneElse);
}
