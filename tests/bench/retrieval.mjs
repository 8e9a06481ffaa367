/**
 * Search over what was said: this package's and that of other packages on npm, over the same turns, questions and vectors in one run.
 *
 *   npm --prefix pkg-js run bench:retrieval -- --data DIR [--split dev] [--conversations N] [--model DIR] [--json OUT]
 *
 * DIR holds locomo-SPLIT.json; its conversations go into one memory together. Vectors are MiniLM's (see tests/eval/minilm.mjs) and are
 * computed before anything is measured. A time is CPU time of this process a question; recall is the share of a question's evidence
 * among the best 5 and 10 turns.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { rankFigures } from '../eval/measure.mjs';
import { openMiniLM } from '../eval/minilm.mjs';
import { load } from '../eval/sets.mjs';
import { addPages, openFresh } from '../lib/memory.mjs';
import { toPages } from '../lib/pages.mjs';
import { round } from './figures.mjs';
import { keywordPeers, wholePeers } from './retrieval/peers.mjs';
import { once, timed } from './vector/time.mjs';

export const RETRIEVAL_OPTIONS = {
  data: { type: 'string' },
  split: { type: 'string', default: 'dev' },
  conversations: { type: 'string' },
  model: { type: 'string' },
};
const K = 10;

/** Turns under keys of their own, and questions with the keys of their evidence. */
function texts({ conversations }) {
  const turns = conversations.flatMap(({ id, turns }) => turns.filter(({ text }) => text.trim()).map((turn) => ({ key: `${id}/${turn.id}`, text: `${turn.speaker}: ${turn.text}` })));
  const known = new Set(turns.map(({ key }) => key));
  const questions = conversations.flatMap(({ id, questions }) =>
    questions
      .filter(({ category }) => category !== 'adversarial' && category !== 5)
      .map(({ question, evidence_turns = [] }) => ({ question, evidence: evidence_turns.map((turn) => `${id}/${turn}`).filter((key) => known.has(key)) }))
      .filter(({ evidence }) => evidence.length),
  );
  return { turns, questions };
}

async function measured(questions, search) {
  const { ms, results } = await timed(questions.length, (i) => search(questions[i].question));
  const rows = results.map((ranked, i) => ({ ranked, evidence: questions[i].evidence }));
  const { questions: _, ...figures } = rankFigures(rows, [5, K]);
  return { cpu_ms: round(ms), ...figures };
}

/** The package itself, by words alone or as a whole, with the packing of a context left out or not. */
async function own(data, embedder) {
  const memory = await openFresh({ embedder });
  const { seconds, result: map } = await once(async () => {
    let map;
    for (const conversation of data.conversations) map = await addPages(memory, toPages(conversation.turns.map((turn) => ({ ...turn, key: `${conversation.id}/${turn.id}` })), { scope: `${conversation.id}/` }), { map });
    await memory.flush();
    return map;
  });
  const ranked = ({ hits }) => hits.map((hit) => map.of(hit).key);
  return {
    build_cpu_s: round(seconds),
    search: (options) => async (question) => ranked(await memory.retrieve(question, { topK: K, budgetTokens: 0, ...options })),
    close: () => memory.close(),
  };
}

export async function retrievalFigures(values, say) {
  const from = process.env.INIT_CWD ?? process.cwd();
  if (!values.data) throw new Error('--data DIR is missing: the folder with locomo-SPLIT.json');
  const data = load(resolve(from, values.data), 'locomo', values.split);
  if (!data) throw new Error(`${values.data} holds no locomo-${values.split}.json`);
  data.conversations.splice(values.conversations ? Number(values.conversations) : Infinity);
  const { turns, questions } = texts(data);
  const model = await openMiniLM({ model: values.model && resolve(from, values.model), progress: say });
  say(`retrieval: vectors of ${turns.length} turns and ${questions.length} questions`);
  try {
    const vectorOf = async (text) => (await model.embed({ texts: [text] })).vectors[0];
    for (const { text } of turns) await vectorOf(text);
    for (const { question } of questions) await vectorOf(question);
    const figures = { turns: turns.length, questions: questions.length, keyword: {}, whole: {} };
    const add = (kind, name, row) => {
      figures[kind][name] = row;
      say(`  ${kind} ${name} ${JSON.stringify(row)}`);
    };
    const memory = await own(data, model);
    const { build_cpu_s } = memory;
    add('keyword', 'memstrata', { ...(await measured(questions, memory.search({ strategy: 'keyword' }))), build_cpu_s });
    add('whole', 'memstrata', { ...(await measured(questions, memory.search({}))), build_cpu_s });
    add('whole', 'memstrata, 1,024 tokens packed', { ...(await measured(questions, memory.search({ budgetTokens: 1_024 }))), build_cpu_s });
    await memory.close();
    const builtin = await own(data, 'builtin');
    add('whole', 'memstrata, built-in embedder', { ...(await measured(questions, builtin.search({}))), build_cpu_s: builtin.build_cpu_s });
    await builtin.close();
    for (const [kind, peers] of [['keyword', keywordPeers], ['whole', wholePeers]]) {
      for (const { name, version, build } of peers) {
        const { seconds, result: search } = await once(() => build(turns, vectorOf, K));
        add(kind, name, { ...(await measured(questions, search)), build_cpu_s: round(seconds), version });
      }
    }
    if (model.failure) throw model.failure;
    return figures;
  } finally {
    model.close();
  }
}

export async function main(argv) {
  const { values } = parseArgs({ args: argv, options: { ...RETRIEVAL_OPTIONS, json: { type: 'string' } } });
  const report = JSON.stringify({ retrieval: await retrievalFigures(values, (line) => process.stderr.write(`${line}\n`)) }, null, 2);
  console.log(report);
  if (values.json) writeFileSync(resolve(process.env.INIT_CWD ?? process.cwd(), values.json), `${report}\n`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
