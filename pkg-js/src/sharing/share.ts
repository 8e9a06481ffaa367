/**
 * One memory, many tabs. Whoever holds the owner's lock has the engine; the others follow, and reach it over channels. When the
 * lock comes free the next in the queue opens the store, and what waits for an answer is asked of it.
 */
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import type { Engine } from '../engine/engine.js';
import type { Locks } from '../engine/lock.js';
import { hold, LOCK_WAIT_MS, platformLocks } from '../engine/lock.js';
import type { Handlers } from '../engine/peer.js';
import type { Args, EngineCalls, EngineOpenOptions, HostCalls, Result } from '../engine/protocol.js';
import { MemoryOSError, toMemoryOSError } from '../errors.js';
import { show } from '../text.js';
import type { Stats } from '../types.js';
import type { Route } from './link.js';
import { Link } from './link.js';
import type { LostReason, OpenLocal, Outside } from './local.js';
import { DRAIN_MS, Owner } from './owner.js';
import type { PageLife } from './page-life.js';
import { pageLife } from './page-life.js';
import { argsOf, asFirst, identified, lostCall, repeats, undone } from './repeat.js';
import type { Channel, Mood, Notice, OpenChannel } from './room.js';
import { randomName, Room, SHARING_VERSION } from './room.js';
import { Silence } from './silence.js';
import { WaitingCalls } from './waiting.js';

/** How often a tab without an owner asks for one. */
const ASK_EVERY_MS = 500;
/** While calls are under way: how often the owner is asked whether it lives, and how long a call waits for one that never says so. */
const MIND_EVERY_MS = 2_500;
export const SILENCE_MS = 10_000;
/** Owners that one call may see lost before it is given up: a call that kills engines must not kill them all. */
const MOST_LOST_OWNERS = 2;

export interface ShareOptions extends Outside {
  options: EngineOpenOptions;
  open: OpenLocal;
  signal?: AbortSignal | undefined;
}

/** What tests replace. */
export interface ShareParts {
  locks: Locks;
  channel: OpenChannel;
  clock: Clock;
  page: PageLife;
}

const platform = (): ShareParts => ({
  // Who calls has seen that there are locks.
  locks: platformLocks() as Locks,
  channel(name) {
    const channel = new BroadcastChannel(name) as Channel & { unref?(): void };
    // In Node an open memory does not keep the process alive.
    channel.unref?.();
    return channel;
  },
  clock: systemClock,
  page: pageLife,
});

/** Opens a memory as one of many. Resolves when it, or the tab that owns it, has the store open. */
export async function share(options: ShareOptions, parts: ShareParts = platform()): Promise<Engine> {
  const engine = new SharedEngine(options, parts);
  await engine.opened(options.signal);
  return engine;
}

class SharedEngine implements Engine {
  readonly #given: ShareOptions;
  readonly #parts: ShareParts;
  readonly #handlers: Handlers<HostCalls>;
  readonly #waiting: WaitingCalls;
  /** Answers of the model to calls under way: a call that is repeated is not asked of the model twice. */
  readonly #answers = new Map<string, ReturnType<Handlers<HostCalls>['chat']>>();
  #room: Room | undefined;
  #queued: AbortController | undefined;
  #letGo: (() => void) | undefined;
  #owner: Owner | undefined;
  #link: Link | undefined;
  /** Where calls go; absent between owners. */
  #route: Route | undefined;
  #mood: Mood;
  readonly #silence: Silence;
  #stopAsking: (() => void) | undefined;
  #minding: (() => void) | undefined;
  #unwatch: () => void = () => undefined;
  #older = false;
  #givingWay = false;
  #wasOpen = false;
  #end: MemoryOSError | undefined;
  #closing: Promise<void> | undefined;

  constructor(given: ShareOptions, parts: ShareParts) {
    this.#given = given;
    this.#parts = parts;
    this.#waiting = new WaitingCalls(parts.clock);
    this.#silence = new Silence(parts.clock);
    this.#mood = { paused: given.options.paused, settings: {} };
    this.#handlers = { ...given.handlers, chat: this.#chat };
  }

  async opened(signal?: AbortSignal): Promise<void> {
    this.#unwatch = this.#parts.page.watch(() => this.#suspend(), () => this.#come());
    this.#come();
    try {
      await this.#routed(() => undefined, signal);
    } catch (error) {
      this.#end ??= toMemoryOSError(error, 'INTERNAL');
      this.#unwatch();
      this.#leave();
      throw error;
    }
  }

  async call<M extends keyof EngineCalls>(method: M, given: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>> {
    // Also for an engine of this tab: it may be opened anew while it has the call.
    const args = identified(method, given);
    let sent = false;
    try {
      for (let losses = 0; ; ) {
        const route = await this.#routed(() => undone(method, args, sent), signal);
        if (route.remote) this.#mind();
        try {
          const result = await route.call(method, args, signal);
          return this.#ours(method, sent ? asFirst(method, args, result) : result);
        } catch (error) {
          const lost = lostCall(error);
          if (!lost) throw error;
          // Said before its own notice of closing came.
          if (!lost.sent && route === this.#link) this.#stopLink();
          if (!lost.sent) continue;
          sent = true;
          if (!repeats(method, args) || ++losses > MOST_LOST_OWNERS) throw undone(method, args, true);
        }
      }
    } finally {
      if (method === 'respond') this.#answers.delete(argsOf('respond', given)[1].callId);
    }
  }

  #ours<M extends keyof EngineCalls>(method: M, result: Result<EngineCalls, M>): Result<EngineCalls, M> {
    return method === 'stats' ? { ...(result as Stats), role: this.#owner ? 'owner' : 'follower' } as Result<EngineCalls, M> : result;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const closed = new MemoryOSError('CLOSED', 'the memory was closed');
    this.#unwatch();
    try {
      if (this.#owner) {
        this.#route = undefined;
        this.#room?.say({ kind: 'closing', epoch: this.#owner.epoch });
        await this.#owner.drain();
        await this.#owner.close();
      } else {
        await this.#link?.drain(this.#parts.clock, DRAIN_MS);
      }
    } finally {
      this.#end ??= closed;
      this.#leave();
    }
  }

  // Coming and going.

  #come(): void {
    if (this.#room || this.#end || this.#closing) return;
    this.#room = new Room(this.#given.options, this.#parts.channel, (notice) => this.#hear(notice));
    const queued = new AbortController();
    this.#queued = queued;
    hold(this.#parts.locks, this.#room.ownerLock, queued.signal).then(
      (release) => (queued.signal.aborted ? release() : this.#elected(release)),
      (error: unknown) => {
        if (!queued.signal.aborted) this.#fail(new MemoryOSError('STORAGE_UNAVAILABLE', 'the lock of the memory cannot be taken here', { cause: error }));
      },
    );
    this.#startAsking();
  }

  /** Gives everything back that others may need, at once. */
  #leave(): void {
    this.#queued?.abort();
    this.#stopAsking?.();
    this.#waiting.end();
    this.#minding?.();
    this.#minding = undefined;
    this.#route = undefined;
    if (this.#owner) {
      this.#owner.kill();
      this.#room?.say({ kind: 'gone', epoch: this.#owner.epoch });
      this.#mood = this.#owner.mood;
      this.#owner = undefined;
    }
    if (this.#link) {
      this.#room?.say({ kind: 'leave', epoch: this.#link.epoch, from: this.#link.id });
      this.#dropLink();
    }
    this.#room?.close();
    this.#room = undefined;
    this.#letGo?.();
    this.#letGo = undefined;
    if (this.#end) this.#waiting.refuse(this.#end);
  }

  #suspend(): void {
    if (!this.#room) return;
    this.#leave();
    // Runs only when the page does: whoever waits then has an owner soon, or is told.
    this.#waiting.begin();
  }

  #fail(error: MemoryOSError, reason: LostReason = 'worker-lost'): void {
    if (this.#end || this.#closing) return;
    const wasOpen = this.#wasOpen;
    this.#end = error;
    this.#unwatch();
    this.#leave();
    if (wasOpen) this.#given.onLost(reason);
  }

  // As owner.

  #elected(release: () => void): void {
    const room = this.#room;
    if (!room || this.#closing) return release();
    this.#letGo = release;
    if (this.#link) this.#lose();
    this.#stopAsking?.();
    const epoch = randomName();
    const owner = new Owner({
      options: this.#given.options,
      mood: this.#mood,
      room,
      epoch,
      handlers: this.#handlers,
      locks: this.#parts.locks,
      clock: this.#parts.clock,
      open: this.#given.open,
      onEvent: (event) => this.#given.onEvent(event),
      onFail: (error) => this.#fail(error),
    });
    this.#owner = owner;
    room.say(owner.notice(false));
    owner.opened().then(
      () => {
        if (this.#owner !== owner) return;
        this.#take(owner, 'owner');
        room.say(owner.notice(true));
      },
      (error: unknown) => this.#owner === owner && this.#fail(toMemoryOSError(error, 'INTERNAL')),
    );
  }

  // As follower.

  #hear(notice: Notice): void {
    switch (notice.kind) {
      case 'who':
        if (!this.#owner) break;
        if (notice.version > SHARING_VERSION) void this.#giveWay();
        else this.#room?.say(this.#owner.notice(this.#route === this.#owner));
        break;
      case 'join':
        // One that closes, or gives way, lets nobody in.
        if (notice.epoch !== this.#owner?.epoch || this.#route !== this.#owner) break;
        this.#owner.admit(notice.from, notice.needs, () => (this.#room as Room).line(notice.epoch, notice.from));
        this.#room?.say({ kind: 'welcome', epoch: notice.epoch, to: notice.from });
        break;
      case 'leave':
        if (notice.epoch === this.#owner?.epoch) this.#owner.dismiss(notice.from);
        break;
      case 'owner':
        if (!this.#owner) this.#heardOwner(notice);
        break;
      case 'welcome':
        if (this.#link && notice.to === this.#link.id && this.#route !== this.#link) this.#take(this.#link, 'follower');
        break;
      case 'closing':
        if (notice.epoch === this.#link?.epoch) this.#stopLink();
        break;
      case 'gone':
        if (notice.epoch === this.#link?.epoch) this.#lose();
        break;
    }
  }

  #heardOwner({ version, epoch, open, mood }: Notice & { kind: 'owner' }): void {
    this.#silence.end();
    this.#older = version < SHARING_VERSION;
    if (version > SHARING_VERSION) return this.#fail(newer(), 'newer-version');
    // It has heard which version asks, and gives way.
    if (this.#older) return;
    this.#mood = mood;
    if (this.#link && this.#link.epoch !== epoch) this.#lose();
    if (open && !this.#link) void this.#join(epoch);
  }

  async #join(epoch: string): Promise<void> {
    const room = this.#room as Room;
    const id = randomName();
    const release = await hold(this.#parts.locks, room.tabLock(id));
    if (this.#room !== room || this.#link || this.#owner) return release();
    this.#link = new Link({ id, epoch, line: room.line(epoch, id), handlers: this.#handlers, onEvent: (event) => this.#given.onEvent(event), onHeard: () => this.#silence.end(), release });
    const { chatModel, retrievers } = this.#given.options;
    room.say({ kind: 'join', version: SHARING_VERSION, epoch, from: id, needs: { chatModel, retrievers } });
  }

  #startAsking(): void {
    this.#silence.begin();
    this.#ask();
  }

  /** Asks until there is an owner; a lock whose holder says nothing is not waited for. */
  #ask(): void {
    this.#stopAsking?.();
    if (this.#owner || this.#route || !this.#room) return;
    this.#room.say({ kind: 'who', version: SHARING_VERSION });
    if (this.#silence.ask(ASK_EVERY_MS) >= LOCK_WAIT_MS) {
      // What was sent to an owner that has not answered since is lost with it.
      if (this.#link) this.#dropLink();
      // None of these has been begun: whoever lost an owner was told when the hand-over took too long.
      this.#waiting.refuse(this.#silent());
    }
    this.#stopAsking = this.#parts.clock.after(ASK_EVERY_MS, () => this.#ask(), 'background');
  }

  #silent(): MemoryOSError {
    const { name, userId, assistantId } = this.#given.options;
    const why = this.#older ? 'a tab with an older version of memstrata, which has not let it go' : 'another tab or worker that does not answer (it may be frozen, or stopped by a debugger)';
    return new MemoryOSError('LOCKED', `memory ${show(name)} of user ${show(userId)} is held by ${why}: close or reload that one, and try again`, {
      data: { name, userId, assistantId, waitedMs: LOCK_WAIT_MS, waitsFor: this.#older ? 'older-version' : 'silent-owner', repeatable: true },
    });
  }

  // Between owners.

  #take(route: Route, role: 'owner' | 'follower'): void {
    this.#route = route;
    this.#wasOpen = true;
    this.#stopAsking?.();
    this.#waiting.go(route);
    this.#given.onEvent({ type: 'role', role });
  }

  #lose(): void {
    this.#route = undefined;
    this.#dropLink();
    this.#waiting.begin();
    this.#startAsking();
  }

  /** The owner closes: what it has is answered, what comes waits for the next one. */
  #stopLink(): void {
    this.#link?.stop();
    this.#route = undefined;
    this.#startAsking();
  }

  /** While calls are under way the owner is asked for signs of life: one that is stopped without a word keeps its lock. */
  #mind(): void {
    if (this.#minding) return;
    this.#silence.begin();
    const look = (): void => {
      this.#minding = undefined;
      if (!this.#route?.remote || !this.#link?.busy) return;
      // The first question comes after the first wait.
      if (this.#silence.ask(MIND_EVERY_MS) >= SILENCE_MS - MIND_EVERY_MS) return this.#lose();
      this.#room?.say({ kind: 'who', version: SHARING_VERSION });
      this.#minding = this.#parts.clock.after(MIND_EVERY_MS, look, 'background');
    };
    this.#minding = this.#parts.clock.after(MIND_EVERY_MS, look, 'background');
  }

  #dropLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (this.#route === link) this.#route = undefined;
    link?.drop();
  }

  /** Resolves with where calls go, as soon as there is an owner. */
  async #routed(tooLong: () => MemoryOSError | undefined, signal?: AbortSignal): Promise<Route> {
    if (this.#end) throw this.#end;
    return this.#route ?? this.#waiting.wait(tooLong, signal);
  }

  /** A newer version has come: its tab opens the store as soon as this one has let it go. */
  async #giveWay(): Promise<void> {
    const owner = this.#owner;
    // That tab asks until it has an answer.
    if (!owner || this.#closing || this.#givingWay) return;
    this.#givingWay = true;
    this.#route = undefined;
    this.#room?.say({ kind: 'closing', epoch: owner.epoch });
    await owner.drain();
    await owner.close().catch(() => undefined);
    this.#fail(newer(), 'newer-version');
  }

  readonly #chat: Handlers<HostCalls>['chat'] = ([request, callId], signal) => {
    if (callId === undefined) return this.#given.handlers.chat([request, callId], signal);
    const known = this.#answers.get(callId);
    if (known) return known;
    // Not cut off with the owner that asked: the next one asks again, and gets this answer.
    const answer = Promise.resolve(this.#given.handlers.chat([request, callId], NEVER));
    answer.catch(() => undefined);
    this.#answers.set(callId, answer);
    return answer;
  };
}

const NEVER = new AbortController().signal;

function newer(): MemoryOSError {
  return new MemoryOSError('VERSION_TOO_NEW', 'another tab has opened this memory with a newer version of memstrata: reload this page', { data: { reason: 'newer-version' } });
}
