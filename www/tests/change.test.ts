import { expect, test } from 'vitest';
import type { ChangeStepView, FactView } from 'memstrata';
import { differences, kindOf, shownValue } from '../src/persona/change';
import { fact, trait } from './fake-memory';

const step = (before: Partial<FactView> | null, after: Partial<FactView> | null): ChangeStepView => ({
  what: 'fact', id: 'f', before: before && fact('f', 'city', 'Lisbon', before), after: after && fact('f', 'city', 'Lisbon', after),
});

test.each([
  ['added', step(null, {})],
  ['removed', step({}, null)],
  ['closed', step({}, { validTo: 5 })],
  ['reopened', step({ validTo: 5 }, {})],
  ['changed', step({}, { pinned: true })],
])('%s', (kind, of) => {
  expect(kindOf(of)).toBe(kind);
});

test('only what differs is told', () => {
  expect(differences(step({}, {}))).toEqual([]);
  expect(differences(step({ confidence: 0.5 }, { confidence: 0.9, value: 'Porto' })).map((each) => each.field)).toEqual(['value', 'confidence']);
  expect(differences(step({ validFrom: 1, validFromPhrase: 'last week' }, { validFrom: 1, validFromPhrase: 'last year' }))).toEqual([
    { field: 'since', before: { as: 'time', time: 1, phrase: 'last week' }, after: { as: 'time', time: 1, phrase: 'last year' } },
  ]);
  expect(differences({ what: 'trait', id: 't', before: trait(1, { level: 'low' }), after: trait(1) }).map((each) => each.field)).toEqual(['level']);
});

test('a mark that came says that it was not there', () => {
  const [pinned] = differences(step({}, { pinned: true }));
  expect(shownValue(pinned!.before, pinned!.after)).toEqual({ as: 'yes-no', yes: false });
  expect(shownValue(pinned!.after, pinned!.before)).toEqual({ as: 'yes-no', yes: true });
  expect(shownValue(null, { as: 'text', text: 'x' })).toBeNull();
});
