/** Engines that `open({ storage: name })` finds by name. */
import { invalid } from '../errors.js';
import { show } from '../text.js';
import { engines } from './named.js';
import type { StorageEngine } from './types.js';

/** The core's own. */
const BUILT_IN = ['indexeddb', 'memory'];

/**
 * Makes `storage: name` known to `MemoryOS.open`; `make` is called for each memory that is opened so, and may give the same
 * engine each time: one serves every user and assistant of one database name. The returned function takes the name away again.
 */
export function registerStorage(name: string, make: () => StorageEngine): () => void {
  if (typeof name !== 'string' || name === '') throw invalid(`a storage engine's name must be a text, got ${show(name)}`);
  if (typeof make !== 'function') throw invalid(`registerStorage needs a function that makes an engine, got ${show(make)}`);
  if (BUILT_IN.includes(name) || engines.has(name)) throw invalid(`there is a storage engine ${show(name)} already: choose another name`);
  engines.set(name, make);
  return () => void (engines.get(name) === make && engines.delete(name));
}
