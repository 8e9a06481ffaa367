/**
 * Search over vectors: this crate's, built to wasm by itself, and others on npm, over the same rows and questions in one run.
 *
 *   npm --prefix pkg-js run bench:vector -- [--data DIR] [--vector-rows 10000,100000] [--peer-rows 10000] [--graph-rows 100000] [--json OUT]
 *
 * DIR holds vectors/*.f32. Without it rows are made. The run is Node's, one thread; the engine is that of Chromium. A time is
 * CPU time a question, beside it recall@10 against all rows in f64. Peers are measured up to --peer-rows, a graph up to --graph-rows:
 * it takes minutes to build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { round } from './figures.mjs';
import { Exact, recall } from './vector/exact.mjs';
import { PEERS, versionOf } from './vector/peers.mjs';
import { DIMS, openRows } from './vector/rows.mjs';
import { once, timed } from './vector/time.mjs';

const K = 10;
const CHUNK = 5_000;
/** Above this the exact rows no longer fit beside the codes into what wasm can address; codes say the result themselves. */
const MOST_EXACT = 500_000;
/** Rows whose floor is the one at the top. */
const FLOOR_OF = 100_000;
const GOOD_RECALL = 0.99;
/** Below this no graph is built. */
const LEAST_GRAPH = 50_000;

export const VECTOR_OPTIONS = {
  data: { type: 'string' },
  'vector-rows': { type: 'string', default: '10000,100000,1000000' },
  'peer-rows': { type: 'string', default: '10000' },
  'graph-rows': { type: 'string', default: '100000' },
};

/** Figures of all sizes. `built` is the folder with the glue and the wasm file. */
export async function vectorFigures(values, built, say) {
  const sizes = values['vector-rows'].split(',').filter(Boolean).map(Number);
  const from = process.env.INIT_CWD ?? process.cwd();
  const rows = openRows(values.data && resolve(from, values.data), say);
  const glue = await import(pathToFileURL(join(built, 'vector_bench.mjs')).href);
  const { memory } = glue.initSync({ module: readFileSync(join(built, 'vector_bench.wasm')) });
  const figures = {
    engine: `Node ${process.versions.node}, V8 ${process.versions.v8}, one thread; the engine of Chromium`,
    rows: rows.about,
    dimensions: DIMS,
    questions: rows.questions.length,
    cpu_ms: 'CPU milliseconds a question, median of several passes over all questions',
    recall: `of the ${K} rows nearest in f64, the share found, mean over the questions`,
  };
  for (const n of sizes) figures[n] = await sizeFigures(n, { rows, glue, memory, peers: n <= Number(values['peer-rows']), graph: n >= LEAST_GRAPH && n <= Number(values['graph-rows']), say });
  figures.floor_ms = (figures[FLOOR_OF] ?? figures[sizes.at(-1)])?.floor_ms;
  return figures;
}

async function sizeFigures(n, { rows, glue, memory, peers, graph, say }) {
  say(`vectors: ${n} rows, and what is truly nearest`);
  const exact = n <= MOST_EXACT;
  const index = new glue.VectorBench(DIMS, n, exact);
  const oracle = new Exact(rows.questions, K);
  let building = 0;
  for (let first = 0; first < n; first += CHUNK) {
    const chunk = rows.slice(first, Math.min(first + CHUNK, n));
    oracle.take(first, chunk);
    building += (await once(() => index.push(chunk))).seconds;
  }
  const truth = oracle.rows();
  const measured = async (search) => {
    const { ms, results } = await timed(rows.questions.length, (q) => search(rows.questions[q], K));
    return { cpu_ms: round(ms, 4), recall: round(recall(results.map((found) => Array.from(found)), truth), 4) };
  };

  const figures = {};
  // Between two floors, so that what the machine did meanwhile is seen.
  const floor = async (four) => (await timed(Math.max(20, Math.round(2_000_000 / n)), () => index.floor(four))).ms;
  const before = await floor(false);
  const scan = await measured((question, k) => index.scan(question, k));
  const after = await floor(false);
  figures.floor_ms = round((before + after) / 2, 4);
  figures.floor_in_four_streams_ms = round(await floor(true), 4);
  const bits = await once(() => index.buildBits());
  const byBits = {};
  for (const candidates of [500, 1_000, 2_000, 4_000, 8_000]) byBits[candidates] = await measured((question, k) => index.byBits(question, k, candidates));
  figures.memstrata = {
    ...(await measured((question, k) => index.search(question, k))),
    plan: index.plan(),
    kept: exact ? 'codes, f32, signs' : 'codes, signs',
    wasm_memory_bytes: memory.buffer.byteLength,
    build_cpu_s: round(building),
    scan: { ...scan, of_floor: round(scan.cpu_ms / figures.floor_ms, 3) },
    bits: { build_cpu_s: round(bits.seconds), by_rows_looked_at_by_code: byBits },
  };
  if (graph) figures.memstrata.graph = await graphFigures(index, n, measured, say);
  index.free();
  say(`  memstrata ${JSON.stringify(figures.memstrata)}`);
  if (peers) {
    const all = rows.slice(0, n);
    const each = Array.from({ length: n }, (_, row) => all.subarray(row * DIMS, (row + 1) * DIMS));
    for (const peer of PEERS) {
      figures[peer.name] = await peerFigures(peer, each, measured);
      say(`  ${peer.name} ${JSON.stringify(figures[peer.name])}`);
    }
  }
  return figures;
}

/** Beside what the plan takes, because with a graph another plan would be made. */
async function graphFigures(index, n, measured, say) {
  say('  building the graph');
  const { seconds, result: bytes } = await once(() => index.buildGraph());
  const byEf = {};
  for (const ef of [50, 100, 200, 300, 400]) byEf[ef] = await measured((question, k) => index.byGraph(question, k, ef));
  return { build_cpu_s: round(seconds), bytes_per_row: round(bytes / n), plan: index.plan(), by_rows_held: byEf };
}

/** The best setting of a peer, and all that were tried. A peer that fails is no reason to stop. */
async function peerFigures(peer, rows, measured) {
  const tried = [];
  try {
    const version = peer.name === 'plain-js' ? undefined : versionOf(peer.name);
    for (const { name, build } of peer.builds) {
      const { seconds, result: index } = await once(() => build(rows, DIMS));
      for (const setting of index.settings) tried.push({ setting: setting.name, ...(await measured((question, k) => setting.search(question, k))), build: name, build_cpu_s: round(seconds) });
      index.free();
    }
    const { build, ...best } = bestOf(tried);
    return { ...best, version, tried: tried.map(({ setting, cpu_ms, recall: share }) => ({ setting, cpu_ms, recall: share })) };
  } catch (error) {
    return { error: String(error?.message ?? error), tried };
  }
}

/** The fastest of good recall; without one, the one of the best recall. */
export function bestOf(tried) {
  const good = tried.filter((one) => one.recall >= GOOD_RECALL);
  if (good.length) return good.reduce((a, b) => (b.cpu_ms < a.cpu_ms ? b : a));
  return tried.reduce((a, b) => (b.recall > a.recall ? b : a));
}

export async function main(argv) {
  const { values } = parseArgs({ args: argv, options: { ...VECTOR_OPTIONS, json: { type: 'string' } } });
  const built = process.env.VECTOR_BENCH;
  if (!built) throw new Error('VECTOR_BENCH names no folder: run npm --prefix pkg-js run bench:vector, which builds it');
  const figures = { vector: await vectorFigures(values, built, (line) => process.stderr.write(`${line}\n`)) };
  const report = JSON.stringify(figures, null, 2);
  console.log(report);
  if (values.json) writeFileSync(resolve(process.env.INIT_CWD ?? process.cwd(), values.json), `${report}\n`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
