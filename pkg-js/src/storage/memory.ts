/** A store that lives as long as its object: for tests, and the pattern to write an engine by. */
import { MemoryOSError } from '../errors.js';
import type { KeyRange, StorageEngine, StoreName, WriteBatch } from './types.js';

/** What the store does beyond storing. */
export interface MemoryStorageOptions {
  /** Bytes of values it takes before it answers STORAGE_QUOTA. Default: no limit. */
  quotaBytes?: number;
}

type Stores = Record<StoreName, Map<string, Uint8Array>>;

/** A store in RAM: what one memory has stored in it, the next one that is opened on the same object finds. */
export class MemoryStorage implements StorageEngine {
  readonly kind = 'memory';
  readonly #quotaBytes: number;
  readonly #databases = new Map<string, Stores>();
  #open: Stores | undefined;

  constructor(options: MemoryStorageOptions = {}) {
    this.#quotaBytes = options.quotaBytes ?? Number.POSITIVE_INFINITY;
  }

  open(name: string): Promise<void> {
    const stores = this.#databases.get(name) ?? { wal: new Map(), chunk: new Map(), manifest: new Map(), blob: new Map() };
    this.#databases.set(name, stores);
    this.#open = stores;
    return Promise.resolve();
  }

  async read({ store, from, to }: KeyRange): Promise<{ key: string; value: Uint8Array }[]> {
    const entries = [...this.#stores()[store]].filter(([key]) => from <= key && key < to);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    // Copies both ways: neither side may change the other's bytes.
    return entries.map(([key, value]) => ({ key, value: value.slice() }));
  }

  async commit(batch: WriteBatch): Promise<void> {
    const stores = this.#stores();
    const next: Stores = { wal: new Map(stores.wal), chunk: new Map(stores.chunk), manifest: new Map(stores.manifest), blob: new Map(stores.blob) };
    for (const { store, from, to } of batch.deletes) {
      for (const key of next[store].keys()) if (from <= key && key < to) next[store].delete(key);
    }
    for (const { store, key, value } of batch.puts) next[store].set(key, value.slice());
    if (this.#quotaBytes < Number.POSITIVE_INFINITY) this.#checkRoom(next);
    Object.assign(stores, next);
  }

  close(): Promise<void> {
    this.#open = undefined;
    return Promise.resolve();
  }

  #checkRoom(next: Stores): void {
    let bytes = 0;
    for (const store of Object.values(next)) for (const value of store.values()) bytes += value.byteLength;
    if (bytes > this.#quotaBytes) {
      throw new MemoryOSError('STORAGE_QUOTA', `no room for ${bytes} bytes: the store holds ${this.#quotaBytes}`, { data: { bytes, quotaBytes: this.#quotaBytes } });
    }
  }

  #stores(): Stores {
    if (!this.#open) throw new MemoryOSError('CLOSED', 'the store is not open');
    return this.#open;
  }
}
