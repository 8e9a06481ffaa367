/** Time as an argument, so that tests wait for nothing. */
export interface Clock {
  now(): number;
  /** Calls `fn` after `ms`; returns what takes it back. A `"background"` timer does not keep a Node process alive. */
  after(ms: number, fn: () => void, kind?: 'background'): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn, kind) {
    // Longer delays overflow to "at once" in every engine.
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
    if (kind === 'background' && typeof timer === 'object') (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, rejects with the signal's reason as soon as it fires. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      stop();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
