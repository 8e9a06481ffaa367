/**
 * One owner per memory. Two engines on one store would each hold a state the other does not know of, so the second
 * waits a moment (a reloaded page's old worker is on its way out) and is then refused.
 */
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { aborted, MemoryOSError } from '../errors.js';
import type { Identity } from '../boundary/open.js';
import { raced } from '../race.js';
import { show } from '../text.js';

/** How long an opening memory waits for the former owner to let go. */
export const LOCK_WAIT_MS = 3_000;

export type Release = () => void;

/** The part of `navigator.locks` that is used. */
export interface Locks {
  request(name: string, options: { signal?: AbortSignal }, held: () => Promise<void>): Promise<unknown>;
}

export interface LockOptions {
  locks?: Locks | undefined;
  clock?: Clock;
  waitMs?: number;
  signal?: AbortSignal;
}

/** `store` tells stores apart that may hold memories of the same name. */
export function lockName(store: string, identity: Identity): string {
  // JSON keeps the parts apart whatever characters they hold.
  return `memstrata:${JSON.stringify([store, identity.name, identity.userId, identity.assistantId])}`;
}

/** Web Locks of this realm; missing in Node 20 and on pages without a secure context. */
export function platformLocks(): Locks | undefined {
  const { navigator } = globalThis as { navigator?: { locks?: Locks } };
  return navigator?.locks;
}

/** Takes the lock or rejects with LOCKED; the returned function lets it go. */
export async function acquire(store: string, identity: Identity, options: LockOptions = {}): Promise<Release> {
  const { locks = processLocks, clock = systemClock, waitMs = LOCK_WAIT_MS, signal } = options;
  if (signal?.aborted) throw aborted(signal);
  const waiting = new AbortController();
  const onAbort = (): void => waiting.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const stop = clock.after(waitMs, () => waiting.abort());
  try {
    return await hold(locks, lockName(store, identity), waiting.signal);
  } catch (error) {
    if (signal?.aborted) throw aborted(signal);
    if (!waiting.signal.aborted) throw new MemoryOSError('STORAGE_UNAVAILABLE', 'the lock of the memory cannot be taken here', { cause: error });
    throw new MemoryOSError(
      'LOCKED',
      `memory ${show(identity.name)} of user ${show(identity.userId)} is open in another tab, worker or MemoryOS object: close that one, or call close() on it, and open again`,
      { data: { name: identity.name, userId: identity.userId, assistantId: identity.assistantId, waitedMs: waitMs } },
    );
  } finally {
    stop();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Holds a lock until released; rejects when the signal fires first. */
export function hold(locks: Locks, name: string, signal?: AbortSignal): Promise<Release> {
  return new Promise((resolve, reject) => {
    locks
      .request(name, signal ? { signal } : {}, () => new Promise<void>((release) => resolve(release)))
      .catch(reject);
  });
}

/** Locks within one process, for where the platform has none: first come, first served. */
class ProcessLocks implements Locks {
  readonly #tails = new Map<string, Promise<void>>();

  async request(name: string, { signal }: { signal?: AbortSignal }, held: () => Promise<void>): Promise<void> {
    const before = this.#tails.get(name) ?? Promise.resolve();
    let leave!: () => void;
    const mine = new Promise<void>((resolve) => (leave = resolve));
    const tail = before.then(() => mine);
    this.#tails.set(name, tail);
    try {
      await raced(before, signal);
      await held();
    } finally {
      leave();
      // The last one out takes the entry with it.
      if (this.#tails.get(name) === tail) this.#tails.delete(name);
    }
  }
}

export const processLocks: Locks = new ProcessLocks();
