import { expect, test } from 'vitest';
import { nameByOrder, order } from './order.mjs';

const text = (s) => Buffer.from(s);

test('what resembles each other stands together, from the longest on', () => {
  const bodies = ['once upon a time there was a house', 'the quick brown fox', 'upon a time there', 'a quick brown fox'].map(text);
  const found = order(bodies);
  expect(found.slice(0, 2)).toEqual([0, 2]);
  expect([...found].sort()).toEqual([0, 1, 2, 3]);
  expect(Math.abs(found.indexOf(1) - found.indexOf(3))).toBe(1);
  expect(order([])).toEqual([]);
});

test('every function gets the name of its place, and the file stays valid', async () => {
  // One imported function, and two of its own that do nothing; the second is longer.
  const wasm = Buffer.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, 7, 1, 1, 0x61, 1, 0x62, 0, 0, 3, 3, 2, 0, 0, 10, 8, 2, 2, 0, 11, 3, 0, 1, 11,
  ]);
  const named = nameByOrder(wasm);
  const module = await WebAssembly.compile(named);
  const [names] = WebAssembly.Module.customSections(module, 'name').map((section) => Buffer.from(section));
  expect([...names]).toEqual([1, 17, 2, 1, 6, ...text('000001'), 2, 6, ...text('000000')]);
});
