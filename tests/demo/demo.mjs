/**
 * A short demonstration in the terminal: the sample conversation is imported, five questions are asked in two
 * languages, and what was recalled is printed with its date, speaker and words. No language model takes part.
 */
import { pathToFileURL } from 'node:url';
import { openFresh } from '../lib/memory.mjs';
import { toPages } from '../lib/pages.mjs';
import { loadSample } from '../lib/sample.mjs';
import { painter, progressLine, quoteOf, when } from './terminal.mjs';

const QUESTIONS = [
  'What is the order number of the lens repair?',
  'When does the exhibition Salt Hours open?',
  '我对什么食物过敏？',
  'Does Ines still drink coffee?',
  '妈妈的生日是哪一天？',
];
const SHOWN = 3; // passages a question

/**
 * @param {{stream?: NodeJS.WriteStream, env?: NodeJS.ProcessEnv}} [options]
 * @returns what was measured, for the caller's own report
 */
export async function run({ stream = process.stdout, env = process.env } = {}) {
  const print = (line = '') => stream.write(`${line}\n`);
  const paint = painter(stream, env);
  const sample = loadSample();
  const sessions = new Set(sample.turns.map((turn) => turn.session)).size;

  print(paint.bold('memstrata: a page that remembers'));
  print(`"${sample.name}": ${sample.turns.length} turns in ${sessions} sessions, English and Chinese`);
  print();

  const started = performance.now();
  const memory = await openFresh({ userId: 'ines' });
  const opened = performance.now();
  const progress = progressLine(stream, 'importing');
  const pages = toPages(sample.turns).map((page) => page.input);
  await memory.importConversation(pages, { onProgress: progress.show });
  progress.end();
  const imported = performance.now();
  await memory.flush();
  const sunk = performance.now();

  const asked = [];
  for (const question of QUESTIONS) {
    const start = performance.now();
    const { hits, contextTokens } = await memory.retrieve(question, { topK: SHOWN, budgetTokens: 256 });
    const ms = performance.now() - start;
    asked.push({ question, ms, hits });
    print();
    print(`${paint.bold(question)}  ${paint.dim(`${ms.toFixed(1)} ms, ${contextTokens} tokens`)}`);
    for (const hit of hits.slice(0, SHOWN)) {
      print(`  ${paint.dim(when(hit))}  ${paint.accent(hit.speaker.padEnd(9))} ${paint.dim(hit.score.toFixed(2).padStart(5))}  ${quoteOf(hit)}`);
    }
  }

  const [stats, tiers] = [await memory.stats(), await memory.tiers()];
  print();
  print(paint.bold('Where it lies now'));
  print(`  short-term  ${stats.shortTerm.pages} of ${stats.shortTerm.capacity} pages`);
  print(`  mid-term    ${stats.midTerm.pages} pages in ${stats.midTerm.segments} segments (heat to be promoted: ${tiers.heatThreshold})`);
  for (const segment of [...tiers.midTerm].sort((a, b) => b.heat.value - a.heat.value)) {
    print(`    heat ${paint.heat(segment.heat.value.toFixed(2).padStart(5), segment.heat.value / tiers.heatThreshold)}  ${String(segment.pages.length).padStart(2)} pages  ${segment.theme}`);
  }
  print(`  archive     ${stats.archive.pages} pages`);
  print(`  index       ${stats.index.atoms} sentences, ${stats.index.words} words, ${stats.index.vectors} vectors (${stats.embedder.id ?? 'keywords only'})`);

  const times = { openMs: opened - started, importMs: imported - opened, consolidateMs: sunk - imported, askMs: asked.map((a) => a.ms) };
  print();
  print(paint.bold('Times'));
  print(`  open ${times.openMs.toFixed(0)} ms, import ${times.importMs.toFixed(0)} ms, consolidate ${times.consolidateMs.toFixed(0)} ms, a question ${(times.askMs.reduce((a, b) => a + b) / asked.length).toFixed(1)} ms`);
  print(`  model calls: ${stats.calls.chat}`);
  await memory.close();
  return { asked, stats, times };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await run();
