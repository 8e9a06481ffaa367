import { expect, test } from 'vitest';
import { groupFacts, groupTraits, recordKey, searchFacts } from '../src/persona/record';
import { fact, trait } from './fake-memory';

test('facts stand by subject, open before closed, pinned first, newest first', () => {
  const groups = groupFacts([
    fact('old', 'city', 'Lisbon', { validTo: 5, recordedAt: 9 }),
    fact('mia', 'plays', 'chess', { subject: 'other', subjectName: 'Mia' }),
    fact('bot', 'name', 'Iris', { subject: 'assistant' }),
    fact('new', 'city', 'Porto', { recordedAt: 3 }),
    fact('newer', 'pet', 'a cat', { recordedAt: 4 }),
    fact('pin', 'allergy', 'nuts', { pinned: true, recordedAt: 1 }),
    fact('Mia 2', 'lives in', 'Porto', { subject: 'other', subjectName: 'mia', recordedAt: 1 }),
    fact('ana', 'is', 'a sister', { subject: 'other', subjectName: 'Ana' }),
  ]);
  expect(groups.map((group) => [group.subject, group.name, group.facts.map((each) => each.id)])).toEqual([
    ['user', '', ['pin', 'newer', 'new', 'old']],
    ['assistant', '', ['bot']],
    ['other', 'Ana', ['ana']],
    ['other', 'Mia', ['Mia 2', 'mia']],
  ]);
});

test('a search looks into names, words and quotations', () => {
  const all = [fact('a', 'home city', 'Porto', { evidence: [{ pageId: 'p', role: 'user', quote: 'I moved by the river' }] }), fact('b', 'plays', 'chess', { subject: 'other', subjectName: 'Mia' })];
  expect(searchFacts(all, '  ').length).toBe(2);
  expect(searchFacts(all, 'RIVER city').map((each) => each.id)).toEqual(['a']);
  expect(searchFacts(all, 'mia').map((each) => each.id)).toEqual(['b']);
  expect(searchFacts(all, 'mia river')).toEqual([]);
});

test('traits stand by category, the surest first', () => {
  const groups = groupTraits([trait(61, { category: 'interest' }), trait(3), trait(1, { confidence: 0.8 })]);
  expect(groups.map((group) => [group.category, group.traits.map((each) => each.dimension)])).toEqual([['psychology', [1, 3]], ['interest', [61]]]);
});

test('a record has one name, whatever was there before or after', () => {
  expect(recordKey({ what: 'fact', id: 'f1', before: null, after: fact('f1', 'a', 'b') })).toBe('f1');
  expect(recordKey({ what: 'trait', id: 'x', before: trait(7), after: null })).toBe('trait_7');
  expect(recordKey({ what: 'profile', id: 'profile', before: null, after: { version: 1, of: 'assistant', text: '', recordedAt: 0 } })).toBe('profile_assistant');
});
