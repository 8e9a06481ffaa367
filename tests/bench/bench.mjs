/**
 * Times and bytes of the built package, in Chromium, with IndexedDB, the Worker and the embedding table as users have them.
 *
 *   npm --prefix pkg-js run bench -- [--json OUT] [--small 1000] [--large 10000] [--data DIR] [--vector-rows 10000,100000]
 *
 * Search over vectors beside that of other packages is measured too, in Node: see vector.mjs, which can also be run alone.
 * An item is one page: what one `addMemory` stores, two turns. Texts come from a seeded grammar.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { launch, newProfile } from '../e2e/browser.mjs';
import { servePackage } from '../e2e/server.mjs';
import { bytesAt, quantile, round } from './figures.mjs';
import { packageSize } from './size.mjs';
import { VECTOR_OPTIONS, vectorFigures } from './vector.mjs';

const WINDOW = 100; // adds around an item count whose bytes are averaged
const QUESTIONS = 60;
const OPENINGS = 3;

export async function main(argv) {
  const { values } = parseArgs({
    args: argv,
    options: { json: { type: 'string' }, small: { type: 'string', default: '1000' }, large: { type: 'string', default: '10000' }, ...VECTOR_OPTIONS },
  });
  const [small, large] = [Number(values.small), Number(values.large)];
  const server = await servePackage('/tests/bench/page.mjs');
  const profile = newProfile();
  const browser = await launch(profile);
  const say = (line) => process.stderr.write(`${line}\n`);
  const figures = { items: 'pages of two turns', add: {}, retrieve: {}, open: {} };
  try {
    let page = await browser.open(server.url);
    const call = (name, ...args) => page.evaluate(([n, a]) => window.page[n](...a), [name, args]);
    await call('open', 'bench');
    say('adding one by one around 100');
    await call('fill', 0, 100 - WINDOW / 2);
    const early = await call('addOneByOne', 100 - WINDOW / 2, 100 + WINDOW / 2);
    say(`filling to ${small}`);
    await call('fill', 100 + WINDOW / 2, small);
    await call('retrieve', 5); // warm
    figures.retrieve[small] = { p50_ms: round(quantile(await call('retrieve', QUESTIONS), 0.5)) };
    for (let n = small; n < large - WINDOW / 2; n += 1000) {
      await call('fill', n, Math.min(n + 1000, large - WINDOW / 2));
      say(`filled to ${Math.min(n + 1000, large - WINDOW / 2)}`);
    }
    const late = await call('addOneByOne', large - WINDOW / 2, large + WINDOW / 2);
    await call('retrieve', 5);
    figures.retrieve[large] = { p50_ms: round(quantile(await call('retrieve', QUESTIONS), 0.5)) };
    const [own, all] = [bytesAt(early), bytesAt(late)];
    figures.add = {
      p50_ms: round(quantile([...early, ...late].map((a) => a.ms), 0.5)),
      p95_ms: round(quantile([...early, ...late].map((a) => a.ms), 0.95)),
      bytes_at_100: own.add,
      [`bytes_at_${large}`]: all.add,
      // With the sealing of the log and the sinking of pages, whoever's bytes they are.
      amortised: { bytes_at_100: own.amortised, [`bytes_at_${large}`]: all.amortised },
    };
    figures.stored = await call('stats');
    const openings = [];
    for (let n = 0; n < OPENINGS; n += 1) {
      await call('close');
      await page.close();
      page = await browser.open(server.url);
      openings.push(await call('open', 'bench'));
    }
    figures.open[large] = {
      ms: round(quantile(openings.map((o) => o.ms), 0.5)),
      with_table_ms: round(quantile(openings.map((o) => o.readyMs), 0.5)),
    };
    await call('close');
  } finally {
    await browser.close();
    profile.remove();
    await server.close();
  }
  figures.size = packageSize();
  if (process.env.VECTOR_BENCH) figures.vector = await vectorFigures(values, process.env.VECTOR_BENCH, say);
  const report = JSON.stringify(figures, null, 2);
  console.log(report);
  // npm changes the working directory to that of the package; the path is meant from where the caller stands.
  if (values.json) writeFileSync(resolve(process.env.INIT_CWD ?? process.cwd(), values.json), `${report}\n`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
