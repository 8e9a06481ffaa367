/** GVD-cn: at which rank the evidence pages come, a page ranking by its best turn. */
import { openFresh, addPages } from '../lib/memory.mjs';
import { toPages } from '../lib/pages.mjs';
import { rankFigures, ranking } from './measure.mjs';

export async function run(data, { embedder, cost, progress }) {
  const rows = [];
  for (const conversation of data.conversations) {
    const memory = await openFresh({ embedder });
    const map = await addPages(memory, toPages(conversation.turns));
    await memory.flush();
    for (const question of conversation.questions) {
      const { hits } = await memory.retrieve(question.question, { topK: 1000 });
      rows.push({ ranked: ranking(hits, (hit) => map.of(hit).page), evidence: question.evidence_pages });
    }
    await cost.take(memory, conversation.turns.length);
    await memory.close();
    progress(`gvd-cn: ${rows.length} questions so far`);
  }
  return rankFigures(rows, [1, 3, 5, 10]);
}
