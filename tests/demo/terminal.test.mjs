import assert from 'node:assert/strict';
import test from 'node:test';
import { painter, progressLine, quoteOf, when } from './terminal.mjs';

test('colours only on a terminal, and never with NO_COLOR', () => {
  assert.equal(painter({ isTTY: true }, {}).bold('x'), '\u001b[1mx\u001b[0m');
  assert.equal(painter({ isTTY: true }, { NO_COLOR: '1' }).bold('x'), 'x');
  assert.equal(painter({}, {}).heat('x', 2), 'x');
});

test('progress prints each quarter where lines cannot be rewritten', () => {
  const lines = [];
  const line = progressLine({ write: (s) => lines.push(s) }, 'importing');
  for (let done = 1; done <= 42; done += 1) line.show({ done, total: 42 });
  line.end();
  assert.equal(lines.length, 4);
  assert.equal(lines.at(-1), 'importing 42 of 42 pages\n');
});

test("dates are the speaker's, quotes are cut between characters", () => {
  assert.equal(when({ time: Date.parse('2026-04-02T20:15:00+08:00'), offsetMinutes: 480 }), '2026-04-02 20:15');
  assert.equal(quoteOf({ quotes: ['a', 'b'], text: '' }), '"a … b"');
  assert.equal(quoteOf({ quotes: [], text: '😋'.repeat(9) }, 5), '"😋😋😋😋…"');
});
