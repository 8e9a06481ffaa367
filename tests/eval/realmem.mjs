/** RealMem: which session a request goes back to. Turns are added as they were said, so none from later is ever seen. */
import { openFresh, addPages } from '../lib/memory.mjs';
import { toPages } from '../lib/pages.mjs';
import { rankFigures, ranking } from './measure.mjs';

export async function run(data, { embedder, cost, progress }) {
  const rows = [];
  for (const conversation of data.conversations) {
    const memory = await openFresh({ embedder });
    const { turns } = conversation;
    const asked = conversation.questions
      .map((question) => ({ ...question, asked_at: question.asked_at ?? turns.length }))
      .sort((a, b) => a.asked_at - b.asked_at);
    let known = 0;
    let map;
    for (const question of asked) {
      map = await addPages(memory, toPages(turns.slice(known, question.asked_at)), { map });
      known = Math.max(known, question.asked_at);
      const before = new Set(turns.slice(0, known).map((turn) => turn.session));
      const evidence = question.evidence_sessions.filter((session) => before.has(session));
      if (!evidence.length) continue;
      await memory.flush(); // an embedder of one's own works after the turns are stored
      const { hits } = await memory.retrieve(question.question, { topK: 1000 });
      rows.push({ ranked: ranking(hits, (hit) => map.of(hit).session), evidence });
    }
    await cost.take(memory, known);
    await memory.close();
    progress(`realmem ${conversation.id}: ${rows.length} questions so far`);
  }
  return rankFigures(rows, [1, 3, 5, 10], 'S');
}
