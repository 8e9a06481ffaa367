import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { plot, read } from './plot.mjs';
import { keywordPeers, wholePeers } from './retrieval/peers.mjs';

test('the plot of the README is that of the committed records', () => {
  const committed = readFileSync(new URL('record/plot.svg', import.meta.url), 'utf8');
  assert.equal(plot(read('retrieval'), read('vector')), committed, 'node tests/bench/plot.mjs draws it anew');
});

test('peers of the search over texts find the turn that holds the question’s words', async () => {
  const turns = [
    { key: 'a', text: 'Ines: the kiln cracked on Tuesday' },
    { key: 'b', text: 'Ben: we went to the harbour for squid' },
    { key: 'c', text: 'Ines: my sister plays the cello' },
  ];
  const vectors = turns.map((_, at) => Float32Array.from({ length: 384 }, (_, i) => Number(i % 3 === at)));
  const vectorOf = async (text) => vectors[Math.max(0, turns.findIndex((turn) => turn.text === text))];
  for (const { name, version, build } of [...keywordPeers, ...wholePeers]) {
    assert.match(version, /^\d+\.\d+/, name);
    const search = await build(turns, vectorOf, 2);
    const found = await search('squid at the harbour');
    assert.ok(found.length > 0 && found.length <= 2, name);
    if (keywordPeers.some((peer) => peer.name === name)) assert.equal(found[0], 'b', name);
  }
});
