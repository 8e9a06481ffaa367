import assert from 'node:assert/strict';
import test from 'node:test';
import { bytesAt, quantile } from './figures.mjs';
import { pageOf, questionOf } from './grammar.mjs';

test('the same number gives the same page, and pages differ', () => {
  assert.deepEqual(pageOf(42), pageOf(42));
  const texts = Array.from({ length: 2_000 }, (_, n) => pageOf(n).userInput);
  assert.ok(new Set(texts).size > 1_900, `${new Set(texts).size} distinct texts of 2,000`);
  const chinese = texts.filter((t) => /\p{Script=Han}/u.test(t)).length / texts.length;
  assert.ok(chinese > 0.1 && chinese < 0.35, `${chinese} Chinese`);
});

test('texts are as long at the end as at the beginning, so bytes can be compared', () => {
  const mean = (from) => Array.from({ length: 1_000 }, (_, n) => Object.values(pageOf(from + n)).join('').length).reduce((a, b) => a + b) / 1_000;
  assert.ok(Math.abs(mean(0) / mean(9_000) - 1) < 0.08, `${mean(0)} and ${mean(9_000)} characters`);
});

test('questions are sentences of the same world', () => {
  assert.ok(Array.from({ length: 50 }, (_, n) => questionOf(n)).every((q) => /[?？]$/.test(q) && !q.includes('undefined')));
});

test('bytes of sealing and sinking are left out of an add and kept in the mean', () => {
  const adds = [{ bytes: 100 }, { bytes: 5_000, sealed: true }, { bytes: 900, sank: true }, { bytes: 110 }];
  assert.deepEqual(bytesAt(adds), { add: 105, amortised: 1528 });
  assert.throws(() => bytesAt([{ bytes: 1, sealed: true }]), /no add/);
  assert.equal(quantile([5, 1, 3], 0.5), 3);
});
