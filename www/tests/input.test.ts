import { expect, test } from 'vitest';
import { changesOf, draftOf, endOfDay, inputOf, missing } from '../src/persona/input';
import { fact } from './fake-memory';

test('a fact that is opened and saved unchanged changes nothing', () => {
  const draft = draftOf(fact('f', 'home city', 'Porto', { validFrom: Date.UTC(2024, 4, 6, 13, 30), subject: 'other', subjectName: 'Mia' }));
  expect(changesOf(draft, draft)).toEqual({});
  expect(changesOf(draft, { ...draft, value: ' Porto ' })).toEqual({});
});

test('only what was changed is sent', () => {
  const draft = draftOf(fact('f', 'home city', 'Porto'));
  expect(changesOf(draft, { ...draft, value: 'Braga' })).toEqual({ value: 'Braga' });
  expect(changesOf(draft, { ...draft, subject: 'other', subjectName: 'Mia' })).toEqual({ subject: 'other', subjectName: 'Mia' });
});

test('a day begins where the reader is, and comes back as the same day', () => {
  const start = inputOf({ ...draftOf(), attribute: 'a', value: 'b', since: '2024-03-31' }).validFrom as number;
  expect(new Date(start).getHours()).toBe(0);
  expect(draftOf(fact('f', 'a', 'b', { validFrom: start })).since).toBe('2024-03-31');
  expect(new Date(inputOf({ ...draftOf(), since: '0099-01-02' }).validFrom as number).getFullYear()).toBe(99);
});

test('a day ends before the next begins, on days of 23 and 25 hours too', () => {
  for (const [day, next] of [['2024-03-31', '2024-04-01'], ['2024-10-27', '2024-10-28'], ['2024-12-31', '2025-01-01']]) {
    expect(endOfDay(day!) + 1).toBe(inputOf({ ...draftOf(), since: next! }).validFrom);
  }
});

test('what is missing is told', () => {
  const draft = { ...draftOf(), attribute: 'likes', value: 'tea' };
  expect(missing(draft)).toBeNull();
  expect(missing({ ...draft, value: '  ' })).toBe('both');
  expect(missing({ ...draft, subject: 'other' })).toBe('name');
  expect(missing(draft, { ...draft, since: '2024-01-02' })).toBe('since');
});
