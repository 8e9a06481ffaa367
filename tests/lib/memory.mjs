/** Opening and filling a memory through the published package, as any program would. */
import { TurnMap } from './pages.mjs';

let serial = 0;

/** A new, empty memory that lives as long as the process. */
export async function openFresh({ userId = 'user', embedder = 'builtin', ...rest } = {}) {
  const { MemoryOS } = await import('memstrata');
  serial += 1;
  const memory = await MemoryOS.open({ name: `fresh-${serial}`, userId, storage: 'memory', embedder, ...rest });
  if (embedder !== 'none') await embedderReady(memory, typeof embedder === 'object');
  return memory;
}

/**
 * The embedding table comes after opening, so that a page can be used at once; who measures waits for it, from the moment of
 * opening: an embedder of one's own is ready before the table is.
 */
export async function embedderReady(memory, isOwn = false) {
  let settle;
  const said = new Promise((resolve, reject) => {
    settle = ({ status, message }) => {
      if (status === 'ready') resolve();
      if (status === 'failed') reject(new Error(`the embedding table cannot be had: ${message}`));
    };
  });
  const stop = memory.on('embedder', settle);
  if (!isOwn && (await memory.stats()).embedder.ready) settle({ status: 'ready' });
  await said.finally(stop);
}

const PAGES_A_CALL = 50;

/** Adds pages in order; `map` learns which page holds which turns. */
export async function addPages(memory, pages, { map = new TurnMap() } = {}) {
  for (let from = 0; from < pages.length; from += PAGES_A_CALL) {
    const some = pages.slice(from, from + PAGES_A_CALL);
    const added = await memory.addMany(some.map((page) => page.input));
    added.forEach(({ id }, i) => map.set(id, some[i]));
  }
  return map;
}
