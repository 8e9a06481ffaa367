import { expect, test } from 'vitest';
import { marked } from '../src/inspector/Evidence';

const shown = (text: string, quotes: string[]): string => marked(text, quotes).map((piece) => (piece.quoted ? `[${piece.text}]` : piece.text)).join('');

test.each([
  ['one two three', ['two'], 'one [two] three'],
  ['one two three', ['three', 'one'], '[one] two [three]'],
  ['one two three', ['one two', 'two three'], '[one two][ three]'],
  ['one', ['two'], 'one'],
  ['<b>one</b>', ['<b>'], '[<b>]one</b>'],
  ['one', ['', 'one'], '[one]'],
  ['one', [], 'one'],
])('%j with %j', (text, quotes, expected) => {
  expect(shown(text, quotes)).toBe(expected);
});
