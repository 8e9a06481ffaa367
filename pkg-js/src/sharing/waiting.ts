/** Calls between two owners: they wait for the next one, and are told when that takes too long. */
import type { Clock } from '../clock.js';
import { aborted } from '../errors.js';
import type { MemoryOSError } from '../errors.js';
import { raced } from '../race.js';
import type { Route } from './link.js';

/** From the loss of an owner to the moment at which nobody waits for the next one any longer. */
export const HANDOVER_MS = 1_500;

interface Waiting {
  resolve(route: Route): void;
  reject(error: MemoryOSError): void;
  tooLong(): MemoryOSError | undefined;
}

export class WaitingCalls {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #stop: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with the next owner. `tooLong` gives what is said at the end of a hand-over; nothing, to go on waiting. */
  wait(tooLong: Waiting['tooLong'], signal?: AbortSignal): Promise<Route> {
    if (signal?.aborted) return Promise.reject(aborted(signal));
    let waiting!: Waiting;
    const route = new Promise<Route>((resolve, reject) => (waiting = { resolve, reject, tooLong }));
    this.#waiting.add(waiting);
    return raced(route, signal, aborted).finally(() => this.#waiting.delete(waiting));
  }

  /** An owner is lost: its calls, and those that come, have so long. */
  begin(): void {
    this.end();
    this.#stop = this.#clock.after(HANDOVER_MS, () => {
      for (const { reject, tooLong } of [...this.#waiting]) {
        const error = tooLong();
        if (error) reject(error);
      }
    });
  }

  /** The hand-over is over, or given up. */
  end(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  go(route: Route): void {
    this.end();
    for (const { resolve } of [...this.#waiting]) resolve(route);
  }

  refuse(error: MemoryOSError): void {
    for (const { reject } of [...this.#waiting]) reject(error);
  }
}
