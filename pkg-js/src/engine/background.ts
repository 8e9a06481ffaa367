/**
 * Runs the core's jobs in idle time: one at a time, never while another runs, asleep until the next is due.
 */
import type { Clock } from '../clock.js';
import { isMemoryOSError } from '../errors.js';

/** After a failure of `work` itself (not of a job: the core keeps account of those). */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

export interface BackgroundOptions {
  work(): Promise<{ ran: boolean; nextDueMs: number | null }>;
  clock: Clock;
  /** Calls back when the thread has nothing better to do. */
  idle(fn: () => void): void;
}

export class Background {
  readonly #options: BackgroundOptions;
  #scheduled = false;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #failures = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  /** Something was added, or may have become due. */
  kick(): void {
    if (this.#stopped || this.#scheduled) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#scheduled = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#options.idle(() => {
      this.#scheduled = false;
      if (this.#stopped) return;
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
        if (this.#again) {
          this.#again = false;
          this.kick();
        }
      });
    });
  }

  /** No further job starts; resolves when the running one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { work, clock } = this.#options;
    try {
      const { ran, nextDueMs } = await work();
      this.#failures = 0;
      if (ran) this.#again = true;
      else if (nextDueMs !== null) this.#sleep(nextDueMs - clock.now());
    } catch (error) {
      if (isMemoryOSError(error) && error.code === 'CLOSED') {
        this.#stopped = true;
        return;
      }
      this.#sleep(Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, LAST_RETRY_MS));
    }
  }

  #sleep(ms: number): void {
    if (this.#stopped) return;
    this.#cancelTimer?.();
    // A job due in the past that did not run must not spin.
    this.#cancelTimer = this.#options.clock.after(Math.max(ms, 50), () => this.kick(), 'background');
  }
}

/** Idle time of this realm: a page's idle callback where there is one, else after what is already queued. */
export function whenIdle(fn: () => void): void {
  const { requestIdleCallback } = globalThis as { requestIdleCallback?: (fn: () => void, options: { timeout: number }) => void };
  // With a timeout, since a hidden page has no idle periods.
  if (requestIdleCallback) requestIdleCallback(fn, { timeout: 1_000 });
  else setTimeout(fn, 0);
}
