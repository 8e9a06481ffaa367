import { expect, test } from 'vitest';
import { show, SurrogateJoiner, wellFormed } from './text.js';

test('case_10_lone_surrogates_become_replacement_characters', () => {
  expect(wellFormed('a\ud83db\udf0dc')).toBe('a\ufffdb\ufffdc');
  expect(wellFormed('\ud83d')).toBe('\ufffd');
  expect(wellFormed('\udf0d\ud83d')).toBe('\ufffd\ufffd');
  expect(wellFormed('🌍 ok 你好')).toBe('🌍 ok 你好');
});

test('case_10_a_pair_cut_between_two_pieces_is_joined', () => {
  const joiner = new SurrogateJoiner();
  expect([joiner.push('a\ud83c'), joiner.push('\udf0d b'), joiner.push('\ud83c'), joiner.push('x'), joiner.push('\ud83c'), joiner.end()].join('|')).toBe('a|🌍 b||\ufffdx||\ufffd');
});

test('values are shown short and on one line', () => {
  expect(show('a\nb')).toBe('"a\\nb"');
  expect(show('x'.repeat(500)).length).toBe(80);
  const circular: unknown[] = [];
  circular.push(circular);
  expect(show(circular)).toBe('[object Array]');
  expect([show(undefined), show(Number.NaN), show(10n), show(Symbol('s'))]).toEqual(['undefined', 'NaN', '10', 'Symbol(s)']);
});
