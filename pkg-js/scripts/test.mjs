/**
 * Sets up, builds and runs every test. The closing line counts the cases of all suites.
 *   npm --prefix pkg-js test
 *   npm --prefix pkg-js test -- rust unit      only these suites
 */
import { existsSync } from 'node:fs';
import { build } from './build.mjs';
import { settle } from './counts.mjs';
import { PACKAGE, TESTS, WWW } from './places.mjs';
import { buildPlayground } from './playground.mjs';
import { setup } from './setup.mjs';
import { bold, dim, Failure, run, say, seconds, step } from './steps.mjs';
import { suites } from './suites.mjs';

const results = [];
const start = performance.now();
try {
  const ready = await setup({ browser: true, folders: [PACKAGE, TESTS, WWW] });
  const chosen = choose(suites(ready), process.argv.slice(2));
  // Formatting, lints and native tests need no build, and say sooner what is wrong.
  const native = new Set(['fmt', 'clippy', 'rust', 'wasm']);
  for (const suite of chosen.filter(({ name }) => native.has(name))) results.push(await runSuite(suite));
  const others = chosen.filter(({ name }) => !native.has(name));
  if (others.length > 0) await build(ready);
  if (others.some(({ name }) => name === 'e2e')) await step('Playground', buildPlayground);
  for (const suite of others) results.push(await runSuite(suite));
} catch (error) {
  say(`failed: ${error instanceof Failure ? error.message : (error.stack ?? error)}`);
  if (error.remedy) say(`remedy: ${error.remedy}`);
  results.push({ name: 'set-up and build', passed: 0, failed: 1, ms: 0, again: 'npm --prefix pkg-js run build' });
}
report(results);

function choose(all, names) {
  const unknown = names.filter((name) => !all.some((suite) => suite.name === name));
  if (unknown.length > 0) throw new Failure(`there is no suite ${unknown.join(', ')}`, `the suites are ${all.map(({ name }) => name).join(', ')}`);
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

async function runSuite({ name, title, cwd, command: [program, args], env = {}, count }) {
  say('');
  say(`${bold(`> ${name}`)}: ${title}`);
  say(dim(`  ${[program === process.execPath ? 'node' : program, ...args].join(' ')}`));
  const began = performance.now();
  let output = '';
  let code = 1;
  if (existsSync(cwd)) code = await run(program, args, { cwd, env, onOutput: (piece) => (output += piece) });
  else say(`  ${cwd} is missing`);
  const { passed, failed } = settle(count(output, code), code);
  return { name, passed, failed, ms: performance.now() - began, again: `npm --prefix pkg-js test -- ${name}` };
}

function report(all) {
  const sum = (key) => all.reduce((total, result) => total + result[key], 0);
  say('');
  say(bold(`all suites, ${seconds(performance.now() - start)}`));
  for (const { name, passed, failed, ms } of all) say(`  ${failed === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(18)} ${String(passed).padStart(5)} passed ${String(failed).padStart(3)} failed  ${seconds(ms).padStart(8)}`);
  for (const { name, failed, again } of all) if (failed > 0) say(`  to run ${name} alone: ${again}`);
  say(`${sum('passed')} passed, ${sum('failed')} failed`);
  process.exitCode = sum('failed') === 0 && all.length > 0 ? 0 : 1;
}
