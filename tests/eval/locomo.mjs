/** LoCoMo: what share of a question's evidence the packed context holds, at several budgets. */
import { openFresh, addPages } from '../lib/memory.mjs';
import { toPages } from '../lib/pages.mjs';
import { goldSentence } from './atoms.mjs';
import { mean, median, round } from './measure.mjs';

const TOP_K = 1000; // all turns of a conversation: the budget alone decides
const bare = (text) => text.replace(/\s+/g, '');

/** Turn ids with a quote in the packed context, and the quotes of each. A quote that the context lacks counts for nothing. */
export function packedTurns(result, map) {
  const context = bare(result.context);
  const packed = new Map();
  for (const hit of result.hits) {
    if (!hit.packed) continue;
    const quotes = hit.quotes.map(bare).filter((q) => q && context.includes(q));
    if (quotes.length) packed.set(map.of(hit).id, quotes);
  }
  return packed;
}

/** Evidence and strict shares of one question. */
export function shares(packed, evidence, question) {
  const gold = evidence.map((turn) => [turn.id, bare(goldSentence(turn.text, question.question, question.answer))]);
  return {
    evidence: mean(evidence.map((turn) => Number(packed.has(turn.id)))),
    strict: mean(gold.map(([id, sentence]) => Number((packed.get(id) ?? []).some((quote) => quote.includes(sentence))))),
  };
}

function figures(rows, budgets) {
  const out = {};
  for (const measure of ['evidence', 'strict']) {
    for (const n of budgets) out[`${measure}@${n}`] = round(mean(rows.map((row) => row[n][measure])));
  }
  return out;
}

export async function run(data, { embedder, budgets, cost, progress }) {
  const rows = [];
  const times = [];
  let overBudget = 0;
  for (const conversation of data.conversations) {
    const memory = await openFresh({ embedder });
    const map = await addPages(memory, toPages(conversation.turns));
    await memory.flush();
    const turns = new Map(conversation.turns.map((turn) => [turn.id, turn]));
    const asked = conversation.questions.filter((q) => q.category !== 'adversarial' && q.category !== 5);
    for (const question of asked) {
      const evidence = (question.evidence_turns ?? []).map((id) => turns.get(id)).filter(Boolean);
      if (!evidence.length) continue;
      const row = { category: question.category };
      for (const budgetTokens of budgets) {
        const start = performance.now();
        const result = await memory.retrieve(question.question, { topK: TOP_K, budgetTokens });
        times.push(performance.now() - start);
        overBudget += Number(result.contextTokens > budgetTokens);
        row[budgetTokens] = shares(packedTurns(result, map), evidence, question);
      }
      rows.push(row);
    }
    await cost.take(memory, conversation.turns.length);
    await memory.close();
    progress(`locomo ${conversation.id}: ${rows.length} questions so far`);
  }
  const categories = [...new Set(rows.map((row) => row.category))];
  return {
    ...figures(rows, budgets),
    by_category: Object.fromEntries(
      categories.map((c) => {
        const some = rows.filter((row) => row.category === c);
        return [c, { ...figures(some, budgets), questions: some.length }];
      }),
    ),
    questions: rows.length,
    contexts_over_budget: overBudget,
    retrieve_p50_ms: round(median(times), 2),
  };
}
