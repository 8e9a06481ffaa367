/** In place of `../start.ts` in the entry `inline`: the worker's script comes with this one, as a blob. */
import type { OpenOptions } from '../../types.js';
import type { WorkerLike } from '../client.js';
import type { Started } from '../given.js';
import { givenWorker } from '../given.js';
import { serve } from '../serve.js';
import { wasm, worker } from './packed.js';

export { wantsWorker } from '../start.js';

let address: string | undefined;

export function startWorker(options: OpenOptions): Started {
  const given = givenWorker(options);
  if (given) return given;
  const [head, tail] = worker as NonNullable<typeof worker>;
  // Kept for the next opening: taking it back at once would race with the worker's start.
  address ??= URL.createObjectURL(new Blob([head, wasm, tail], { type: 'text/javascript' }));
  const start = (): Worker => new Worker(address as string, { type: 'module', name: 'memstrata' });
  return { worker: options.worker === true ? start() as WorkerLike : new MaybeWorker(start), owned: true };
}

/**
 * A worker where the page's policy allows one made of a blob (`worker-src blob:`), else the same service on this thread. A policy
 * speaks by an error before the first message; one that comes later is the engine's own.
 */
class MaybeWorker implements WorkerLike {
  readonly #listeners: [type: string, listener: (event: never) => void][] = [];
  /** What was posted before anything answered. */
  #early: unknown[] | undefined = [];
  #port: Worker | MessagePort | undefined;

  constructor(start: () => Worker) {
    try {
      const started = start();
      this.#port = started;
      started.addEventListener('message', () => (this.#early = undefined), { once: true });
      started.addEventListener('error', (event) => {
        if (this.#early === undefined) return;
        event.stopImmediatePropagation();
        event.preventDefault();
        started.terminate();
        this.#here();
      });
    } catch {
      this.#here();
    }
  }

  postMessage(message: unknown): void {
    this.#early?.push(message);
    this.#port?.postMessage(message);
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.push([type, listener]);
    this.#port?.addEventListener(type, listener as EventListener);
  }

  terminate(): void {
    if (this.#port instanceof MessagePort) this.#port.close();
    else this.#port?.terminate();
  }

  #here(): void {
    const { port1, port2 } = new MessageChannel();
    serve(port2);
    this.#port = port1;
    for (const [type, listener] of this.#listeners) port1.addEventListener(type, listener as EventListener);
    port1.start();
    for (const message of this.#early ?? []) port1.postMessage(message);
    this.#early = undefined;
  }
}
