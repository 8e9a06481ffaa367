/** Waits for calls to end, but not for ever. */
import type { Clock } from '../clock.js';

/** Resolves when all are settled, or after `ms`. */
export function settledWithin(clock: Clock, ms: number, promises: Iterable<Promise<unknown>>): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.after(ms, resolve);
    void Promise.allSettled(promises).then(() => {
      stop();
      // After whoever waited for them as well: answers leave before the end is said.
      queueMicrotask(resolve);
    });
  });
}
