import assert from 'node:assert/strict';
import test from 'node:test';
import { toPages } from './pages.mjs';
import { loadSample } from './sample.mjs';

const sample = loadSample();
const han = /\p{Script=Han}/u;

test('the sample is long, bilingual and goes over weeks', () => {
  const days = (Date.parse(sample.turns.at(-1).time) - Date.parse(sample.turns[0].time)) / 86_400_000;
  assert.ok(sample.turns.length >= 70 && days > 35, `${sample.turns.length} turns over ${days} days`);
  const chinese = sample.turns.filter((turn) => han.test(turn.text)).length;
  assert.ok(chinese >= 20 && chinese <= sample.turns.length - 20, `${chinese} Chinese turns`);
  assert.equal(new Set(sample.turns.map((turn) => turn.id)).size, sample.turns.length);
});

test('time never goes backward, and every time says its zone', () => {
  const times = sample.turns.map((turn) => turn.time);
  assert.ok(times.every((t) => /T.*[+-]\d\d:\d\d$/.test(t)));
  assert.deepEqual([...times].sort((a, b) => Date.parse(a) - Date.parse(b)), times);
});

test('every turn finds its place in a page', () => {
  const pages = toPages(sample.turns);
  assert.equal(pages.flatMap((p) => [p.user, p.assistant]).filter(Boolean).length, sample.turns.length);
});

test('every question has evidence that holds what is expected, some of it in the other language', () => {
  const turns = new Map(sample.turns.map((turn) => [turn.id, turn.text]));
  for (const { question, evidence, expect } of sample.questions) {
    assert.ok(evidence.some((id) => turns.get(id)?.includes(expect)), question);
  }
  for (const lang of ['en', 'zh']) assert.ok(sample.questions.filter((q) => q.lang === lang).length >= 4, lang);
  assert.ok(sample.questions.some((q) => (q.lang === 'zh') !== q.evidence.some((id) => han.test(turns.get(id)))));
});
