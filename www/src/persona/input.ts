import type { FactInput, FactView } from 'memstrata';

/** A fact as it stands in a form: all of it text. */
export interface Draft {
  subject: FactView['subject'];
  subjectName: string;
  attribute: string;
  value: string;
  kind: FactView['kind'];
  /** As a date field has it, or empty. */
  since: string;
}

export function draftOf(fact?: FactView, attribute = ''): Draft {
  return {
    subject: fact?.subject ?? 'user',
    subjectName: fact?.subjectName ?? '',
    attribute: fact?.attribute ?? attribute,
    value: fact?.value ?? '',
    kind: fact?.kind ?? 'knowledge',
    since: fact?.validFrom == null ? '' : dateField(fact.validFrom),
  };
}

export type Lack = 'both' | 'name' | 'since';

/** What is missing before a draft can be a fact. A date can be changed; the engine has no way to take it out again. */
export function missing(draft: Draft, before: Draft = draft): Lack | null {
  if (draft.attribute.trim() === '' || draft.value.trim() === '') return 'both';
  if (draft.subject === 'other' && draft.subjectName.trim() === '') return 'name';
  return before.since !== '' && draft.since === '' ? 'since' : null;
}

export function inputOf(draft: Draft): FactInput {
  return {
    subject: draft.subject,
    ...(draft.subject === 'other' ? { subjectName: draft.subjectName.trim() } : {}),
    attribute: draft.attribute.trim(),
    value: draft.value.trim(),
    kind: draft.kind,
    ...(draft.since === '' ? {} : { validFrom: dayStart(draft.since) }),
  };
}

/** Only what was changed: what is left out stays as it is, to the second. */
export function changesOf(before: Draft, after: Draft): Partial<FactInput> {
  const old = inputOf(before);
  const now = inputOf(after);
  const changed = Object.entries(now).filter(([key]) => {
    if (key === 'validFrom') return before.since !== after.since;
    return old[key as keyof FactInput] !== now[key as keyof FactInput];
  });
  return Object.fromEntries(changed);
}

/** The reader's own day, as a date field wants it. */
function dateField(ms: number): string {
  const date = new Date(ms);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The last moment of a day where the reader is. */
export function endOfDay(day: string): number {
  const next = new Date(dayStart(day));
  next.setDate(next.getDate() + 1);
  return next.getTime() - 1;
}

/** The beginning of a day where the reader is. */
function dayStart(day: string): number {
  const [year = 1970, month = 1, date = 1] = day.split('-').map(Number);
  const start = new Date(2000, month - 1, date);
  start.setFullYear(year);
  return start.getTime();
}
