import { expect, test } from 'vitest';
import { joinQuotes } from '../src/chat/quotes';

test.each([
  ['One. Two. Three.', ['One.', 'Two.'], 'One. Two.'],
  ['One. Two. Three.', ['One.', 'Three.'], 'One. … Three.'],
  ['一。二。三。', ['一。', '二。'], '一。二。'],
  ['One.\n\nTwo.', ['One.', 'Two.'], 'One.\n\nTwo.'],
  ['One. Two.', ['One.', 'else'], 'One. … else'],
  ['One. One.', ['One.', 'One.'], 'One. One.'],
  ['One.', [], ''],
])('%j with %j', (text, quotes, joined) => {
  expect(joinQuotes(text, quotes)).toBe(joined);
});
