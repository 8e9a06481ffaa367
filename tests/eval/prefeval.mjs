/** PrefEval: all topics in one pool; at which rank the one preference comes that a request should be coloured by. */
import { openFresh, addPages } from '../lib/memory.mjs';
import { TurnMap, toPages } from '../lib/pages.mjs';
import { rankFigures, ranking } from './measure.mjs';

export async function run(data, { embedder, cost, progress }) {
  const memory = await openFresh({ embedder });
  const map = new TurnMap();
  let turns = 0;
  for (const topic of data.conversations) {
    const named = topic.turns.map((turn) => ({ ...turn, key: `${topic.id}/${turn.id}` }));
    await addPages(memory, toPages(named, { scope: `${topic.id}/` }), { map });
    turns += named.length;
  }
  await memory.flush();
  const rows = [];
  for (const topic of data.conversations) {
    for (const question of topic.questions) {
      const { hits } = await memory.retrieve(question.question, { topK: 1000, profile: 'preference' });
      rows.push({ ranked: ranking(hits, (hit) => map.of(hit).key), evidence: question.evidence_turns.map((id) => `${topic.id}/${id}`) });
    }
    progress(`prefeval ${topic.id}: ${rows.length} questions so far`);
  }
  await cost.take(memory, turns);
  await memory.close();
  return rankFigures(rows, [1, 5, 10]);
}
