/** Opening and filling a memory through the published package, as any program in Node would. */
import { TurnMap } from './pages.mjs';

let serial = 0;

/** A new, empty memory that lives as long as the process. */
export async function openFresh({ userId = 'user', embedder = 'builtin', ...rest } = {}) {
  const { MemoryOS } = await import('memstrata');
  serial += 1;
  return MemoryOS.open({ name: `fresh-${serial}`, userId, storage: 'memory', embedder, ...rest });
}

/** Adds pages in order; `map` learns which page holds which turns. */
export async function addPages(memory, pages, { map = new TurnMap(), onProgress } = {}) {
  for (const [done, page] of pages.entries()) {
    const { id } = await memory.addMemory(page.input);
    map.set(id, page);
    onProgress?.({ done: done + 1, total: pages.length });
  }
  return map;
}
