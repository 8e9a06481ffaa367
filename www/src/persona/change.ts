import type { ChangeStepView, FactView, ProfileText, TraitView } from 'memstrata';
import type { Dictionary } from '../i18n/en';

export type StepKind = keyof Dictionary['stepKinds'];
export type Field = keyof Dictionary['fields'];

/** A value of a record, to be told in the reader's language. */
export type FieldValue = { as: 'text'; text: string } | { as: 'yes-no'; yes: boolean } | { as: 'time'; time: number | null; phrase?: string | undefined } | { as: 'share'; share: number } | { as: 'count'; count: number } | { as: 'word'; of: 'sources' | 'factKinds' | 'levels'; word: string };

/** One field that a change touched. */
export interface Difference {
  field: Field;
  before: FieldValue | null;
  after: FieldValue | null;
}

/** What a step did to its record. */
export function kindOf(step: ChangeStepView): StepKind {
  if (step.before === null) return 'added';
  if (step.after === null) return 'removed';
  if (step.what === 'fact') {
    if (step.before.validTo === null && step.after.validTo !== null) return 'closed';
    if (step.before.validTo !== null && step.after.validTo === null) return 'reopened';
  }
  return 'changed';
}

/** The fields that differ between before and after; of a record that came or went, those that tell what it is. */
export function differences(step: ChangeStepView): Difference[] {
  const before = fieldsOf(step, step.before);
  const after = fieldsOf(step, step.after);
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names
    .map((field) => ({ field, before: before.get(field) ?? null, after: after.get(field) ?? null }))
    .filter((each) => JSON.stringify(each.before) !== JSON.stringify(each.after));
}

function fieldsOf(step: ChangeStepView, record: FactView | ProfileText | TraitView | null): Map<Field, FieldValue> {
  if (record === null) return new Map();
  if (step.what === 'fact') return factFields(record as FactView);
  if (step.what === 'profile') return new Map([['text', text((record as ProfileText).text)]]);
  const trait = record as TraitView;
  return new Map<Field, FieldValue>([
    ['level', { as: 'word', of: 'levels', word: trait.level }],
    ['confidence', { as: 'share', share: trait.confidence }],
    ['evidence', { as: 'count', count: trait.evidence.length }],
  ]);
}

/** What is usual, unset or nought is left out: it tells nothing of a record that is new. */
function factFields(fact: FactView): Map<Field, FieldValue> {
  const fields = new Map<Field, FieldValue>();
  if (fact.subject === 'other') fields.set('subject', text(fact.subjectName ?? ''));
  fields.set('attribute', text(fact.attribute));
  fields.set('value', text(fact.value));
  fields.set('kind', { as: 'word', of: 'factKinds', word: fact.kind });
  fields.set('source', { as: 'word', of: 'sources', word: fact.source });
  fields.set('confidence', { as: 'share', share: fact.confidence });
  if (fact.validFrom !== null || fact.validFromPhrase) fields.set('since', { as: 'time', time: fact.validFrom, phrase: fact.validFromPhrase });
  if (fact.validTo !== null) fields.set('until', { as: 'time', time: fact.validTo });
  if (fact.evidence.length > 0) fields.set('evidence', { as: 'count', count: fact.evidence.length });
  for (const mark of ['pinned', 'neverRecall', 'archived'] as const) if (fact[mark]) fields.set(mark, { as: 'yes-no', yes: true });
  return fields;
}

function text(value: string): FieldValue {
  return { as: 'text', text: value };
}

/** Of a record that was there before and is there after, a mark that is unset says "no"; of others it says nothing. */
export function shownValue(value: FieldValue | null, other: FieldValue | null): FieldValue | null {
  return value === null && other?.as === 'yes-no' ? { as: 'yes-no', yes: !other.yes } : value;
}
