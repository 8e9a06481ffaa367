/** The package in a page of a real browser: used, the page loaded anew, used again. */
import { launch, newProfile } from '../e2e/browser.mjs';

/** Module code that offers `window.use(first)`; `options` is an expression. */
export const appOf = (entry, options = '{}', imports = '') => `${imports}
import { MemoryOS } from '${entry}';
import { use } from './use.mjs';
window.use = (first) => use(MemoryOS, first, ${options});
window.ready = true;
`;

export const htmlOf = (script, head = '') => `<!doctype html><html lang="en"><meta charset="utf-8"><title>memstrata</title><link rel="icon" href="data:,">${head}
<script type="module" src="${script}"></script></html>`;

/** A browser that starts when the first row asks for it. */
export function lazyBrowser() {
  let started;
  const profile = newProfile();
  return {
    get: () => (started ??= launch(profile)),
    async close() {
      await (await started)?.close();
      profile.remove();
    },
  };
}

/**
 * @param {{allow?: RegExp[]}} options  `allow`: faults in the console that are part of the row
 * @returns how it went: the thread of the engine, whether vectors took part, the addresses that were asked for
 */
export async function usePage(browser, url, { allow = [] } = {}) {
  const page = await (await browser.get()).open(url);
  let workers = 0;
  const asked = [];
  page.on('worker', () => (workers += 1));
  const note = (request) => asked.push(request.url());
  page.context().on('request', note);
  try {
    const call = (first) => page.evaluate((added) => Promise.race([
      window.use(added).catch((error) => ({ failed: `${error.code ?? error.name}: ${error.message}` })),
      new Promise((resolve) => setTimeout(() => resolve({ failed: 'no answer within 60 s' }), 60_000)),
    ]), first);
    const faults = () => page.faults.filter((fault) => !allow.some((pattern) => pattern.test(fault)));
    const check = (result) => {
      if (result.failed || faults().length > 0) throw new Error([result.failed, ...faults()].filter(Boolean).join('; '));
      return result;
    };
    check(await call(true));
    await page.reload();
    await page.waitForFunction('window.ready');
    const { vectors } = check(await call(false));
    return { thread: workers > 0 ? 'worker' : 'page', vectors, asked };
  } finally {
    page.context().off('request', note);
    await page.close();
  }
}
