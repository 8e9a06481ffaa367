import assert from 'node:assert/strict';
import test from 'node:test';
import { bestOf } from './vector.mjs';
import { Exact, recall } from './vector/exact.mjs';
import { PEERS, versionOf } from './vector/peers.mjs';
import { DIMS, openRows, synthetic } from './vector/rows.mjs';

const rows = synthetic(200);

test('any part of the rows can be made alone, and every row is a direction of its own', () => {
  const all = rows.slice(150, 260);
  assert.deepEqual(rows.slice(190, 230), all.subarray(40 * DIMS, 80 * DIMS));
  assert.deepEqual(synthetic(200).slice(150, 260), all);
  const each = Array.from({ length: 110 }, (_, n) => all.subarray(n * DIMS, (n + 1) * DIMS));
  for (const row of each) assert.ok(Math.abs(Math.hypot(...row) - 1) < 1e-5);
  assert.equal(new Set(each.map((row) => row.join())).size, 110);
});

test('without data rows are made, and it is said which file is missing', () => {
  const said = [];
  assert.match(openRows('/nowhere', (line) => said.push(line)).about, /made from a seed/);
  assert.match(said.join(), /nowhere.*real3584\.f32 is not there/);
});

test('what is truly nearest is found chunk by chunk, and recall is the share of it', () => {
  const exact = new Exact(rows.questions.slice(0, 6), 5);
  for (let first = 0; first < 300; first += 70) exact.take(first, rows.slice(first, Math.min(first + 70, 300)));
  const all = rows.slice(0, 300);
  const expected = rows.questions.slice(0, 6).map((question) => {
    const cosine = (n) => question.reduce((sum, x, at) => sum + x * all[n * DIMS + at], 0);
    return Array.from({ length: 300 }, (_, n) => n).sort((a, b) => cosine(b) - cosine(a)).slice(0, 5);
  });
  assert.deepEqual(exact.rows(), expected);
  assert.equal(recall(expected, expected), 1);
  assert.equal(recall(expected.map((found, n) => (n < 3 ? found : [])), expected), 0.5);
});

test('of the settings of a peer the fastest of good recall counts', () => {
  const tried = [{ cpu_ms: 1, recall: 0.98 }, { cpu_ms: 3, recall: 1 }, { cpu_ms: 2, recall: 0.99 }];
  assert.deepEqual(bestOf(tried), tried[2]);
  assert.deepEqual(bestOf(tried.slice(0, 1)), tried[0]);
});

for (const peer of PEERS) {
  test(`${peer.name} finds a row by itself`, async () => {
    if (peer.name !== 'plain-js') assert.match(versionOf(peer.name), /^\d/);
    const all = rows.slice(0, 100);
    const each = Array.from({ length: 100 }, (_, n) => all.subarray(n * DIMS, (n + 1) * DIMS));
    for (const { build } of peer.builds) {
      const index = await build(each, DIMS);
      for (const { name, search } of index.settings) assert.equal(Array.from(await search(each[42], 10))[0], 42, name);
      index.free();
    }
  });
}
