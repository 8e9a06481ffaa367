/** A follower's end of the line to the owner: makes its calls, and answers what they call back for. */
import type { Clock } from '../clock.js';
import type { Args, EngineCalls, HostCalls, Result } from '../engine/protocol.js';
import type { Handlers } from '../engine/peer.js';
import { Peer } from '../engine/peer.js';
import { aborted } from '../errors.js';
import type { MemoryEvent } from '../types.js';
import { Gate } from './gate.js';
import { argsOf, lostCall, ownerLost } from './repeat.js';
import type { Line } from './room.js';
import { settledWithin } from './within.js';

/** Calls of one follower that the owner has at once; the others wait here. */
export const CALLS_IN_FLIGHT = 32;

/** Where calls go: to an engine of this tab, or to another tab's. */
export interface Route {
  /** Whether a call leaves this tab. */
  readonly remote: boolean;
  call<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>>;
}

export interface LinkOptions {
  id: string;
  epoch: string;
  line: Line;
  handlers: Handlers<HostCalls>;
  onEvent(event: MemoryEvent): void;
  /** The owner has said something. */
  onHeard(): void;
  /** Lets the lock go by which the owner knows that this tab lives. */
  release(): void;
}

export class Link implements Route {
  readonly remote = true;
  readonly id: string;
  readonly epoch: string;
  readonly #options: LinkOptions;
  readonly #peer: Peer<EngineCalls, HostCalls>;
  readonly #gate = new Gate(CALLS_IN_FLIGHT);
  readonly #inFlight = new Set<Promise<unknown>>();
  #closing = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.id = options.id;
    this.epoch = options.epoch;
    options.line.addEventListener('message', () => options.onHeard());
    this.#peer = new Peer<EngineCalls, HostCalls>(options.line, { handlers: options.handlers, fallback: 'PROVIDER_FAILED', onEvent: (event) => options.onEvent(event) });
  }

  get busy(): boolean {
    return this.#inFlight.size > 0;
  }

  async call<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>> {
    const leave = isNested(method, args) ? () => undefined : await this.#enter(signal);
    if (this.#closing) {
      leave();
      throw ownerLost(false);
    }
    const run = this.#peer.call(method, args, signal);
    this.#inFlight.add(run);
    try {
      return await run;
    } finally {
      this.#inFlight.delete(run);
      leave();
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<() => void> {
    try {
      return await this.#gate.enter(signal);
    } catch (error) {
      throw lostCall(error) ? error : aborted(signal);
    }
  }

  /** No further call goes out; what is under way may still be answered. */
  stop(): void {
    this.#closing = true;
    this.#gate.shut(ownerLost(false));
  }

  /** Takes no further calls; resolves when those under way are answered, or after a while. */
  async drain(clock: Clock, ms: number): Promise<void> {
    this.stop();
    await settledWithin(clock, ms, this.#inFlight);
  }

  /** Ends it; what is under way is lost. */
  drop(): void {
    this.stop();
    this.#peer.kill(ownerLost(true), true);
    this.#options.line.close();
    this.#options.release();
  }
}

/** Calls that a retriever makes while its search is under way must not wait for that search to end. */
function isNested<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>): boolean {
  if (method === 'candidates') return true;
  return method === 'retrieve' && argsOf('retrieve', args)[1].callId === undefined;
}
