/** What goes over a Port, in both directions: plain JSON, which is what Chrome's messages are. */
import type { WireError } from '../engine/contract.js';
import type { MemoryEvent } from '../types.js';

/** Both ends come from one build of an extension; a content script of an older one may live on in its page. */
export const PORT_VERSION = 1;
export const DEFAULT_CHANNEL = 'memstrata';

export type ToHost =
  /** The first message. `client` is drawn at random and stays the same when the client connects anew. */
  | { kind: 'hello'; version: number; client: string; events: boolean }
  /** `to`: the host that was chosen. `heard`: pieces of text that have arrived, where the call is made again. */
  | { kind: 'call'; to: string; id: number; method: string; args: unknown[]; heard: number }
  | { kind: 'cancel'; to: string; id: number }
  | { kind: 'events'; on: boolean }
  | { kind: 'ping' };

export type Said =
  | { kind: 'welcome'; version: number }
  /** The memory is open: calls are answered from now on. */
  | { kind: 'ready' }
  /** It cannot be opened. */
  | { kind: 'failed'; error: WireError }
  | { kind: 'text'; id: number; text: string }
  | { kind: 'result'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: WireError }
  | { kind: 'event'; event: MemoryEvent }
  | { kind: 'pong' };

/** `host` is drawn at random by each host. */
export type ToClient = Said & { host: string };

/** Asks whoever keeps the host to start it. */
export interface Wake {
  memstrata: 'wake';
  channel: string;
}

export function isWake(message: unknown, channel: string): message is Wake {
  const { memstrata, channel: asked } = (typeof message === 'object' && message !== null ? message : {}) as Partial<Wake>;
  return memstrata === 'wake' && asked === channel;
}

export function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');
}
