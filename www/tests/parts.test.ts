import { expect, test } from 'vitest';
import type { Hit } from 'memstrata';
import { familyOf, isKnown, sums } from '../src/inspector/parts';

test('the families of a hit sum to its score', () => {
  const parts = [{ name: 'pba', value: 2 }, { name: 'gbs', value: 0.5 }, { name: 'odt', value: 1 }, { name: 'isq', value: -0.25 }, { name: 'brand-new', value: 0.125 }];
  const added = sums({ parts } as Hit);
  expect(added).toEqual([{ family: 'words', value: 2.5 }, { family: 'meaning', value: 1 }, { family: 'form', value: -0.125 }]);
  expect(added.reduce((sum, { value }) => sum + value, 0)).toBe(parts.reduce((sum, { value }) => sum + value, 0));
});

test('a term of a later engine, or one named like a member of every object, is shown and not looked up', () => {
  for (const name of ['brand-new', 'constructor', '__proto__']) {
    expect(isKnown(name)).toBe(false);
    expect(familyOf(name)).toBe('form');
  }
});
