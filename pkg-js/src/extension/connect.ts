/** The asking side: a memory that is served elsewhere in the extension, with the same calls. */
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { aborted, invalid, MemoryOSError } from '../errors.js';
import type { MemoryOS } from '../memory-os.js';
import { responseStream } from '../stream.js';
import { show } from '../text.js';
import type { AddMemoryInput, AddMemoryResult, GetResponseOptions, MemoryEvent, ResponseResult, ResponseStream, RetrieveOptions, RetrieveResult } from '../types.js';
import type { CallName } from './calls.js';
import { CALL_NAMES } from './calls.js';
import type { Runtime } from './chrome.js';
import { platformChrome } from './chrome.js';
import { Line } from './line.js';
import { DEFAULT_CHANNEL, randomName } from './messages.js';

/** What `MemoryOS` offers and a Port can carry. Every call settles; see the README for what becomes of it when the host is lost. */
export type RemoteMemory = Pick<MemoryOS, CallName | 'on'> & {
  /** Rejects what waits, and lets the Port go. The memory stays open where it is. */
  close(): void;
};

/** Which host is connected to. */
export interface ConnectOptions {
  /** As given to `serveMemory`. Default `"memstrata"`. */
  channel?: string;
  /** Sees to it that there is a host, before each connection. Default: asks the `keepHost` of this channel, if there is one. */
  wake?: () => Promise<unknown>;
  /** There is a connection again, and events may have been missed: read anew what is shown. */
  onReconnect?: () => void;
  /** Default `chrome.runtime`. */
  runtime?: Runtime;
}

/** Begins the ids that stand in for those the caller did not give. */
const ID_PREFIX = 'call:';
const TIMES = ['timestamp', 'now', 'asOf', 'from', 'to', 'validFrom'];

/** Connects at the first call or listener, and again whenever it must. Throws FORBIDDEN where there is no `chrome.runtime`. */
export function connectMemory(options: ConnectOptions = {}, clock: Clock = systemClock): RemoteMemory {
  const { channel = DEFAULT_CHANNEL, wake, onReconnect } = options;
  if (typeof channel !== 'string' || channel === '') throw invalid(`channel must be a non-empty string, got ${show(channel)}`);
  const runtime = options.runtime ?? platformChrome<{ runtime: Runtime }>('runtime').runtime;
  const listeners = new Map<string, Set<(event: MemoryEvent) => void>>();
  const onEvent = (event: MemoryEvent): void => {
    for (const type of [event.type, '*']) for (const listener of [...(listeners.get(type) ?? [])]) listener(event);
  };
  const line = new Line({ channel, runtime, clock, onEvent, ...(wake ? { wake } : {}), ...(onReconnect ? { onReconnect } : {}) });

  const call = (name: CallName, args: unknown[], signal?: AbortSignal, onText?: (text: string) => void): Promise<unknown> => {
    if (signal?.aborted) return Promise.reject(aborted(signal));
    let sent: unknown[];
    try {
      sent = plain(args);
    } catch (error) {
      return Promise.reject(new MemoryOSError('INVALID_ARGUMENT', `the arguments of ${name} are no JSON`, { cause: error }));
    }
    return line.call(name, sent, { ...(signal ? { signal } : {}), ...(onText ? { onText } : {}) });
  };

  const special: Pick<RemoteMemory, 'addMemory' | 'retrieve' | 'getResponse' | 'on' | 'close'> = {
    async addMemory(input: AddMemoryInput): Promise<AddMemoryResult> {
      if (typeof input !== 'object' || input === null) throw invalid(`the turn must be an object with userInput and agentResponse, got ${show(input)}`);
      const result = (await call('addMemory', [named(input)])) as AddMemoryResult;
      // Only this call knows the id it drew: a duplicate is its own first attempt.
      return input.id === undefined ? { ...result, status: 'stored' } : result;
    },
    async retrieve(query: string, { signal, ...rest }: RetrieveOptions = {}): Promise<RetrieveResult> {
      const start = performance.now();
      const result = (await call('retrieve', [query, rest], signal)) as RetrieveResult;
      return { ...result, timing: { ms: performance.now() - start } };
    },
    getResponse: ((query: string, { signal, stream, ...rest }: GetResponseOptions = {}): Promise<ResponseResult> | ResponseStream => {
      const respond = (onText?: (text: string) => void): Promise<ResponseResult> => call('getResponse', [query, named(rest)], signal, onText) as Promise<ResponseResult>;
      return stream ? responseStream(respond) : respond();
    }) as RemoteMemory['getResponse'],
    on: ((type: string, listener: (event: MemoryEvent) => void) => {
      if (typeof listener !== 'function') throw invalid(`a listener must be a function, got ${show(listener)}`);
      const entry = (event: MemoryEvent): void => listener(event);
      const set = listeners.get(type) ?? new Set();
      listeners.set(type, set.add(entry));
      line.listen(true);
      return () => {
        set.delete(entry);
        if ([...listeners.values()].every(({ size }) => size === 0)) line.listen(false);
      };
    }) as RemoteMemory['on'],
    close: () => line.end(new MemoryOSError('CLOSED', 'the connection to the memory was closed')),
  };
  const others = Object.fromEntries(CALL_NAMES.map((name) => [name, (...args: unknown[]) => call(name, args).then((value) => value ?? undefined)]));
  return { ...others, ...special } as RemoteMemory;
}

/** By its id a turn is known again, should it have to be sent twice. */
function named<T extends { id?: string }>(turn: T): T {
  return turn.id === undefined ? { ...turn, id: ID_PREFIX + randomName() } : turn;
}

/** A copy as JSON, taken at once: the caller may change the original. Times stay instants, so that they keep the zone of this machine. */
function plain(args: unknown[]): unknown[] {
  return JSON.parse(JSON.stringify(args, function (this: Record<string, unknown>, key, value: unknown) {
    const given = this[key];
    return given instanceof Date && TIMES.includes(key) ? given.getTime() : value;
  })) as unknown[];
}
