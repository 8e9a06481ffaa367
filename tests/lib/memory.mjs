/** Opening and filling a memory through the published package, as any program in Node would. */
import { TurnMap } from './pages.mjs';

let serial = 0;

/** A new, empty memory that lives as long as the process. */
export async function openFresh({ userId = 'user', embedder = 'builtin', ...rest } = {}) {
  const { MemoryOS } = await import('memstrata');
  serial += 1;
  return MemoryOS.open({ name: `fresh-${serial}`, userId, storage: 'memory', embedder, ...rest });
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
