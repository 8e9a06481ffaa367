/**
 * Models of one engine, with a way to end what it asks of them for its own work. An engine that closes waits for the job it is
 * in; a job waits for its model, which may take minutes. Jobs are kept, and doing one again does it once: the next engine does.
 */
import type { Handlers } from '../engine/peer.js';
import type { HostCalls } from '../engine/protocol.js';
import { MemoryOSError } from '../errors.js';
import { raced } from '../race.js';

export interface Cuttable {
  handlers: Handlers<HostCalls>;
  /** Ends the model calls of background work and every call of the embedder, and lets no further one through. */
  cut(): void;
}

export function cuttable(given: Handlers<HostCalls>): Cuttable {
  const over = new AbortController();
  const until = <T>(signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T> | T): Promise<T> => {
    const either = AbortSignal.any([signal, over.signal]);
    const answer = (async () => {
      either.throwIfAborted();
      return ask(either);
    })();
    return raced(answer, either);
  };
  return {
    handlers: {
      ...given,
      // An answer that somebody waits for is his: it outlives the engine, and the next one stores it.
      chat: (args, signal) => (args[1] === undefined ? until(signal, (either) => given.chat(args, either)) : given.chat(args, signal)),
      embed: (args, signal) => until(signal, (either) => given.embed(args, either)),
    },
    // With this code the core counts no failed attempt: it was not the job's fault, nor the model's.
    cut: () => over.abort(new MemoryOSError('CLOSED', 'the engine of the memory ends')),
  };
}
