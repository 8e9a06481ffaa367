/** The page's side of a worker that hosts the engine. */
import { MemoryOSError } from '../errors.js';
import type { MemoryEvent } from '../types.js';
import type { Engine } from './engine.js';
import type { PageHost } from './host.js';
import type { Locks } from './lock.js';
import { hold, platformLocks } from './lock.js';
import type { Port } from './peer.js';
import { Peer } from './peer.js';
import type { Args, EngineCalls, EngineOpenOptions, HostCalls, Result, ToWorker } from './protocol.js';

/** A Worker, as far as it is used; tests give a MessagePort. */
export interface WorkerLike extends Port {
  addEventListener(type: string, listener: (event: never) => void): void;
  terminate?(): void;
}

export interface ClientOptions {
  host: Pick<PageHost, 'handlers'>;
  onEvent(event: MemoryEvent): void;
  /** The worker died, on its own or by another's hand. */
  onLost(error: MemoryOSError): void;
  /** Sent along with each call, when time is injected. */
  now?: (() => number) | undefined;
  /** Whether closing ends the worker: yes for one of our own making. */
  owned: boolean;
  locks?: Locks | undefined;
}

export async function connect(worker: WorkerLike, options: EngineOpenOptions, client: ClientOptions, signal?: AbortSignal): Promise<RemoteEngine> {
  const engine = new RemoteEngine(worker, client);
  await engine.open(options, signal);
  return engine;
}

class RemoteEngine implements Engine {
  readonly #peer: Peer<ToWorker, HostCalls>;
  readonly #worker: WorkerLike;
  readonly #client: ClientOptions;
  readonly #locks: Locks | undefined;
  readonly #watching = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(worker: WorkerLike, client: ClientOptions) {
    this.#worker = worker;
    this.#client = client;
    this.#locks = 'locks' in client ? client.locks : platformLocks();
    this.#peer = new Peer<ToWorker, HostCalls>(worker, {
      handlers: client.host.handlers,
      fallback: 'PROVIDER_FAILED',
      onEvent: (event) => client.onEvent(event),
      onFatal: (error) => this.#lost(error),
      ...(client.now ? { now: client.now } : {}),
    });
    worker.addEventListener('error', (event: { message?: string; preventDefault?(): void }) => {
      event.preventDefault?.();
      this.#peer.kill(lostError(event.message ?? 'its script could not be loaded'));
    });
  }

  async open(options: EngineOpenOptions, signal?: AbortSignal): Promise<void> {
    const aliveLock = this.#locks && `memstrata-alive:${randomName()}`;
    try {
      await this.#peer.call('open', [{ ...options, ...(aliveLock ? { aliveLock } : {}) }], signal);
    } catch (error) {
      this.#end();
      throw error;
    }
    if (this.#locks && aliveLock) void this.#watch(this.#locks, aliveLock);
  }

  call<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>> {
    if (this.#closing) return Promise.reject(new MemoryOSError('CLOSED', 'the memory was closed'));
    return this.#peer.call(method, args as Args<ToWorker, M>, signal) as Promise<Result<EngineCalls, M>>;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends the worker where it stands: what waits for it is lost, and nothing is left to run later in a page that is stopped. */
  kill(): void {
    this.#peer.kill(lostError('it was ended'));
  }

  async #close(): Promise<void> {
    try {
      await this.#peer.call('close', []);
    } finally {
      this.#end();
      this.#peer.kill(new MemoryOSError('CLOSED', 'the memory was closed'), true);
    }
  }

  /** A killed worker sends no event, but its locks come free. */
  async #watch(locks: Locks, name: string): Promise<void> {
    try {
      const release = await hold(locks, name, this.#watching.signal);
      release();
    } catch {
      return; // Closed in the ordinary way.
    }
    if (!this.#closing) this.#peer.kill(lostError('it was killed'));
  }

  #lost(error: MemoryOSError): void {
    this.#end();
    if (!this.#closing) this.#client.onLost(error);
  }

  #end(): void {
    this.#watching.abort();
    if (this.#client.owned) this.#worker.terminate?.();
  }
}

function lostError(why: string): MemoryOSError {
  return new MemoryOSError('CLOSED', `the worker of the memory is lost (${why}); what was acknowledged is stored: open the memory again`, { data: { reason: 'worker-lost' } });
}

function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');
}
