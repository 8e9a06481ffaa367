/** IndexedDB as an engine of the caller's own, to put encryption over: one transaction a commit. The core has another, of its own. */
import { invalid, MemoryOSError, toMemoryOSError } from '../errors.js';
import { show } from '../text.js';
import type { KeyRange, StorageEngine, StoreName, WriteBatch } from './types.js';

/** `name` is that of the database. */
export interface IndexedDBStorageOptions {
  /** Begins the names of its databases, so that they are none of the core's. Default: `"memstrata-store"`. */
  name?: string;
}

const STORES: readonly StoreName[] = ['wal', 'chunk', 'manifest', 'blob'];
const LAYOUT_VERSION = 1;

/** IndexedDB as a storage engine of its own, to put encryption over. It shares no database with `storage: "indexeddb"`. Opening rejects with STORAGE_UNAVAILABLE where there is none. */
export function indexedDBStorage({ name = 'memstrata-store' }: IndexedDBStorageOptions = {}): StorageEngine {
  if (typeof name !== 'string' || name === '') throw invalid(`name must be a string that is not empty, got ${show(name)}`);
  return new IndexedDBStorage(name);
}

class IndexedDBStorage implements StorageEngine {
  readonly kind: string;
  readonly #prefix: string;
  #name: string | undefined;
  #database: IDBDatabase | undefined;

  constructor(prefix: string) {
    this.kind = `indexeddb:${prefix}`;
    this.#prefix = prefix;
  }

  async open(name: string): Promise<void> {
    this.#database = await openDatabase(`${this.#prefix}:${name}`);
    this.#name = name;
    // A newer version of the package, or the deletion of the database, must not wait for this tab.
    this.#database.onversionchange = () => this.#database?.close();
  }

  async read({ store, from, to }: KeyRange): Promise<{ key: string; value: Uint8Array }[]> {
    if (from >= to) {
      this.#opened();
      return [];
    }
    const transaction = await this.#transaction([store], 'readonly', 'relaxed');
    const range = IDBKeyRange.bound(from, to, false, true);
    const source = transaction.objectStore(store);
    const [keys, values] = await Promise.all([result(source.getAllKeys(range)), result<Uint8Array[]>(source.getAll(range))]);
    return keys.map((key, at) => ({ key: key as string, value: values[at] as Uint8Array }));
  }

  async commit({ puts, deletes, durability }: WriteBatch): Promise<void> {
    const stores = [...new Set([...deletes, ...puts].map(({ store }) => store))];
    const unknown = stores.find((store) => !STORES.includes(store));
    if (unknown !== undefined) throw invalid(`there is no store ${show(unknown)}`);
    this.#opened();
    if (stores.length === 0) return;
    const transaction = await this.#transaction(stores, 'readwrite', durability);
    const done = completed(transaction);
    try {
      for (const { store, from, to } of deletes) if (from < to) transaction.objectStore(store).delete(IDBKeyRange.bound(from, to, false, true));
      // A view is stored with all of the buffer behind it.
      for (const { store, key, value } of puts) transaction.objectStore(store).put(value.byteLength === value.buffer.byteLength ? value : value.slice(), key);
    } catch (error) {
      done.catch(() => undefined);
      transaction.abort();
      throw failure(error);
    }
    await done;
  }

  async close(): Promise<void> {
    this.#database?.close();
    this.#database = undefined;
  }

  /** Opens the database once more when the browser has closed it. */
  async #transaction(stores: StoreName[], mode: IDBTransactionMode, durability: WriteBatch['durability']): Promise<IDBTransaction> {
    const begin = (): IDBTransaction => this.#opened().transaction(stores, mode, { durability });
    try {
      return begin();
    } catch (error) {
      if ((error as Partial<DOMException> | null)?.name !== 'InvalidStateError') throw failure(error);
    }
    await this.open(this.#name as string);
    try {
      return begin();
    } catch (error) {
      throw failure(error);
    }
  }

  #opened(): IDBDatabase {
    if (!this.#database) throw new MemoryOSError('CLOSED', 'the store is not open');
    return this.#database;
  }
}

function openDatabase(name: string): Promise<IDBDatabase> {
  if (typeof indexedDB === 'undefined') return Promise.reject(new MemoryOSError('STORAGE_UNAVAILABLE', 'there is no IndexedDB here: use another storage engine'));
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, LAYOUT_VERSION);
    request.onupgradeneeded = () => {
      for (const store of STORES) request.result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error?.name === 'VersionError'
      ? new MemoryOSError('VERSION_TOO_NEW', 'a later version of the package has changed the layout of this database: update the package', { cause: request.error })
      : failure(request.error));
  });
}

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(failure(transaction.error ?? new DOMException('the transaction was aborted', 'UnknownError')));
  });
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failure(request.error));
  });
}

/** A full disk has a code of its own; whatever else went wrong, the store is not available. */
function failure(error: unknown): MemoryOSError {
  return toMemoryOSError(error, 'STORAGE_UNAVAILABLE');
}
