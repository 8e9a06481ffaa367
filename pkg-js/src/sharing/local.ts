/** What the public class lends to those who share: the way to an engine of this tab. */
import type { Engine } from '../engine/engine.js';
import type { Handlers } from '../engine/peer.js';
import type { EngineOpenOptions, HostCalls } from '../engine/protocol.js';
import type { MemoryEvent } from '../types.js';

/** An engine of this tab, and the way to end it at once. */
export interface Local {
  engine: Engine;
  /** Ends a worker where it stands; absent where the engine runs on this thread. */
  kill?: () => void;
}

export type LostReason = Exclude<Extract<MemoryEvent, { type: 'closed' }>['reason'], 'called'>;

export interface Outside {
  handlers: Handlers<HostCalls>;
  onEvent(event: MemoryEvent): void;
  /** It is over, without a call of `close`. Without a reason: the worker is lost. */
  onLost(reason?: LostReason): void;
}

export type OpenLocal = (options: EngineOpenOptions, outside: Outside) => Promise<Local>;
