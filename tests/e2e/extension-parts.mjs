/** Extensions for the tests, in folders of their own: the one that www builds, and one with its memory in the service worker. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './server.mjs';

const require = createRequire(import.meta.url);
const folder = () => mkdtempSync(join(tmpdir(), 'memstrata-extension-'));
export const remove = (dir) => rmSync(dir, { recursive: true, force: true });

/**
 * The built extension. A click in a context menu, which no test can make, gives it the right to look into the tab; here the
 * manifest gives that for the tests' server.
 */
export function builtExtension() {
  const dist = join(ROOT, 'www/extension/dist');
  if (!existsSync(join(dist, 'manifest.json'))) throw new Error(`${dist} is not built: run npm --prefix pkg-js start -- --once first`);
  const dir = folder();
  cpSync(dist, dir, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'));
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ ...manifest, host_permissions: ['http://127.0.0.1/*'] }));
  return dir;
}

/** An extension whose service worker has the memory: one file each, since a service worker may not import at run time. */
export async function workerExtension() {
  const { rolldown } = createRequire(join(ROOT, 'pkg-js/package.json'))('rolldown');
  const source = join(ROOT, 'tests/e2e/extension-worker');
  const dir = folder();
  for (const [name, format] of [['background', 'esm'], ['page', 'esm'], ['content', 'iife']]) {
    const bundle = await rolldown({ input: join(source, `${name}.mjs`), platform: 'browser' });
    await bundle.write({ file: join(dir, `${name}.js`), format, codeSplitting: false });
    await bundle.close();
  }
  cpSync(join(source, 'manifest.json'), join(dir, 'manifest.json'));
  cpSync(require.resolve('memstrata/memory.wasm'), join(dir, 'memory.wasm'));
  writeFileSync(join(dir, 'page.html'), '<!doctype html><html lang="en"><meta charset="utf-8"><title>page</title><link rel="icon" href="data:,"><script type="module" src="page.js"></script></html>');
  return dir;
}

/**
 * The service worker of the one extension that is loaded. One that was stopped is woken by a message from `page`; Playwright may
 * still list the stopped one, which answers nothing.
 */
export async function serviceWorker(context, page) {
  const answers = (worker) => Promise.race([worker.evaluate(() => true).catch(() => false), new Promise((resolve) => setTimeout(resolve, 1_000, false))]);
  for (let n = 0; n < 20; n += 1) {
    await page?.evaluate(() => chrome.runtime.sendMessage({ memstrata: 'wake', channel: 'memory' }).catch(() => undefined));
    for (const worker of context.serviceWorkers().toReversed()) if (worker.url().startsWith('chrome-extension://') && (await answers(worker))) return worker;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the extension has no service worker that runs');
}
