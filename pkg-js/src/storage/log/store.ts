/**
 * A storage engine that appends to one file. A batch is acknowledged once it is on the disk, a relaxed one too; those that arrive
 * while the disk is busy share the next write. What was deleted or replaced leaves the file when it is compacted: written anew and renamed.
 */
import { invalid, isMemoryOSError, MemoryOSError } from '../../errors.js';
import type { ErrorCode } from '../../errors.js';
import { show } from '../../text.js';
import type { KeyRange, StorageEngine, WriteBatch } from '../types.js';
import { Contents } from './contents.js';
import { crc32 } from './crc.js';
import type { Hold, LogDirectory, LogFile } from './file.js';
import { encodeFrame, FILE_HEADER_BYTES, FRAME_HEADER_BYTES, newFileHeader, readFileHeader, STORES } from './frame.js';
import type { Salt } from './frame.js';
import { fileName } from './name.js';
import { readAt, scan, writeAt } from './scan.js';

/** How the append-only log is kept; sizes are in bytes. */
export interface LogOptions {
  /** Bytes of a file below which it is compacted only by closing. Default 1 MiB. */
  compactFromBytes?: number;
  /** Bytes set aside so that on a full disk deleting still works. Default 1 MiB; 0 is none. */
  reserveBytes?: number;
}

/** Values written at once by a compaction. */
const COMPACTION_BYTES = 1 << 20;

/** Kept beside the log, and given up when a full disk would refuse even a deletion. */
const RESERVE_BYTES = 1 << 20;

interface Waiting {
  batch: WriteBatch;
  resolve(): void;
  reject(error: unknown): void;
}

/** What is there between `open` and `close`. */
interface Open {
  name: string;
  file: LogFile;
  hold: Hold;
  contents: Contents;
  salt: Salt;
  end: number;
  sequence: number;
  /** Set after a write of unknown outcome: only opening anew tells what is on the disk. */
  broken?: MemoryOSError;
}

export class LogStorage implements StorageEngine {
  readonly kind: string;
  readonly #directory: LogDirectory;
  readonly #compactFromBytes: number;
  readonly #reserveBytes: number;
  #open: Open | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting: Waiting[] = [];
  /** A file that could not be compacted is not tried again until it has grown to this. */
  #retryFromBytes = 0;

  constructor(directory: LogDirectory, options: LogOptions = {}) {
    this.kind = directory.kind;
    this.#directory = directory;
    this.#compactFromBytes = options.compactFromBytes ?? 1 << 20;
    this.#reserveBytes = options.reserveBytes ?? RESERVE_BYTES;
  }

  /** Rejects with LOCKED, STORAGE_CORRUPT, VERSION_TOO_NEW, STORAGE_QUOTA or STORAGE_UNAVAILABLE. */
  open(name: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#open) throw invalid('this storage engine is open already: give each database its own');
      const file = await fileName(name);
      const hold = await this.#meaning(() => this.#directory.lock(file));
      let log: LogFile | undefined;
      try {
        await this.#meaning(async () => {
          log = await this.#directory.open(file);
          if (await log.size() === 0) {
            await log.close();
            log = undefined;
            await this.#takeFresh(file);
            log = await this.#directory.open(file);
          }
          // Left by a compaction that did not come to its end.
          await this.#directory.remove(fresh(file));
          const contents = new Contents();
          const { salt, end, sequence } = await scan(log, (operations, at) => contents.apply(operations, at));
          const open: Open = { name: file, file: log, hold, contents, salt, end, sequence };
          await this.#setAside(open);
          this.#open = open;
        });
      } catch (error) {
        await log?.close();
        await hold.release();
        throw error;
      }
    });
  }

  /** Where renaming is not one step, a stop in its middle leaves no old file and a new one that is complete. */
  async #takeFresh(name: string): Promise<void> {
    const file = await this.#directory.open(fresh(name));
    let complete = false;
    try {
      complete = await file.size() > FILE_HEADER_BYTES && (await scan(file, () => undefined)).complete;
    } finally {
      await file.close();
    }
    if (complete) await this.#directory.replace(fresh(name), name);
  }

  read({ store, from, to }: KeyRange): Promise<{ key: string; value: Uint8Array }[]> {
    return this.#inTurn(async () => {
      const { contents, file } = this.#opened();
      const found: { key: string; value: Uint8Array }[] = [];
      for (const [key, { at, length, crc }] of contents.range(store, from, to)) {
        const value = await this.#meaning(() => readAt(file, at, length));
        if (crc32(value) !== crc) throw new MemoryOSError('STORAGE_CORRUPT', `the value of ${store}/${key} is damaged: restore the file or an export`);
        found.push({ key, value });
      }
      return found;
    });
  }

  commit(batch: WriteBatch): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      // Copied at once: the caller may change its bytes as soon as this returns.
      const own = { ...batch, deletes: batch.deletes.map((range) => ({ ...range })), puts: batch.puts.map((put) => ({ ...put, value: put.value.slice() })) };
      for (const { store } of [...own.deletes, ...own.puts]) if (!STORES.includes(store)) throw invalid(`a store is one of ${STORES.join(', ')}, got ${show(store)}`);
      this.#waiting.push({ batch: own, resolve, reject });
      if (this.#waiting.length === 1) void this.#inTurn(() => this.#writeWaiting());
    });
  }

  /** Writes the file anew with what is alive, so that nothing deleted or replaced is left in it. Needs room for both. */
  compact(): Promise<void> {
    return this.#inTurn(() => this.#compact(this.#opened()));
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      const open = this.#open;
      if (!open) return;
      this.#open = undefined;
      try {
        if (!open.broken) await this.#end(open);
      } finally {
        await open.file.close();
        await open.hold.release();
      }
    });
  }

  /** A clean end. If it fails, the file is as after a crash, which it survives. */
  async #end(open: Open): Promise<void> {
    try {
      if (open.contents.deadValues > 0) await this.#compact(open);
      // An empty frame: damage to the last real one is then no longer at the end, and cannot pass for a torn write.
      await this.#append(open, []);
    } catch {
      return;
    }
  }

  async #writeWaiting(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    let open: Open;
    try {
      open = this.#opened();
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      return;
    }
    try {
      await this.#append(open, waiting.map(({ batch }) => batch));
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      const full = codeOf(error) === 'STORAGE_QUOTA';
      // What is too large together may have room one by one.
      for (const { batch, resolve, reject } of waiting) await (full ? this.#appendToFull(open, batch) : Promise.reject(error)).then(resolve, reject);
    }
    await this.#compactIfDue(open);
  }

  /** On a full disk what was set aside is given up for deleting, and for compacting where that makes room enough. */
  async #appendToFull(open: Open, batch: WriteBatch): Promise<void> {
    try {
      return await this.#append(open, [batch]);
    } catch (refusal) {
      const deletes = batch.deletes.length > 0;
      const wanted = batch.puts.reduce((sum, { value }) => sum + value.length, 0);
      if (codeOf(refusal) !== 'STORAGE_QUOTA' || !(deletes || open.end - open.contents.liveBytes > wanted)) throw refusal;
      await this.#directory.remove(reserve(open.name));
      try {
        if (!deletes) await this.#compact(open);
        await this.#append(open, [batch]);
        // What is deleted already need not wait for room.
        if (deletes) await this.#compact(open).catch(() => undefined);
      } finally {
        if (!open.broken) await this.#setAside(open);
      }
    }
  }

  /** Real bytes, written out: a length alone takes no room. Where there is none, deleting may fail too. */
  async #setAside({ name: log }: Open): Promise<void> {
    if (this.#reserveBytes === 0) return;
    const name = reserve(log);
    try {
      const file = await this.#directory.open(name);
      try {
        const size = await file.size();
        if (size < this.#reserveBytes) await writeAt(file, new Uint8Array(this.#reserveBytes - size), size);
      } finally {
        await file.close();
      }
    } catch {
      await this.#directory.remove(name).catch(() => undefined);
    }
  }

  async #append(open: Open, batches: WriteBatch[]): Promise<void> {
    if (open.broken) throw open.broken;
    const { bytes, operations } = encodeFrame(open.salt, open.sequence, batches);
    await this.#meaning(async () => {
      await open.hold.check();
      try {
        await writeAt(open.file, bytes, open.end);
      } catch (error) {
        await this.#takeBack(open, error);
        throw error;
      }
      try {
        await open.file.sync();
      } catch (error) {
        throw this.#break(open, error);
      }
    });
    open.contents.apply(operations, open.end + FRAME_HEADER_BYTES);
    open.end += bytes.length;
    open.sequence++;
  }

  /** A write that failed half way: what it left is cut off. */
  async #takeBack(open: Open, cause: unknown): Promise<void> {
    try {
      await open.file.truncate(open.end);
    } catch {
      throw this.#break(open, cause);
    }
  }

  #break(open: Open, cause: unknown): MemoryOSError {
    open.broken = new MemoryOSError('STORAGE_UNAVAILABLE', 'a write failed and it is not known what of it is on the disk: close the memory and open it again', { cause });
    return open.broken;
  }

  async #compactIfDue(open: Open): Promise<void> {
    const due = open.end > Math.max(this.#compactFromBytes, this.#retryFromBytes) && open.contents.liveBytes < open.end / 2;
    if (!due || open.broken) return;
    try {
      await this.#compact(open);
      this.#retryFromBytes = 0;
    } catch {
      // The old file is whole and in use; the batch that led here is acknowledged.
      this.#retryFromBytes = 2 * open.end;
    }
  }

  async #compact(open: Open): Promise<void> {
    if (open.broken) throw open.broken;
    await this.#meaning(async () => {
      await open.hold.check();
      const header = newFileHeader();
      try {
        await this.#writeLive(open, header);
        await open.hold.check();
      } catch (error) {
        await this.#directory.remove(fresh(open.name));
        throw error;
      }
      await this.#exchange(open, readFileHeader(header) as Salt);
    });
  }

  async #writeLive(open: Open, header: Uint8Array): Promise<void> {
    const salt = readFileHeader(header) as Salt;
    await this.#directory.remove(fresh(open.name));
    const file = await this.#directory.open(fresh(open.name));
    try {
      await writeAt(file, header, 0);
      let [end, sequence, bytes] = [FILE_HEADER_BYTES, 1, 0];
      let puts: WriteBatch['puts'] = [];
      const flush = async (): Promise<void> => {
        if (puts.length === 0) return;
        const frame = encodeFrame(salt, sequence++, [{ puts, deletes: [], durability: 'strict' }]).bytes;
        await writeAt(file, frame, end);
        end += frame.length;
        [puts, bytes] = [[], 0];
      };
      for (const [store, key, { at, length, crc }] of open.contents.all()) {
        const value = await readAt(open.file, at, length);
        // Never copied with a fresh checksum: that would make damage look whole.
        if (crc32(value) !== crc) throw new MemoryOSError('STORAGE_CORRUPT', `the value of ${store}/${key} is damaged: restore the file or an export`);
        puts.push({ store, key, value });
        bytes += length;
        if (bytes >= COMPACTION_BYTES) await flush();
      }
      await flush();
      // Says that the file is whole.
      await writeAt(file, encodeFrame(salt, sequence, []).bytes, end);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Puts the new file in the place of the old one. Whichever lies there afterwards is the one that is used. */
  async #exchange(open: Open, wanted: Salt): Promise<void> {
    let failure: unknown;
    try {
      await open.file.close();
      await this.#directory.replace(fresh(open.name), open.name);
    } catch (error) {
      failure = error;
    }
    try {
      open.file = await this.#directory.open(open.name);
      // Neither of the two is there: opening the store anew takes the new one.
      if (await open.file.size() === 0) throw failure ?? new MemoryOSError('STORAGE_CORRUPT', 'the compacted log is not where it was renamed to');
      const contents = new Contents();
      const { salt, end, sequence } = await scan(open.file, (operations, at) => contents.apply(operations, at));
      const renamed = salt.every((byte, at) => byte === wanted[at]);
      // In place, but perhaps not yet for good: after a loss of power the old file might be back.
      if (failure !== undefined && renamed) throw failure;
      Object.assign(open, { contents, salt, end, sequence });
    } catch (error) {
      throw this.#break(open, error);
    }
    if (failure !== undefined) throw failure;
  }

  #opened(): Open {
    if (!this.#open) throw new MemoryOSError('CLOSED', 'the store is not open');
    return this.#open;
  }

  /** One after another. */
  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(step);
    this.#tail = run.catch(() => undefined);
    return run;
  }

  async #meaning<T>(step: () => T | Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (isMemoryOSError(error)) throw error;
      const full = this.#directory.isFull(error);
      throw full
        ? new MemoryOSError('STORAGE_QUOTA', 'no room left for the log; nothing was written: free space, or export and clear', { cause: error })
        : new MemoryOSError('STORAGE_UNAVAILABLE', `the log cannot be used: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

function fresh(name: string): string {
  return `${name}.new`;
}

function reserve(name: string): string {
  return `${name}.reserve`;
}

function codeOf(error: unknown): ErrorCode | undefined {
  return isMemoryOSError(error) ? error.code : undefined;
}
