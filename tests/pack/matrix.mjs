/**
 * Packs the package, installs the tarball into throw-away projects and uses it there: opens a memory, adds a turn, finds it, opens
 * it again and finds it again. Prints a table; ends with 1 when a row fails. It wants the package built (`run test:pack` does that).
 *   node pack/matrix.mjs [--quick] [--only NAME]...
 * `--quick` leaves out the rows that cost most for what they add; `npm test` runs the others.
 */
import { parseArgs } from 'node:util';
import { lazyBrowser } from './page.mjs';
import { workshop } from './project.mjs';
import { bundlers } from './rows-bundlers.mjs';
import { checks } from './rows-checks.mjs';
import { nodeRows } from './rows-node.mjs';
import { pages } from './rows-pages.mjs';

const ALL = [...nodeRows, ...pages, ...bundlers, ...checks];

function chosen(args) {
  const { values } = parseArgs({ args, options: { quick: { type: 'boolean' }, only: { type: 'string', multiple: true } } });
  const unknown = (values.only ?? []).filter((name) => !ALL.some((row) => row.name === name));
  if (unknown.length > 0) throw new Error(`there is no row ${unknown.join(', ')}; the rows are ${ALL.map(({ name }) => name).join(', ')}`);
  return ALL.filter(({ name, quick }) => (values.only ? values.only.includes(name) : quick || !values.quick));
}

const cell = (value) => (value === undefined ? '' : value === true ? 'yes' : value === false ? 'no' : String(value));
const line = (row) => console.log(['name', 'entry', 'thread', 'vectors', 'result', 'time'].map((key, i) => cell(row[key]).padEnd([21, 18, 16, 9, 8, 8][i])).join('').concat(row.note ?? '').trimEnd());

async function runRow(row, context) {
  const start = performance.now();
  const time = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    const result = await row.run(context);
    for (const [key, wanted] of Object.entries(row.expect)) if (result[key] !== wanted) throw new Error(`${key} should be ${wanted}, is ${result[key]}`);
    return { ...row, ...result, result: 'ok', time: time() };
  } catch (error) {
    return { ...row, result: 'FAILED', time: time(), error };
  }
}

const rows = chosen(process.argv.slice(2));
const browser = lazyBrowser();
const shop = workshop();
const results = [];
try {
  line({ name: 'environment', entry: 'entry', thread: 'engine in', vectors: 'vectors', result: 'result', time: 'time' });
  for (const row of rows) {
    const result = await runRow(row, { ...shop, browser });
    results.push(result);
    line(result);
  }
} finally {
  await browser.close();
  shop.remove();
}
const failed = results.filter(({ error }) => error);
for (const { name, error } of failed) console.log(`\n${name} failed: ${error.stack ?? error}\n  alone: npm --prefix pkg-js run test:pack -- --only ${name}`);
// In the form of Node's test runner, for whoever counts.
console.log(`\n# pass ${results.length - failed.length}\n# fail ${failed.length}`);
process.exitCode = failed.length === 0 ? 0 : 1;
