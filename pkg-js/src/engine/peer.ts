/**
 * One end of the protocol: makes calls, answers the other side's. Knows nothing of memories, workers or models, so the
 * same code serves page and worker, and tests join two ends by a MessageChannel.
 */
import { aborted, fromWire, MemoryOSError, toWire } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import type { MemoryEvent } from '../types.js';
import type { Args, Message, Result } from './protocol.js';

/** What Worker, MessagePort and a worker's own scope have in common. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: 'message' | 'messageerror', listener: (event: { data: unknown }) => void): void;
  start?(): void;
}

export type Handlers<C> = {
  [M in keyof C]: (args: Args<C, M>, signal: AbortSignal) => Promise<Result<C, M>> | Result<C, M>;
};

export interface PeerOptions<In> {
  handlers: Handlers<In>;
  onEvent?: (event: MemoryEvent) => void;
  /** The other side is beyond use, by its own word or because a message of it could not be read. */
  onFatal?: (error: MemoryOSError) => void;
  /** The other side's time, where it sends one. */
  onNow?: (now: number) => void;
  /** Gives the time to send along; absent = the other side has its own clock. */
  now?: () => number;
  /** What an unknown error of one of our handlers means. */
  fallback: ErrorCode;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: MemoryOSError): void;
}

/** `Out`: the calls this end makes. `In`: the calls it answers. */
export class Peer<Out, In> {
  readonly #port: Port;
  readonly #options: PeerOptions<In>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #answering = new Map<number, AbortController>();
  #nextId = 1;
  #dead: MemoryOSError | undefined;

  constructor(port: Port, options: PeerOptions<In>) {
    this.#port = port;
    this.#options = options;
    port.addEventListener('message', (event) => this.#receive(event.data as Message<In>));
    port.addEventListener('messageerror', () => {
      this.kill(new MemoryOSError('INTERNAL', 'a message between page and worker could not be read'));
    });
    port.start?.();
  }

  call<M extends keyof Out>(method: M, args: Args<Out, M>, signal?: AbortSignal): Promise<Result<Out, M>> {
    if (this.#dead) return Promise.reject(this.#dead);
    if (signal?.aborted) return Promise.reject(aborted(signal));
    const id = this.#nextId++;
    return new Promise<unknown>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(id);
        this.#post({ kind: 'cancel', id });
        reject(aborted(signal));
      };
      const settle = (done: () => void): void => {
        signal?.removeEventListener('abort', onAbort);
        done();
      };
      this.#waiting.set(id, {
        resolve: (value) => settle(() => resolve(value)),
        reject: (error) => settle(() => reject(error)),
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      const now = this.#options.now?.();
      const request = { kind: 'request', id, method, args, ...(now === undefined ? {} : { now }) };
      try {
        this.#port.postMessage(request);
      } catch (error) {
        this.#waiting.delete(id);
        settle(() => reject(new MemoryOSError('INVALID_ARGUMENT', `the arguments of ${String(method)} cannot be cloned`, { cause: error })));
      }
    }) as Promise<Result<Out, M>>;
  }

  emit(event: MemoryEvent): void {
    this.#post({ kind: 'event', event });
  }

  /** Tells the other side that this one is beyond use. */
  fatal(thrown: unknown): void {
    this.#post({ kind: 'fatal', error: toWire(thrown, 'INTERNAL') });
  }

  /** Rejects every waiting and every later call with `error`, and aborts what is being answered. */
  kill(error: MemoryOSError, silent = false): void {
    if (this.#dead) return;
    this.#dead = error;
    for (const call of this.#waiting.values()) call.reject(error);
    this.#waiting.clear();
    for (const answer of this.#answering.values()) answer.abort(error);
    if (!silent) this.#options.onFatal?.(error);
  }

  #receive(message: Message<In>): void {
    if (this.#dead || typeof message !== 'object' || message === null) return;
    switch (message.kind) {
      case 'request':
        if (message.now !== undefined) this.#options.onNow?.(message.now);
        void this.#answer(message.id, message.method, message.args as Args<In, keyof In>);
        break;
      case 'result':
        this.#take(message.id)?.resolve(message.value);
        break;
      case 'error':
        this.#take(message.id)?.reject(fromWire(message.error));
        break;
      case 'cancel':
        this.#answering.get(message.id)?.abort();
        break;
      case 'event':
        this.#options.onEvent?.(message.event);
        break;
      case 'fatal':
        this.kill(fromWire(message.error));
        break;
    }
  }

  async #answer(id: number, method: keyof In, args: Args<In, keyof In>): Promise<void> {
    const controller = new AbortController();
    this.#answering.set(id, controller);
    try {
      const handler = Object.hasOwn(this.#options.handlers, method) ? this.#options.handlers[method] : undefined;
      if (!handler) throw new MemoryOSError('INTERNAL', `unknown call ${String(method)}`);
      const value = await handler(args, controller.signal);
      this.#post({ kind: 'result', id, value });
    } catch (error) {
      this.#post({ kind: 'error', id, error: toWire(error, this.#options.fallback) });
    } finally {
      this.#answering.delete(id);
    }
  }

  #take(id: number): Waiting | undefined {
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    return call;
  }

  #post(message: Message<Out>): void {
    this.#port.postMessage(message);
  }
}
