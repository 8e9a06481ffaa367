/** The owner's side: one engine, and the lines of those that follow. */
import { READS, WRITES } from '../engine/calls.js';
import type { Served } from '../engine/calls.js';
import type { HostChatRequest } from '../engine/contract.js';
import type { Locks } from '../engine/lock.js';
import { hold } from '../engine/lock.js';
import type { Handlers } from '../engine/peer.js';
import { Peer } from '../engine/peer.js';
import type { Args, EngineCalls, EngineOpenOptions, HostCalls, Result } from '../engine/protocol.js';
import type { Clock } from '../clock.js';
import { isMemoryOSError, MemoryOSError, toMemoryOSError } from '../errors.js';
import type { ChatResult } from '../providers/types.js';
import type { MemoryEvent, ResponseResult } from '../types.js';
import { cuttable } from './cuttable.js';
import type { Route } from './link.js';
import type { Local, OpenLocal } from './local.js';
import { argsOf, lostCall, ownerLost } from './repeat.js';
import type { Line, Mood, Needs, Notice, Room } from './room.js';
import { SHARING_VERSION } from './room.js';
import { settledWithin } from './within.js';

/** How long an owner that closes finishes what others have asked of it. */
export const DRAIN_MS = 1_000;
/** Times in a row that an engine may be lost before the owner gives up. */
const MOST_LOSSES = 3;
/** An engine that fails is opened anew at most this often. */
const RENEW_EVERY_MS = 5_000;

export interface OwnerOptions {
  options: EngineOpenOptions;
  mood: Mood;
  room: Room;
  epoch: string;
  handlers: Handlers<HostCalls>;
  locks: Locks;
  clock: Clock;
  open: OpenLocal;
  onEvent(event: MemoryEvent): void;
  /** It cannot go on. */
  onFail(error: MemoryOSError): void;
}

/** An engine of this tab, and the way to end the model calls of its own work. */
interface Running extends Local {
  cut(): void;
}

interface Follower {
  peer: Peer<HostCalls, EngineCalls>;
  line: Line;
  needs: Needs;
  watching: AbortController;
}

export class Owner implements Route {
  readonly remote = false;
  readonly epoch: string;
  readonly #given: OwnerOptions;
  readonly #followers = new Map<string, Follower>();
  readonly #inFlight = new Set<Promise<unknown>>();
  #options: EngineOpenOptions;
  #mood: Mood;
  #local: Promise<Running>;
  #stopped = false;
  #dead = false;
  #losses = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(given: OwnerOptions) {
    this.#given = given;
    this.epoch = given.epoch;
    this.#options = { ...given.options, paused: given.mood.paused };
    this.#mood = given.mood;
    this.#local = this.#open();
    this.#local.catch(() => undefined);
  }

  get mood(): Mood {
    return this.#mood;
  }

  /** Rejects with what keeps the store from being opened. */
  async opened(): Promise<void> {
    await this.#local;
  }

  async #open(): Promise<Running> {
    if (this.#dead) throw ownerLost(false);
    let lost = false;
    let failed = false;
    const { handlers, cut } = cuttable({ ...this.#given.handlers, chat: this.#chat, rank: this.#rank });
    const local = await this.#given.open(this.#options, {
      handlers,
      onEvent: (event) => this.#tell(event),
      onLost: () => {
        lost = true;
        if (!failed) this.#lost();
      },
    });
    const running = { ...local, cut };
    try {
      if (this.#dead) throw ownerLost(false);
      if (!lost && Object.keys(this.#mood.settings).length > 0) await local.engine.call('configure', [this.#mood.settings]);
      return running;
    } catch (error) {
      // Nobody gets this engine, so nobody else would end it, and it holds the store.
      failed = true;
      end(running);
      throw error;
    }
  }

  call<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>> {
    return this.#serve(method, args, this.#given.options.chatModel, signal);
  }

  /** `chatModel`: that of the tab which calls. */
  async #serve<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, chatModel: string | null, signal?: AbortSignal): Promise<Result<EngineCalls, M>> {
    if (method === 'respond' && chatModel === null && this.#options.chatModel !== null) {
      return (await this.#recallOnly(argsOf('respond', args), signal)) as Result<EngineCalls, M>;
    }
    return this.#run(method, args, signal);
  }

  /** The answer to a tab without a language model, from an engine that has another tab's. */
  async #recallOnly([query, input]: Args<EngineCalls, 'respond'>, signal?: AbortSignal): Promise<ResponseResult> {
    const { budgetTokens, callId: _, style: _style, relationship: _relationship, ...turn } = input;
    const options = { topK: 10, budgetTokens, strategy: 'auto', profile: 'auto', filter: {}, epochMs: input.epochMs ?? this.#given.clock.now(), offsetMinutes: input.offsetMinutes } as const;
    const recall = await this.#run('retrieve', [query, options], signal);
    const { id } = await this.#run('add', [{ ...turn, agentResponse: '' }], signal);
    return { text: recall.context, pageId: id, mode: 'memory-only', recall, finishReason: 'stop' };
  }

  async #run<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>> {
    if (this.#stopped) throw ownerLost(false);
    const local = this.#local;
    const { engine } = await local;
    if (this.#stopped) throw ownerLost(false);
    const run = engine.call(method, args, signal);
    this.#inFlight.add(run);
    try {
      const result = await run;
      this.#losses = 0;
      this.#note(method, args);
      return result;
    } catch (error) {
      // Of an engine that goes, or is gone; from one that stays it is somebody else's word.
      if (isMemoryOSError(error) && error.code === 'CLOSED' && (this.#stopped || local !== this.#local)) throw ownerLost(true);
      this.#suspect(error);
      throw error;
    } finally {
      this.#inFlight.delete(run);
    }
  }

  /** Lets a follower in. One that needs more than the engine was opened with has it opened anew. */
  admit(id: string, needs: Needs, line: () => Line): void {
    if (this.#stopped || this.#followers.has(id)) return;
    const watching = new AbortController();
    const own = line();
    const serve = <M extends keyof EngineCalls>(method: M) => (args: Args<EngineCalls, M>, signal: AbortSignal) => this.#serve(method, marked(method, args, `${id}/`), needs.chatModel, signal);
    const peer = new Peer<HostCalls, EngineCalls>(own, {
      fallback: 'INTERNAL',
      handlers: Object.fromEntries([...READS, ...WRITES].map((method) => [method, serve(method)])) as unknown as Handlers<Pick<EngineCalls, Served>>,
    });
    this.#followers.set(id, { peer, line: own, needs, watching });
    void hold(this.#given.locks, this.#given.room.tabLock(id), watching.signal).then((release) => {
      release();
      this.dismiss(id);
    }, () => undefined);
    if (!this.#offers(needs)) this.#widen(needs);
  }

  /** A follower has left or died: what only it waited for is cut off. */
  dismiss(id: string): void {
    const follower = this.#followers.get(id);
    if (!follower) return;
    this.#followers.delete(id);
    follower.watching.abort();
    follower.peer.kill(new MemoryOSError('CLOSED', 'the tab that asked is gone'), true);
    follower.line.close();
    this.#relend();
  }

  /** Takes no further calls; resolves when those under way are answered, or after a while. */
  async drain(): Promise<void> {
    this.#stopped = true;
    await this.#drained();
  }

  /** An orderly end: all that was answered is stored. */
  async close(): Promise<void> {
    this.#stopped = true;
    try {
      const { engine, cut } = await this.#local;
      this.#dead = true;
      cut();
      await engine.close();
    } catch (error) {
      if (!lostCall(error)) throw error;
    } finally {
      this.#end();
    }
  }

  /** Ends at once: what is under way is lost. */
  kill(): void {
    this.#stopped = true;
    this.#dead = true;
    this.#local.then(end, () => undefined);
    this.#end();
  }

  #end(): void {
    this.#dead = true;
    for (const id of [...this.#followers.keys()]) this.dismiss(id);
  }

  #drained(): Promise<void> {
    return settledWithin(this.#given.clock, DRAIN_MS, this.#inFlight);
  }

  #tell(event: MemoryEvent): void {
    // An engine that ends is no memory that ends.
    if (event.type === 'closed' || this.#dead) return;
    this.#given.onEvent(event);
    for (const { peer } of this.#followers.values()) peer.emit(event);
  }

  #note<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>): void {
    if (method === 'pause' || method === 'resume') this.#mood = { ...this.#mood, paused: method === 'pause' };
    else if (method === 'configure') this.#mood = { ...this.#mood, settings: { ...this.#mood.settings, ...argsOf('configure', args)[0] } };
    else return;
    this.#options = { ...this.#options, paused: this.#mood.paused };
    this.#given.room.say(this.notice(true));
  }

  notice(open: boolean): Notice {
    return { kind: 'owner', version: SHARING_VERSION, epoch: this.epoch, open, mood: this.#mood };
  }

  // Models and retrievers of a call are its caller's. Of its callers each names its calls anew, so their names are marked.
  readonly #chat: Handlers<HostCalls>['chat'] = ([request, callId], signal) => {
    const { follower, own } = this.#callerOf(callId);
    if (follower) return follower.peer.call('chat', [request, own], signal);
    if (callId === undefined && this.#given.options.chatModel === null) return this.#askLender(request, signal);
    return this.#given.handlers.chat([request, callId], signal);
  };

  /** The tab whose model does the background work where the owner's tab has none. */
  #lender(): Follower | undefined {
    return [...this.#followers.values()].find(({ needs }) => needs.chatModel !== null);
  }

  async #askLender(request: HostChatRequest, signal: AbortSignal): Promise<ChatResult> {
    const lender = this.#lender();
    const gone = (cause?: unknown) => new MemoryOSError('PROVIDER_FAILED', 'the tab whose language model did the background work is gone', { cause });
    if (!lender) throw gone();
    try {
      return await lender.peer.call('chat', [request, undefined], signal);
    } catch (error) {
      // The core would take this code for the end of its own store, and would do no further work.
      throw isMemoryOSError(error) && error.code === 'CLOSED' ? gone(error) : error;
    }
  }

  readonly #rank: Handlers<HostCalls>['rank'] = ([request], signal) => {
    const { follower, own } = this.#callerOf(request.callId);
    return follower ? follower.peer.call('rank', [{ ...request, ...(own === undefined ? {} : { callId: own }) }], signal) : this.#given.handlers.rank([request], signal);
  };

  #callerOf(callId: string | undefined): { follower?: Follower; own?: string } {
    const at = callId?.indexOf('/') ?? -1;
    if (callId === undefined || at < 0) return {};
    const follower = this.#followers.get(callId.slice(0, at));
    if (!follower) throw new MemoryOSError('ABORTED', 'the tab that asked is gone');
    return { follower, own: callId.slice(at + 1) };
  }

  #offers({ chatModel, retrievers }: Needs): boolean {
    return (chatModel === null || this.#options.chatModel !== null) && retrievers.every((name) => this.#options.retrievers.includes(name));
  }

  #widen({ chatModel, retrievers }: Needs): void {
    this.#options = { ...this.#options, chatModel: this.#options.chatModel ?? chatModel, retrievers: [...new Set([...this.#options.retrievers, ...retrievers])] };
    this.#renew();
  }

  /** A lent model goes with its tab. Then that of the next tab which has one, or rules do the background work. */
  #relend(): void {
    const chatModel = this.#lender()?.needs.chatModel ?? null;
    if (this.#stopped || this.#given.options.chatModel !== null || this.#options.chatModel === chatModel) return;
    this.#options = { ...this.#options, chatModel };
    this.#renew();
  }

  /** A store whose last write is unknown refuses every other, and a core that has panicked answers nothing: both want opening anew. */
  #suspect(error: unknown): void {
    const { code } = toMemoryOSError(error, 'INTERNAL');
    const now = this.#given.clock.now();
    if ((code !== 'STORAGE_UNAVAILABLE' && code !== 'INTERNAL') || now - this.#renewedAt < RENEW_EVERY_MS) return;
    this.#renewedAt = now;
    this.#renew();
  }

  #lost(): void {
    if (this.#dead) return;
    this.#losses++;
    if (this.#losses > MOST_LOSSES) this.#given.onFail(new MemoryOSError('CLOSED', 'the worker of the memory was lost again and again; what was acknowledged is stored: open the memory again', { data: { reason: 'worker-lost' } }));
    else this.#renew();
  }

  #renew(): void {
    if (this.#stopped) return;
    const before = this.#local;
    this.#local = (async () => {
      const old = await before.catch(() => undefined);
      // What a lost engine had under way is rejected already, so nothing of it is waited for.
      await this.#drained();
      old?.cut();
      // It rejects too, and is gone all the same.
      await old?.engine.close().catch(() => old.kill?.());
      return this.#open();
    })();
    this.#local.catch((error: unknown) => {
      if (!this.#dead) this.#given.onFail(toMemoryOSError(error, 'INTERNAL'));
    });
  }
}

function end({ engine, kill, cut }: Running): void {
  cut();
  if (kill) kill();
  else void engine.close().catch(() => undefined);
}

/** The arguments with the name of the call marked as that of one follower. */
function marked<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, mark: string): Args<EngineCalls, M> {
  if (method !== 'respond' && method !== 'retrieve') return args;
  const [query, input] = args as unknown as [string, { callId?: string }];
  return (input.callId === undefined ? args : [query, { ...input, callId: `${mark}${input.callId}` }]) as Args<EngineCalls, M>;
}
