import assert from 'node:assert/strict';
import test from 'node:test';
import { goldSentence, sentences, stems } from './atoms.mjs';
import { main, options } from './eval.mjs';
import { packedTurns, shares } from './locomo.mjs';
import { rankFigures, ranking, recallAt, reciprocalRank } from './measure.mjs';
import { TurnMap } from '../lib/pages.mjs';

test('sentences are cut and glued as in the reference', () => {
  assert.deepEqual(sentences('Hi Ben! I adopted a puppy from the shelter yesterday. Her name is Luna.'), [
    'Hi Ben! I adopted a puppy from the shelter yesterday.', 'Her name is Luna.',
  ]);
  assert.deepEqual(sentences('我上周去了图书馆，借了一本科幻小说。书名叫《三体》，非常好看！'), ['我上周去了图书馆，借了一本科幻小说。', '书名叫《三体》，非常好看！']);
  assert.deepEqual(sentences('   '), ['   ']);
});

test('stems leave stop words out and cut Chinese into bigrams and characters', () => {
  assert.deepEqual(stems('She was running to the libraries'), ['run', 'librari']);
  assert.deepEqual(stems('看电影'), ['看电', '电影', '看', '电', '影']);
});

test('the gold sentence is the one that overlaps with the answer', () => {
  const text = 'We went out on Friday with the whole team. The restaurant was called Il Mulino and I loved it.';
  assert.equal(goldSentence(text, 'Where did they eat?', 'Il Mulino'), 'The restaurant was called Il Mulino and I loved it.');
});

const turn = { id: 'D1:3', text: 'Long day at work. I adopted a puppy called Luna.' };
const question = { question: 'What is the puppy called?', answer: 'Luna' };
const map = new TurnMap();
map.set('p1', { user: turn });
const hit = (quotes, packed = true) => ({ id: 'p1/user', pageId: 'p1', role: 'user', quotes, packed });

test('a turn counts as found only when the context holds a sentence of it', () => {
  const found = (hits, context) => shares(packedTurns({ hits, context }, map), [turn], question);
  assert.deepEqual(found([hit(['I adopted a puppy called Luna.'])], 'Ann: I adopted a puppy\n called Luna.'), { evidence: 1, strict: 1 });
  assert.deepEqual(found([hit(['Long day at work.'])], 'Ann: Long day at work.'), { evidence: 1, strict: 0 });
  assert.deepEqual(found([hit(['Long day at work.'])], 'Ann: nothing of the kind'), { evidence: 0, strict: 0 });
  assert.deepEqual(found([hit([], false)], ''), { evidence: 0, strict: 0 });
});

test('a page ranks by its best hit', () => {
  const hits = [{ k: 'a', score: 1 }, { k: 'b', score: 3 }, { k: 'a', score: 4 }, { k: 'c', score: 2 }];
  assert.deepEqual(ranking(hits, (h) => h.k), ['a', 'b', 'c']);
  assert.equal(recallAt(['a', 'b', 'c'], ['b', 'z'], 2), 0.5);
  assert.equal(reciprocalRank(['a', 'b'], ['b']), 0.5);
  assert.equal(reciprocalRank(['a', 'b'], ['z']), 0);
  assert.deepEqual(rankFigures([{ ranked: ['a'], evidence: ['a'] }, { ranked: ['b', 'a'], evidence: ['a'] }], [1, 3], 'S'), {
    'S@1': 0.5, 'S@3': 1, MRR: 0.75, questions: 2,
  });
});

test('absent data is named with its source and licence, and fails only when nothing is left', async () => {
  const lines = [];
  const code = await main(['--data', '/nowhere', '--sets', 'locomo,gvd-cn'], (line) => lines.push(line));
  assert.equal(code, 1);
  assert.match(lines[0], /\/nowhere\/locomo-dev\.json, skipped[^]*snap-research\/locomo[^]*NC/);
  assert.match(lines[1], /gvd-cn-dev\.json[^]*MIT/);
});

test('arguments that make no sense are refused by name', () => {
  assert.throws(() => options([]), /--data/);
  assert.throws(() => options(['--data', 'd', '--sets', 'squad']), /squad/);
  assert.throws(() => options(['--data', 'd', '--budgets', '12,x']), /12,x/);
  assert.throws(() => options(['--data', 'd', '--embedder', 'gpt']), /gpt/);
});
