/**
 * Sets up, builds, runs the demonstration and serves the Playground.
 *   npm --prefix pkg-js start              PORT chooses the port
 *   npm --prefix pkg-js start -- --once    ends after the demonstration
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { PACKAGE, TESTS, WWW } from './places.mjs';
import { serveFolder } from './serve.mjs';
import { setup } from './setup.mjs';
import { bold, Failure, main, say, seconds, step } from './steps.mjs';
import { buildPlayground } from './playground.mjs';

await main(async () => {
  const once = process.argv.slice(2).includes('--once');
  const start = performance.now();
  const ready = await setup({ folders: [PACKAGE, TESTS, WWW] });
  await build(ready);
  await step('Playground', buildPlayground);
  say(`ready after ${seconds(performance.now() - start)}`);
  say('');
  await demonstrate();
  if (once) return 0;
  say('');
  const address = await serveFolder(join(WWW, 'dist'), readPort(process.env.PORT));
  say(`${bold('Playground')}: ${address}   (Ctrl+C ends it)`);
  return 0;
});

async function demonstrate() {
  const script = join(TESTS, 'demo', 'demo.mjs');
  if (!existsSync(script)) throw new Failure(`${script} is missing`, 'check the tree out completely');
  const { run } = await import(pathToFileURL(script).href);
  await run();
}

function readPort(text) {
  if (text === undefined || text === '') return 0;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Failure(`PORT is ${text}`, 'give a number from 0 to 65535, 0 for any free port');
  return port;
}
