/** Storage in the origin private file system of browsers: `memstrata/storage/opfs`. */
import { invalid, MemoryOSError } from '../../errors.js';
import type { Port } from '../../engine/peer.js';
import { Peer } from '../../engine/peer.js';
import { show } from '../../text.js';
import { LogStorage } from '../log/store.js';
import type { LogOptions } from '../log/store.js';
import type { KeyRange, StorageEngine, WriteBatch } from '../types.js';
import type { OpfsCalls, OpfsSettings } from './calls.js';
import { OpfsDirectory } from './directory.js';

export type { LogOptions } from '../log/store.js';

/** Where the files lie in the origin's private file system, and the worker that has them open. */
export interface OpfsStorageOptions extends LogOptions {
  /** Name of the folder below the origin's root. Default `"memstrata"`. */
  folder?: string;
  /** How long `open` waits for another tab to let go before it rejects with LOCKED. Default 3,000. */
  lockWaitMs?: number;
  /** Makes the worker that has the file open, from `memstrata/storage/opfs-worker`. Default: the package's own script. */
  worker?: () => Worker;
}

/**
 * One append-only file a database, flushed before a batch is acknowledged. In a dedicated worker it works there; in a page it starts
 * a worker of its own, for only there a file can be flushed. Shared and service workers cannot do either.
 */
export class OpfsStorage implements StorageEngine {
  readonly kind: string;
  readonly #settings: OpfsSettings;
  readonly #start: () => Worker;
  #inner: StorageEngine & { compact(): Promise<void> } | undefined;

  constructor(options: OpfsStorageOptions = {}) {
    const { folder = 'memstrata', lockWaitMs: waitMs = 3_000, worker, ...log } = options;
    if (typeof folder !== 'string' || !/^[\w-]+$/.test(folder)) throw invalid(`folder must be a name of letters, digits, "_" and "-", got ${show(folder)}`);
    this.kind = `opfs:${folder}`;
    this.#settings = { ...log, folder, waitMs };
    // Spelt out in full: bundlers look for exactly this expression.
    this.#start = worker ?? (() => new Worker(new URL('./opfs-worker.js', import.meta.url), { type: 'module', name: 'memstrata-opfs' }));
  }

  async open(name: string): Promise<void> {
    if (this.#inner) throw invalid('this storage engine is open already: give each database its own');
    const { folder, waitMs, ...options } = this.#settings;
    // That class is there exactly where such handles can be made.
    const inner = 'FileSystemSyncAccessHandle' in globalThis
      ? new LogStorage(new OpfsDirectory({ folder, waitMs }), options)
      : new Remote(this.#start, this.#settings);
    await inner.open(name);
    this.#inner = inner;
  }

  async read(range: KeyRange): Promise<{ key: string; value: Uint8Array }[]> {
    return this.#opened().read(range);
  }

  async commit(batch: WriteBatch): Promise<void> {
    return this.#opened().commit(batch);
  }

  /** Writes the file anew with what is alive, so that nothing deleted or replaced is left in it. */
  async compact(): Promise<void> {
    return this.#opened().compact();
  }

  async close(): Promise<void> {
    const inner = this.#inner;
    this.#inner = undefined;
    await inner?.close();
  }

  #opened(): StorageEngine & { compact(): Promise<void> } {
    if (!this.#inner) throw new MemoryOSError('CLOSED', 'the store is not open');
    return this.#inner;
  }
}

/** The page's side of the worker. */
class Remote implements StorageEngine {
  readonly kind = 'opfs';
  readonly #settings: OpfsSettings;
  readonly #start: () => Worker;
  #worker: Worker | undefined;
  #peer!: Peer<OpfsCalls, object>;

  constructor(start: () => Worker, settings: OpfsSettings) {
    this.#start = start;
    this.#settings = settings;
  }

  async open(name: string): Promise<void> {
    if (typeof Worker === 'undefined') throw new MemoryOSError('STORAGE_UNAVAILABLE', 'files can be kept only in a page or a dedicated worker: open the memory there, or use another storage');
    const worker = this.#start();
    this.#worker = worker;
    this.#peer = new Peer<OpfsCalls, object>(worker as unknown as Port, { handlers: {}, fallback: 'STORAGE_UNAVAILABLE' });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      this.#peer.kill(new MemoryOSError('STORAGE_UNAVAILABLE', `the worker that has the file open is lost (${event.message ?? 'its script could not be loaded'}): close the memory and open it again`));
    });
    try {
      await this.#peer.call('open', [this.#settings, name]);
    } catch (error) {
      worker.terminate();
      throw error;
    }
  }

  read(range: KeyRange): Promise<{ key: string; value: Uint8Array }[]> {
    return this.#peer.call('read', [range]);
  }

  commit(batch: WriteBatch): Promise<void> {
    return this.#peer.call('commit', [{ ...batch, puts: batch.puts.map((put) => ({ ...put, value: put.value.slice() })) }]);
  }

  compact(): Promise<void> {
    return this.#peer.call('compact', []);
  }

  async close(): Promise<void> {
    try {
      await this.#peer.call('close', []);
    } finally {
      this.#worker?.terminate();
    }
  }
}
