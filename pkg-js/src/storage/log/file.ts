/**
 * What the log needs of a place to keep files in. Node's file system and the origin private file system of browsers are two
 * such places; tests have a third, which fails where they tell it to.
 */

export type Awaitable<T> = T | Promise<T>;

/** One open file. Errors are the platform's own; the directory says what they mean. */
export interface LogFile {
  size(): Awaitable<number>;
  /** Fills `into` from position `at` as far as the file goes; gives the count of bytes. */
  read(into: Uint8Array, at: number): Awaitable<number>;
  /** Gives the count of bytes written, which may be fewer than asked for. */
  write(bytes: Uint8Array, at: number): Awaitable<number>;
  truncate(bytes: number): Awaitable<void>;
  /** Returns once what was written is on the disk. */
  sync(): Awaitable<void>;
  close(): Awaitable<void>;
}

/** A held lock on one database. */
export interface Hold {
  /** Rejects with LOCKED when another process has taken the lock over. Asked before every write. */
  check(): Awaitable<void>;
  release(): Awaitable<void>;
}

export interface LogDirectory {
  /** Tells this directory from others: engines of the same kind and database name share one owner lock. */
  readonly kind: string;
  /** Rejects with LOCKED while another owner is alive. */
  lock(file: string): Promise<Hold>;
  /** Opens for reading and writing; makes an empty file where there is none, durably. */
  open(file: string): Promise<LogFile>;
  /** Puts `from` in the place of `to`, at once or not at all. Neither is open. */
  replace(from: string, to: string): Promise<void>;
  /** Removes a file, if it is there. */
  remove(file: string): Promise<void>;
  /** True for an error that says the disk, or the share of it, is full. */
  isFull(error: unknown): boolean;
}
