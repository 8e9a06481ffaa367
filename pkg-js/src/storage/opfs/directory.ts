/**
 * The log's files in the origin private file system. Its synchronous handles exist in dedicated workers alone, and a file has
 * one at a time, which the browser takes back when the worker dies: that is the lock.
 */
import { MemoryOSError } from '../../errors.js';
import { show } from '../../text.js';
import type { Hold, LogDirectory, LogFile } from '../log/file.js';

/** The parts of the platform's objects that are used; browsers have had `move` for these files longer than types have. */
export interface SyncHandle {
  getSize(): number;
  read(into: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(bytes: number): void;
  flush(): void;
  close(): void;
}

export interface FileHandle {
  createSyncAccessHandle(): Promise<SyncHandle>;
  move?(name: string): Promise<void>;
}

export interface Folder {
  getDirectoryHandle(name: string, options: { create: boolean }): Promise<Folder>;
  getFileHandle(name: string, options?: { create: boolean }): Promise<FileHandle>;
  removeEntry(name: string): Promise<void>;
}

const POLL_MS = 50;

export interface OpfsPlace {
  /** Name of the folder below the origin's root. */
  folder: string;
  waitMs: number;
  root?: () => Promise<Folder>;
}

export class OpfsDirectory implements LogDirectory {
  readonly kind: string;
  readonly #place: OpfsPlace;
  #opened: Promise<Folder> | undefined;

  constructor(place: OpfsPlace) {
    this.#place = place;
    this.kind = `opfs:${place.folder}`;
  }

  async lock(file: string): Promise<Hold> {
    const folder = await this.#folder();
    const end = performance.now() + this.#place.waitMs;
    for (;;) {
      try {
        const handle = await (await folder.getFileHandle(`${file}.lock`, { create: true })).createSyncAccessHandle();
        return { check: () => undefined, release: () => handle.close() };
      } catch (error) {
        if (nameOf(error) !== 'NoModificationAllowedError') throw error;
        if (performance.now() >= end) throw new MemoryOSError('LOCKED', `the memory's file in ${show(this.#place.folder)} is open in another tab or worker: close it there, and open again`, { cause: error });
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }
  }

  async open(file: string): Promise<LogFile> {
    const handle = await (await (await this.#folder()).getFileHandle(file, { create: true })).createSyncAccessHandle();
    return {
      size: () => handle.getSize(),
      read: (into, at) => handle.read(into, { at }),
      write: (bytes, at) => handle.write(bytes, { at }),
      truncate: (bytes) => handle.truncate(bytes),
      sync: () => handle.flush(),
      close: () => handle.close(),
    };
  }

  async replace(from: string, to: string): Promise<void> {
    const handle = await (await this.#folder()).getFileHandle(from);
    if (!handle.move) throw new MemoryOSError('STORAGE_UNAVAILABLE', 'this browser cannot rename files, so the log is not compacted: it works on, and grows');
    await handle.move(to);
  }

  async remove(file: string): Promise<void> {
    try {
      await (await this.#folder()).removeEntry(file);
    } catch (error) {
      if (nameOf(error) !== 'NotFoundError') throw error;
    }
  }

  isFull(error: unknown): boolean {
    return nameOf(error) === 'QuotaExceededError';
  }

  #folder(): Promise<Folder> {
    this.#opened ??= this.#find().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #find(): Promise<Folder> {
    const root = this.#place.root ?? (async () => (await navigator.storage.getDirectory()) as unknown as Folder);
    return (await root()).getDirectoryHandle(this.#place.folder, { create: true });
  }
}

function nameOf(error: unknown): unknown {
  return (error as { name?: unknown } | null)?.name;
}
