/**
 * Where the tabs of one memory meet: names of the locks and channels, and what is said to all. Two tabs that have found each
 * other talk over a line of their own, so that nobody else has to read their calls.
 */
import type { Identity } from '../boundary/open.js';
import { lockName } from '../engine/lock.js';
import type { Port } from '../engine/peer.js';
import type { Settings } from '../types.js';

/** Raised with every change of what crosses between tabs. The newest of the tabs that are open is the one that goes on. */
export const SHARING_VERSION = 1;

/** In the place of a store's name among the locks. */
const ROOM = 'indexeddb, shared';

/** The part of BroadcastChannel that is used. */
export interface Channel extends Port {
  close(): void;
}

export type OpenChannel = (name: string) => Channel;

/** What lasts until the memory is closed, and so outlives an owner. */
export interface Mood {
  paused: boolean;
  settings: Settings;
}

/** What an engine must be able to call back for. */
export interface Needs {
  chatModel: string | null;
  retrievers: string[];
}

export type Notice =
  /** A tab looks for the owner. */
  | { kind: 'who'; version: number }
  /** An owner says that it is there; `open` is false while it still loads. */
  | { kind: 'owner'; version: number; epoch: string; open: boolean; mood: Mood }
  | { kind: 'join'; version: number; epoch: string; from: string; needs: Needs }
  | { kind: 'welcome'; epoch: string; to: string }
  | { kind: 'leave'; epoch: string; from: string }
  /** The owner takes no further calls, and finishes those that it has. */
  | { kind: 'closing'; epoch: string }
  | { kind: 'gone'; epoch: string };

export class Room {
  readonly #name: string;
  readonly #open: OpenChannel;
  readonly #hall: Line;

  constructor(identity: Identity, open: OpenChannel, onNotice: (notice: Notice) => void) {
    this.#name = lockName(ROOM, identity);
    this.#open = open;
    this.#hall = new Line(open(this.#name));
    this.#hall.addEventListener('message', ({ data }) => {
      if (typeof data === 'object' && data !== null && 'kind' in data) onNotice(data as Notice);
    });
  }

  /** Held by the owner; whoever waits for it comes next. */
  get ownerLock(): string {
    return this.#name;
  }

  /** Held by a follower while it lives. */
  tabLock(id: string): string {
    return `${this.#name}:${id}`;
  }

  say(notice: Notice): void {
    this.#hall.postMessage(notice);
  }

  /** Owner and follower each open the line of this follower. An epoch is one ownership: what an earlier owner says is not heard. */
  line(epoch: string, id: string): Line {
    return new Line(this.#open(`${this.#name}:${epoch}:${id}`));
  }

  close(): void {
    this.#hall.close();
  }
}

/** A channel that may be posted to after it was closed, by answers that come too late. */
export class Line implements Port {
  #channel: Channel | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  postMessage(message: unknown): void {
    this.#channel?.postMessage(message);
  }

  addEventListener(type: 'message' | 'messageerror', listener: (event: { data: unknown }) => void): void {
    this.#channel?.addEventListener(type, listener);
  }

  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}

export function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join('-');
}
