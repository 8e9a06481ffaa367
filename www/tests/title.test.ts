import { expect, test } from 'vitest';
import { isFragment, titleOf } from '../src/strata/title';

test.each([
  ['pottery · bowl', ['pottery', 'bowl', 'kiln'], 'pottery · bowl'],
  ['哪里', ['哪里', '住址', '哪里', '成都'], '哪里 · 住址 · 成都'],
  ['of', ['of', 'Of'], 'Where did we go on Sunday?'],
  ['', [], 'Where did we go on Sunday?'],
  ['yarn and', ['a', 'b', 'c', 'd', 'e'], 'yarn and'],
  ['the plan,', ['garden', 'plan'], 'garden · plan'],
])('theme %j with keywords %j is called %j', (theme, keywords, title) => {
  expect(titleOf({ theme, keywords }, 'Where did we go\n on Sunday?')).toBe(title);
});

test('something always stands for a segment that has any words, and it is never long', () => {
  expect(titleOf({ theme: 'ok', keywords: [] }, '')).toBe('ok');
  expect([...titleOf({ theme: '字'.repeat(500), keywords: [] }, '')]).toHaveLength(72);
});

test('short words in Chinese say more than short ones in English', () => {
  expect(isFragment('搬家记')).toBe(false);
  expect(isFragment('哪里')).toBe(true);
  expect(isFragment('tea')).toBe(true);
});
