/** The log's files in a folder of Node's file system. Nobody but their owner may read them. */
import { promises as fs, readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Hold, LogDirectory, LogFile } from '../log/file.js';
import type { FileLockOptions } from './lock.js';
import { lockFile } from './lock.js';

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];

export class NodeDirectory implements LogDirectory {
  readonly kind: string;
  readonly #path: string;
  readonly #lock: FileLockOptions;

  constructor(path: string, lock: FileLockOptions) {
    this.#path = resolve(path);
    this.#lock = lock;
    this.kind = `node:${this.#path}`;
  }

  async lock(file: string): Promise<Hold> {
    await fs.mkdir(this.#path, { recursive: true, mode: 0o700 });
    return lockFile(this.#at(`${file}.lock`), this.#lock);
  }

  async open(name: string): Promise<LogFile> {
    const file = await fs.open(this.#at(name), 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return fs.open(this.#at(name), 'wx+', 0o600);
    });
    try {
      // A file that was copied here may have been given other rights.
      if (process.platform !== 'win32') await file.chmod(0o600);
      await this.#syncFolder();
    } catch (error) {
      await file.close();
      throw error;
    }
    return {
      size: async () => (await file.stat()).size,
      // Values are small and many: each would wait longer for its turn than for the disk.
      read: (into, at) => readSync(file.fd, into, 0, into.length, at),
      write: async (bytes, at) => (await file.write(bytes, 0, bytes.length, at)).bytesWritten,
      truncate: (bytes) => file.truncate(bytes),
      sync: () => file.sync(),
      close: () => file.close(),
    };
  }

  async replace(from: string, to: string): Promise<void> {
    await fs.rename(this.#at(from), this.#at(to));
    await this.#syncFolder();
  }

  async remove(file: string): Promise<void> {
    await fs.rm(this.#at(file), { force: true });
  }

  isFull(error: unknown): boolean {
    return FULL.includes((error as { code?: string } | null)?.code ?? '');
  }

  #at(file: string): string {
    return join(this.#path, file);
  }

  /** New names are on the disk only once their folder is. Windows has no such call, and needs none. */
  async #syncFolder(): Promise<void> {
    if (process.platform === 'win32') return;
    const folder = await fs.open(this.#path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}
