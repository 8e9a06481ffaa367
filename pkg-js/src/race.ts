/** Settles when the signal fires, also where the promise never does; rejects with its reason, or with `error`. */
export function raced<T>(promise: Promise<T>, signal: AbortSignal | undefined, error?: (signal: AbortSignal) => Error): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(error ? error(signal) : (signal.reason as Error));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
