/** Lets a bounded number in at once; the others wait in the order in which they came. */
export class Gate {
  #free: number;
  readonly #queue: ((error?: Error) => void)[] = [];
  #shut: Error | undefined;

  constructor(size: number) {
    this.#free = size;
  }

  /** Resolves with the way out. */
  async enter(signal?: AbortSignal): Promise<() => void> {
    if (this.#shut) throw this.#shut;
    // Its event has been, and comes to nobody who waits.
    if (signal?.aborted) throw signal.reason;
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    };
  }

  /** Turns away those that wait, and all that come. */
  shut(error: Error): void {
    this.#shut ??= error;
    for (const turn of this.#queue.splice(0)) turn(this.#shut);
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (error?: Error): void => {
        signal?.removeEventListener('abort', onAbort);
        if (error) reject(error);
        else resolve();
      };
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(turn), 1);
        turn(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(turn);
    });
  }
}
