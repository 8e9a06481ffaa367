/** The serving side: one memory, for everyone in the extension who connects, and for the sites that are allowed. */
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { invalid, MemoryOSError, toMemoryOSError, toWire } from '../errors.js';
import type { MemoryOS } from '../memory-os.js';
import { show } from '../text.js';
import type { GetResponseOptions, OpenOptions, ResponseResult } from '../types.js';
import { readArgs, readCall } from './calls.js';
import type { CallName } from './calls.js';
import type { Port, Runtime } from './chrome.js';
import { platformChrome } from './chrome.js';
import { KeptCall } from './kept.js';
import type { Run } from './kept.js';
import { DEFAULT_CHANNEL, isWake, PORT_VERSION, randomName } from './messages.js';
import type { Said, ToHost } from './messages.js';
import type { Allow, Site } from './sites.js';
import { identify, permit, readAllow } from './sites.js';

/** Which channel is served, and what sites may do. */
export interface ServeOptions {
  /** What clients connect to. Default `"memstrata"`. One host a channel. */
  channel?: string;
  /** What content scripts may do, by the site they run in. Default: nothing. */
  allow?: Allow;
  /** Default `chrome.runtime`. */
  runtime?: Runtime;
}

/** A memory that is served, until `close`. */
export interface ServedMemory {
  readonly memory: MemoryOS;
  /** Answers nobody any more. Closes the memory, if it was opened here. Clients look for another host. */
  close(): Promise<void>;
}

/** Calls of one Port that may be under way at once. */
const MOST_CALLS = 64;
/** Characters of arguments that a site may send with one call. */
const MOST_SITE_CHARS = 1_000_000;

/**
 * Serves a memory to content scripts, panels and popups. Call it at once where the script starts, before any await: a service
 * worker is woken by a connection only if it listens by then; what must be awaited first is given as a promise. Rejects as `MemoryOS.open` does.
 */
export async function serveMemory(source: Source | Promise<Source>, options: ServeOptions = {}, clock: Clock = systemClock): Promise<ServedMemory> {
  const server = new Server(options, clock);
  try {
    const given = await source;
    const memory = isMemory(given) ? given : await (await import('../index.js')).MemoryOS.open(given);
    return server.open(memory, memory !== given);
  } catch (error) {
    server.fail(error);
    throw error;
  }
}

type Source = MemoryOS | OpenOptions;

function isMemory(source: Source): source is MemoryOS {
  return typeof (source as Partial<MemoryOS> | null)?.addMemory === 'function';
}

interface Session {
  port: Port;
  who: Site | 'extension';
  client: string;
  events: boolean;
  /** Under way, by the client's number of them. */
  calls: Map<number, KeptCall>;
}

class Server {
  readonly #id = randomName();
  readonly #channel: string;
  readonly #runtime: Runtime;
  readonly #check: ReturnType<typeof readAllow>;
  readonly #clock: Clock;
  readonly #sessions = new Set<Session>();
  readonly #kept = new Map<string, KeptCall>();
  #memory: MemoryOS | undefined;

  constructor({ channel = DEFAULT_CHANNEL, allow, runtime }: ServeOptions, clock: Clock) {
    if (typeof channel !== 'string' || channel === '') throw invalid(`channel must be a non-empty string, got ${show(channel)}`);
    this.#channel = channel;
    this.#check = readAllow(allow);
    this.#runtime = runtime ?? platformChrome<{ runtime: Runtime }>('runtime').runtime;
    this.#clock = clock;
    this.#runtime.onConnect.addListener(this.#connected);
    this.#runtime.onMessage.addListener(this.#woken);
  }

  open(memory: MemoryOS, owned: boolean): ServedMemory {
    this.#memory = memory;
    const unsubscribe = memory.on('*', (event) => {
      for (const session of this.#sessions) if (session.events) this.#say(session, { kind: 'event', event });
    });
    for (const session of this.#sessions) this.#say(session, { kind: 'ready' });
    return {
      memory,
      close: async () => {
        unsubscribe();
        this.#leave();
        if (owned) await memory.close();
      },
    };
  }

  fail(thrown: unknown): void {
    const error = toWire(thrown, 'INTERNAL');
    for (const session of this.#sessions) this.#say(session, { kind: 'failed', error });
    this.#leave();
  }

  #leave(): void {
    this.#runtime.onConnect.removeListener(this.#connected);
    this.#runtime.onMessage.removeListener(this.#woken);
    for (const session of [...this.#sessions]) {
      session.port.disconnect();
      this.#gone(session);
    }
  }

  /** It is here already: whoever asks for a host need not wait for one. */
  readonly #woken: Parameters<Runtime['onMessage']['addListener']>[0] = (message, sender, reply) => {
    if (isWake(message, this.#channel) && identify(sender, this.#runtime) !== undefined) reply(true);
    return undefined;
  };

  readonly #connected = (port: Port): void => {
    if (port.name !== this.#channel) return;
    const who = identify(port.sender, this.#runtime);
    if (who === undefined) return port.disconnect();
    const session: Session = { port, who, client: '', events: false, calls: new Map() };
    port.onMessage.addListener((message) => this.#receive(session, message));
    port.onDisconnect.addListener(() => {
      // Read, or Chrome reports it as unheard.
      void this.#runtime.lastError;
      this.#gone(session);
    });
  };

  #gone(session: Session): void {
    this.#sessions.delete(session);
    for (const call of session.calls.values()) call.detach();
    session.calls.clear();
  }

  /** Whatever comes is anybody's until it has been read. */
  #receive(session: Session, given: unknown): void {
    if (typeof given !== 'object' || given === null) return;
    const message = given as ToHost;
    switch (message.kind) {
      case 'hello':
        if (typeof message.client !== 'string' || session.client !== '') return;
        session.client = message.client;
        session.events = session.who === 'extension' && message.events === true;
        this.#sessions.add(session);
        this.#say(session, { kind: 'welcome', version: PORT_VERSION });
        if (this.#memory) this.#say(session, { kind: 'ready' });
        break;
      case 'call':
        if (message.to === this.#id && this.#sessions.has(session) && Number.isSafeInteger(message.id)) this.#call(session, message);
        break;
      case 'cancel':
        if (message.to === this.#id) session.calls.get(message.id)?.cancel();
        break;
      case 'events':
        session.events = session.who === 'extension' && message.on === true;
        break;
      case 'ping':
        this.#say(session, { kind: 'pong' });
        break;
    }
  }

  #call(session: Session, { id, method, args, heard }: ToHost & { kind: 'call' }): void {
    const name = `${session.who === 'extension' ? '' : session.who.origin} ${session.client} ${id}`;
    let call = this.#kept.get(name);
    if (!call) {
      const run: Run = session.calls.size < MOST_CALLS
        ? (signal, onText) => this.#run(session.who, method, args, signal, onText)
        : () => Promise.reject(invalid(`more than ${MOST_CALLS} calls are under way at once: wait for some of them`));
      call = new KeptCall(this.#clock, run, () => this.#kept.delete(name));
      this.#kept.set(name, call);
    }
    session.calls.set(id, call);
    call.attach((answer) => {
      if (answer.kind !== 'text') session.calls.delete(id);
      this.#say(session, { ...answer, id } as Said);
    }, Number.isSafeInteger(heard) ? heard : 0);
  }

  async #run(who: Session['who'], method: unknown, given: unknown, signal: AbortSignal, onText: (text: string) => void): Promise<unknown> {
    const name = readCall(method);
    const args = readArgs(name, given);
    if (!this.#memory) throw new MemoryOSError('NOT_OPEN', 'the memory is not open yet');
    if (who === 'extension') return perform(this.#memory, name, args, signal, onText);
    if (JSON.stringify(args).length > MOST_SITE_CHARS) throw invalid(`a site may send at most ${MOST_SITE_CHARS} characters with one call`);
    const permitted = await permit(who, name, args, this.#check);
    try {
      return await perform(this.#memory, name, permitted, signal, onText);
    } catch (error) {
      // What lies behind an error (a model's server and its words) is not the page's business.
      const { code, message } = toMemoryOSError(error, 'INTERNAL');
      throw new MemoryOSError(code, code.startsWith('PROVIDER_') ? 'the language model failed' : message);
    }
  }

  #say(session: Session, message: Said): void {
    try {
      session.port.postMessage({ ...message, host: this.#id });
    } catch {
      // The Port closed a moment ago, and its event is on the way.
      this.#gone(session);
    }
  }
}

/** The memory checks every value as it checks those of callers beside it. */
async function perform(memory: MemoryOS, name: CallName, args: unknown[], signal: AbortSignal, onText: (text: string) => void): Promise<unknown> {
  if (name === 'retrieve') return memory.retrieve(args[0] as string, { ...(args[1] as object | undefined), signal });
  if (name === 'getResponse') return answer(memory, args[0] as string, { ...(args[1] as GetResponseOptions | undefined), signal }, onText);
  const result = await (memory[name] as (...args: unknown[]) => Promise<unknown>)(...args);
  // JSON has no undefined.
  return result ?? null;
}

async function answer(memory: MemoryOS, query: string, options: GetResponseOptions, onText: (text: string) => void): Promise<ResponseResult> {
  const stream = memory.getResponse(query, { ...options, stream: true });
  for await (const text of stream) onText(text);
  return stream.result;
}
