/**
 * The connection of one client. A Port ends without a word when a service worker is put to sleep, when a document is closed and
 * when a page goes into the back-forward cache: then a new one is opened, and what waits is asked again if that does no harm.
 */
import type { Clock } from '../clock.js';
import { pause } from '../clock.js';
import { aborted, fromWire, MemoryOSError } from '../errors.js';
import type { MemoryEvent } from '../types.js';
import type { CallName } from './calls.js';
import { CALLS, HARMLESS } from './calls.js';
import type { Port, Runtime } from './chrome.js';
import { PORT_VERSION, randomName } from './messages.js';
import type { ToClient, ToHost } from './messages.js';

/** From the loss of the host until whatever waited for it is settled. The rest of two seconds is for a busy machine. */
export const SETTLE_MS = 1_800;
/** What a call waits for a host that has yet to start. */
export const CONNECT_MS = 10_000;
/** How often a host is looked for, at first and, where only events are waited for, at last. */
const RETRY_MS = 100;
const MOST_RETRY_MS = 5_000;
/** A Port that nobody greets on for so long is held by somebody who is no host. */
const WELCOME_MS = 1_000;
/** What a keeper may take to start the host, before it is connected to all the same. */
const WAKE_MS = 1_500;
/** While calls are under way: how often the host is asked whether it lives, and the silence after which it is taken for stopped. */
const MIND_EVERY_MS = 2_500;
export const SILENCE_MS = 10_000;

export interface LineOptions {
  channel: string;
  runtime: Runtime;
  clock: Clock;
  wake?: () => Promise<unknown>;
  onEvent: (event: MemoryEvent) => void;
  onReconnect?: () => void;
}

interface Waiting {
  id: number;
  name: CallName;
  args: unknown[];
  onText: ((text: string) => void) | undefined;
  /** The host that may have begun it. */
  sentTo: string | undefined;
  heard: number;
  resolve(value: unknown): void;
  reject(error: MemoryOSError): void;
  /** Takes its deadline back. */
  stop: () => void;
}

export class Line {
  readonly #options: LineOptions;
  readonly #client = randomName();
  readonly #waiting = new Map<number, Waiting>();
  #port: Port | undefined;
  #host: string | undefined;
  #ready = false;
  #connecting = false;
  #listening = false;
  #wasReady = false;
  #openedAt = 0;
  #heardAt = 0;
  #minding: (() => void) | undefined;
  #lastId = 0;
  #end: MemoryOSError | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  call(name: CallName, args: unknown[], { signal, onText }: { signal?: AbortSignal; onText?: (text: string) => void } = {}): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const onAbort = (): void => {
        if (call.sentTo !== undefined) this.#say({ kind: 'cancel', to: call.sentTo, id });
        this.#settle(call, (waiting) => waiting.reject(aborted(signal)));
      };
      const settling = <T>(done: (value: T) => void) => (value: T): void => {
        signal?.removeEventListener('abort', onAbort);
        done(value);
      };
      const call: Waiting = { id, name, args, onText, sentTo: undefined, heard: 0, resolve: settling(resolve), reject: settling(reject), stop: () => undefined };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(id, call);
      if (this.#ready) return this.#send(call);
      this.#expire(call, CONNECT_MS);
      void this.#connect();
    });
  }

  listen(on: boolean): void {
    if (this.#listening === on) return;
    this.#listening = on;
    if (this.#port) this.#say({ kind: 'events', on });
    else if (on) void this.#connect();
  }

  /** Nothing comes any more. */
  end(error: MemoryOSError): void {
    if (this.#end) return;
    this.#end = error;
    this.#listening = false;
    for (const call of [...this.#waiting.values()]) this.#settle(call, ({ reject }) => reject(error));
    this.#drop();
  }

  /** Looks for a host until there is one, or nobody waits for it. */
  async #connect(): Promise<void> {
    if (this.#connecting) return;
    this.#connecting = true;
    const { clock } = this.#options;
    try {
      for (let wait = RETRY_MS; this.#host === undefined && !this.#end && (this.#waiting.size > 0 || this.#listening); ) {
        if (this.#port && clock.now() - this.#openedAt >= WELCOME_MS) this.#drop();
        if (!this.#port) {
          await this.#wake();
          if (this.#end) return;
          this.#open();
        }
        await pause(clock, wait);
        wait = this.#waiting.size > 0 ? RETRY_MS : Math.min(2 * wait, MOST_RETRY_MS);
      }
    } catch (error) {
      // Chrome throws where the extension is gone, and its pages and scripts live on without it.
      this.end(new MemoryOSError('CLOSED', 'the extension was reloaded, updated or removed: reload this page', { cause: error }));
    } finally {
      this.#connecting = false;
    }
  }

  /** Without a keeper nobody answers, and that is no fault; one that hangs must not hold up the connection. */
  #wake(): Promise<void> {
    const { channel, runtime, clock, wake = () => runtime.sendMessage({ memstrata: 'wake', channel }) } = this.#options;
    return new Promise((resolve) => {
      const stop = clock.after(WAKE_MS, resolve);
      (async () => wake())().catch(() => undefined).finally(() => {
        stop();
        resolve();
      });
    });
  }

  #open(): void {
    const { channel, runtime, clock } = this.#options;
    const port = runtime.connect({ name: channel });
    this.#port = port;
    this.#openedAt = clock.now();
    port.onMessage.addListener((message) => this.#port === port && this.#receive(message as ToClient));
    port.onDisconnect.addListener(() => {
      // Read, or Chrome reports it as unheard.
      void runtime.lastError;
      if (this.#port === port) this.#lose();
    });
    this.#say({ kind: 'hello', version: PORT_VERSION, client: this.#client, events: this.#listening });
  }

  #receive(message: ToClient): void {
    this.#heardAt = this.#options.clock.now();
    if (message.kind === 'welcome' && this.#host === undefined) {
      if (message.version !== PORT_VERSION) return this.end(new MemoryOSError('VERSION_TOO_NEW', 'this script and the host of the memory come from different versions of memstrata: reload this page'));
      this.#host = message.host;
    }
    // Of several hosts the first is the one.
    if (message.host !== this.#host) return;
    switch (message.kind) {
      case 'ready':
        this.#nowReady();
        break;
      case 'failed':
        for (const call of [...this.#waiting.values()]) this.#settle(call, ({ reject }) => reject(fromWire(message.error)));
        break;
      case 'text': {
        const call = this.#waiting.get(message.id);
        if (call) call.heard++;
        call?.onText?.(message.text);
        break;
      }
      case 'result':
        this.#answered(message.id, ({ resolve }) => resolve(message.value));
        break;
      case 'error':
        this.#answered(message.id, ({ reject }) => reject(fromWire(message.error)));
        break;
      case 'event':
        this.#options.onEvent(message.event);
        break;
    }
  }

  #nowReady(): void {
    const again = this.#wasReady && !this.#ready;
    this.#ready = true;
    this.#wasReady = true;
    for (const call of [...this.#waiting.values()]) {
      const elsewhere = call.sentTo !== undefined && call.sentTo !== this.#host;
      if (elsewhere && !CALLS[call.name].repeats) this.#settle(call, ({ reject }) => reject(undone(call)));
      else this.#send(call, elsewhere);
    }
    if (again) this.#options.onReconnect?.();
  }

  /** `late`: it has a deadline from the loss of another host, and keeps it. */
  #send(call: Waiting, late = false): void {
    if (!late) {
      call.stop();
      call.stop = () => undefined;
    }
    const { id, name: method, args, heard } = call;
    call.sentTo = this.#host;
    this.#mind();
    this.#say({ kind: 'call', to: this.#host as string, id, method, args, heard });
  }

  /** The Port is gone, and with it perhaps the host. */
  #lose(): void {
    const hadHost = this.#ready;
    this.#drop();
    // A host that was never there is looked for until the calls' own deadlines.
    if (hadHost) for (const call of this.#waiting.values()) this.#expire(call, SETTLE_MS);
    if (this.#waiting.size > 0 || this.#listening) void this.#connect();
  }

  #drop(): void {
    const port = this.#port;
    this.#port = undefined;
    this.#host = undefined;
    this.#ready = false;
    this.#minding?.();
    this.#minding = undefined;
    port?.disconnect();
  }

  #expire(call: Waiting, ms: number): void {
    call.stop();
    call.stop = this.#options.clock.after(ms, () => this.#settle(call, ({ reject }) => reject(undone(call))));
  }

  #answered(id: number, done: (call: Waiting) => void): void {
    const call = this.#waiting.get(id);
    if (call) this.#settle(call, done);
  }

  #settle(call: Waiting, done: (call: Waiting) => void): void {
    call.stop();
    this.#waiting.delete(call.id);
    done(call);
  }

  /** A host that is stopped without a word keeps its Port. */
  #mind(): void {
    if (this.#minding) return;
    const { clock } = this.#options;
    this.#heardAt = clock.now();
    const look = (): void => {
      this.#minding = undefined;
      if (!this.#ready || ![...this.#waiting.values()].some(({ sentTo }) => sentTo !== undefined)) return;
      if (clock.now() - this.#heardAt >= SILENCE_MS) return this.#lose();
      this.#say({ kind: 'ping' });
      this.#minding = clock.after(MIND_EVERY_MS, look, 'background');
    };
    this.#minding = clock.after(MIND_EVERY_MS, look, 'background');
  }

  #say(message: ToHost): void {
    try {
      this.#port?.postMessage(message);
    } catch {
      // The Port closed a moment ago, and its event is on the way.
    }
  }
}

/** What the caller of a call without an answer is told. `data.repeatable`: the same call may be made again. */
function undone({ name, args, sentTo }: Waiting): MemoryOSError {
  if (sentTo === undefined) {
    return new MemoryOSError('NOT_OPEN', `no host of the memory answers, and ${name} was not begun: see that serveMemory runs with this channel, and call it again`, { data: { reason: 'no-host', method: name, repeatable: true } });
  }
  const id = (args.at(name === 'getResponse' ? 1 : 0) as { id?: unknown } | undefined)?.id;
  return new MemoryOSError('STORAGE_UNAVAILABLE', `the host of the memory was lost during ${name}, and whether it was carried out is not known`, {
    data: { reason: 'host-lost', method: name, repeatable: HARMLESS.includes(name), ...(typeof id === 'string' ? { id } : {}) },
  });
}
