/** The worker's side: hosts one engine and calls the page back for models and stores. */
import { MemoryOSError, toMemoryOSError } from '../errors.js';
import { bridge } from './bridge.js';
import { READS, WRITES } from './calls.js';
import type { Served } from './calls.js';
import type { Engine, EngineParts } from './engine.js';
import { openEngine } from './engine.js';
import { hold, platformLocks } from './lock.js';
import type { Handlers, Port } from './peer.js';
import { Peer } from './peer.js';
import type { Args, EngineCalls, EngineOpenOptions, HostCalls, ToWorker } from './protocol.js';
import { PROTOCOL_VERSION } from './protocol.js';

/** Answers the page at the other end of `port`. Returns the peer, for the worker's own error listeners. */
export function serve(port: Port, parts: EngineParts = {}): Peer<HostCalls, ToWorker> {
  let engine: Engine | undefined;
  let opening = false;
  let pageNow: number | undefined;
  let bury: (() => void) | undefined;

  const running = <M extends keyof EngineCalls>(method: M) => (args: Args<EngineCalls, M>, signal: AbortSignal) => {
    if (!engine) throw new MemoryOSError('NOT_OPEN', 'the memory is not open');
    return engine.call(method, args, signal);
  };

  const peer: Peer<HostCalls, ToWorker> = new Peer<HostCalls, ToWorker>(port, {
    fallback: 'INTERNAL',
    onNow: (now) => (pageNow = now),
    handlers: {
      ...(Object.fromEntries([...READS, ...WRITES].map((method) => [method, running(method)])) as unknown as Handlers<Pick<EngineCalls, Served>>),
      open: async ([options], signal) => {
        checkVersion(options);
        if (opening) throw new MemoryOSError('INVALID_ARGUMENT', 'this worker already hosts a memory: give each its own worker');
        opening = true;
        try {
          if (options.aliveLock !== undefined) bury = await holdIfPossible(options.aliveLock);
          engine = await openEngine(options, bridge(options, (method, args) => peer.call(method, args), { now: () => pageNow ?? Date.now(), emit: (event) => peer.emit(event) }), parts, signal);
        } catch (error) {
          opening = false;
          bury?.();
          throw error;
        }
      },
      close: async () => {
        await engine?.close();
        bury?.();
      },
    },
  });
  return peer;
}

function checkVersion(options: EngineOpenOptions): void {
  if (options.protocol === PROTOCOL_VERSION) return;
  throw new MemoryOSError('INTERNAL', `page and worker come from different versions of memstrata (protocol ${options.protocol} and ${PROTOCOL_VERSION}): reload, or rebuild so that both are of one version`);
}

async function holdIfPossible(name: string): Promise<(() => void) | undefined> {
  const locks = platformLocks();
  return locks && hold(locks, name);
}

/** Reports what nobody caught: after it the core's state is unknown. */
export function reportCrashes(scope: Pick<EventTarget, 'addEventListener'>, peer: Peer<HostCalls, ToWorker>): void {
  scope.addEventListener('error', (event) => peer.fatal(toMemoryOSError((event as ErrorEvent).error ?? (event as ErrorEvent).message, 'INTERNAL')));
  scope.addEventListener('unhandledrejection', (event) => peer.fatal(toMemoryOSError((event as PromiseRejectionEvent).reason, 'INTERNAL')));
}
