/** A caller's store may serve several memories: it is opened for the first and closed after the last. */
import { invalid, MemoryOSError, toMemoryOSError } from '../errors.js';
import { show } from '../text.js';
import { engines } from './named.js';
import type { StorageEngine } from './types.js';

interface Attached {
  name: string;
  users: number;
  ready: Promise<void>;
}

const attached = new WeakMap<StorageEngine, Attached>();
const numbers = new WeakMap<StorageEngine, number>();
let lastNumber = 0;

/** Opens the store unless another memory has; the returned function lets it go. */
export async function attach(storage: StorageEngine, name: string): Promise<() => Promise<void>> {
  const entry = attached.get(storage) ?? { name, users: 0, ready: storage.open(name) };
  if (entry.name !== name) throw new MemoryOSError('LOCKED', `this storage engine is open under the name ${show(entry.name)}; it cannot be opened as ${show(name)} too`);
  attached.set(storage, entry);
  entry.users++;
  const detach = async (): Promise<void> => {
    if (--entry.users > 0) return;
    attached.delete(storage);
    await storage.close();
  };
  try {
    await entry.ready;
  } catch (error) {
    if (--entry.users === 0) attached.delete(storage);
    throw toMemoryOSError(error, 'STORAGE_UNAVAILABLE');
  }
  return detach;
}

/** Name of a store in the owner lock. Two in-memory stores are never the same one, whatever their names. */
export function storeIdentity(storage: StorageEngine): string {
  if (storage.kind !== 'memory') return storage.kind;
  const number = numbers.get(storage) ?? ++lastNumber;
  numbers.set(storage, number);
  return `memory#${number}`;
}

/** An engine as it was given, or one of the kind that is registered under this name. */
export function requireStorage(value: unknown): StorageEngine {
  const engine = (engines.get(value)?.() ?? value) as Partial<StorageEngine> | null;
  const complete = typeof engine === 'object' && engine !== null && typeof engine.kind === 'string'
    && [engine.open, engine.read, engine.commit, engine.close].every((method) => typeof method === 'function');
  if (!complete) throw invalid(`storage must be "indexeddb", "memory" or an engine with kind, open, read, commit and close, got ${show(value)}`);
  return engine as StorageEngine;
}
