/**
 * Contract of a storage engine. Four ordered key spaces of opaque bytes; keys are ASCII and sort by code unit.
 * `conformance.ts` holds the tests that every engine must pass.
 */

export type StoreName = 'wal' | 'chunk' | 'manifest' | 'blob';

/** Half-open range of keys: `from <= key < to`. */
export interface KeyRange {
  store: StoreName;
  from: string;
  to: string;
}

/** Changes that are made together or not at all. */
export interface WriteBatch {
  puts: { store: StoreName; key: string; value: Uint8Array }[];
  /** Carried out before the puts. */
  deletes: KeyRange[];
  /** `"strict"`: flushed to the disk before the promise resolves, where the platform can. */
  durability: 'strict' | 'relaxed';
}

/** A store of the caller's own, for `open({ storage })`. */
export interface StorageEngine {
  readonly kind: string;
  /** Called before anything else, and again after `close`. One engine serves every user and assistant of its name. */
  open(name: string): Promise<void>;
  /** Entries of a range in key order. */
  read(range: KeyRange): Promise<{ key: string; value: Uint8Array }[]>;
  /** All of it or nothing. Rejects with a `MemoryOSError` of code STORAGE_QUOTA when there is no room. */
  commit(batch: WriteBatch): Promise<void>;
  close(): Promise<void>;
}
