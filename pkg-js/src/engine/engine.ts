/**
 * The engine: the wasm core with what it needs around it. One lock, one background loop, one table. Runs in this
 * realm, whichever that is; `serve.ts` puts it into a worker.
 */
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { aborted, MemoryOSError, toMemoryOSError } from '../errors.js';
import { raced } from '../race.js';
import type { MemoryEvent } from '../types.js';
import { Background, whenIdle } from './background.js';
export { bridge } from './bridge.js';
import { WRITES } from './calls.js';
import type { Host, WasmMemory } from './contract.js';
import type { LoadWasm } from './load.js';
import { loadTable, loadWasm } from './load.js';
import type { LockOptions, Release } from './lock.js';
import { acquire, platformLocks } from './lock.js';
import type { Args, EngineCalls, EngineOpenOptions, Result } from './protocol.js';

/** What MemoryOS drives: in this realm, or at the other end of a worker. */
export interface Engine {
  call<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>>;
  close(): Promise<void>;
}

/** The parts that tests replace. */
export interface EngineParts {
  load?: LoadWasm;
  table?: typeof loadTable;
  idle?: (fn: () => void) => void;
  clock?: Clock;
  lock?: LockOptions;
}

export async function openEngine(options: EngineOpenOptions, host: Host, parts: EngineParts = {}, signal?: AbortSignal): Promise<Engine> {
  requireStore(options);
  const release = options.lockStore === null ? () => undefined : await acquire(options.lockStore, options, { locks: platformLocks(), ...parts.lock, ...(signal ? { signal } : {}) });
  try {
    const WasmMemory = await (parts.load ?? loadWasm)(options.assets.wasm);
    if (signal?.aborted) throw aborted(signal);
    const engine = new LocalEngine(options, host, parts, release);
    await engine.open(WasmMemory);
    return engine;
  } catch (error) {
    release();
    throw toMemoryOSError(error, 'INTERNAL');
  }
}

function requireStore(options: EngineOpenOptions): void {
  if (options.storage !== 'indexeddb' || typeof indexedDB !== 'undefined') return;
  throw new MemoryOSError('STORAGE_UNAVAILABLE', 'this environment has no IndexedDB: open in a browser page or worker, or pass `storage: "memory"` or a storage engine of your own');
}

/** An embedder of one's own finds more with the table beside it: it counts tokens and compares word by word. */
const wantsTable = ({ assets, builtinEmbedder, embedder }: EngineOpenOptions): boolean => assets.table !== false && (builtinEmbedder || !!embedder);

class LocalEngine implements Engine {
  readonly #options: EngineOpenOptions;
  readonly #host: Host;
  readonly #parts: EngineParts;
  readonly #release: Release;
  readonly #background: Background;
  readonly #clock: Clock;
  readonly #inFlight = new Set<Promise<unknown>>();
  #memory!: WasmMemory;
  #closing: Promise<void> | undefined;
  /** Set once the core has panicked: its instance must not be entered again. */
  #dead: MemoryOSError | undefined;
  readonly #deathbeds = new Set<(error: MemoryOSError) => void>();

  constructor(options: EngineOpenOptions, host: Host, parts: EngineParts, release: Release) {
    this.#options = options;
    this.#host = host;
    this.#parts = parts;
    this.#release = release;
    this.#clock = parts.clock ?? systemClock;
    this.#background = new Background({
      work: () => this.#enter((memory) => memory.work()),
      clock: { now: () => host.now(), after: (ms, fn, kind) => this.#clock.after(ms, fn, kind) },
      idle: parts.idle ?? whenIdle,
    });
  }

  async open(WasmMemory: { open(options: EngineOpenOptions, host: Host): Promise<WasmMemory> }): Promise<void> {
    this.#memory = await this.#surviving(WasmMemory.open(this.#options, { ...this.#host, panicked: (message) => this.#die(message) }));
    // Jobs of the last session wait; so may the table.
    this.#background.kick();
    if (wantsTable(this.#options)) (this.#parts.idle ?? whenIdle)(() => void this.#installTable());
  }

  async call<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>> {
    if (signal?.aborted) throw aborted(signal);
    const run = this.#enter((memory) => (memory[method] as (...args: unknown[]) => unknown)(...args)) as Promise<Result<EngineCalls, M>>;
    try {
      return await raced(run, signal, aborted);
    } finally {
      if (WRITES.includes(method as (typeof WRITES)[number])) this.#background.kick();
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#background.stop();
      if (this.#dead) return;
      await this.#surviving(this.#memory.close()).catch((error: unknown) => {
        throw toMemoryOSError(error, 'INTERNAL');
      });
      // Freed once nothing is inside it any more; whoever is will be rejected by the core.
      void Promise.allSettled(this.#inFlight).then(() => this.#dead ?? this.#memory.free());
    } finally {
      this.#release();
    }
  }

  /** Every way into the core: counted, and with its errors as ours. */
  async #enter<T>(use: (memory: WasmMemory) => T | Promise<T>): Promise<T> {
    if (this.#dead) throw this.#dead;
    if (this.#closing) throw new MemoryOSError('CLOSED', 'the memory was closed');
    const run = (async () => use(this.#memory))();
    this.#inFlight.add(run);
    try {
      return await this.#surviving(run);
    } catch (error) {
      if (typeof WebAssembly !== 'undefined' && error instanceof WebAssembly.RuntimeError) this.#die(error.message);
      throw this.#dead ?? toMemoryOSError(error, 'INTERNAL');
    } finally {
      this.#inFlight.delete(run);
    }
  }

  /** The promise, or the rejection of a core that died while it was pending. */
  #surviving<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#deathbeds.add(reject);
      promise.then(resolve, reject).finally(() => this.#deathbeds.delete(reject));
    });
  }

  #die(message: string): void {
    if (this.#dead) return;
    this.#dead = new MemoryOSError('INTERNAL', `the core stopped (${message}); what was acknowledged is stored: open the memory again`);
    for (const reject of [...this.#deathbeds]) reject(this.#dead);
    this.#release();
  }

  async #installTable(): Promise<void> {
    if (this.#closing) return;
    this.#emit({ type: 'embedder', status: 'loading' });
    try {
      const bytes = await (this.#parts.table ?? loadTable)(this.#options.assets.table || undefined);
      if (this.#closing) return;
      await this.#enter((memory) => memory.installTable(bytes));
      this.#emit({ type: 'embedder', status: 'ready' });
      this.#background.kick();
    } catch (error) {
      if (this.#closing) return;
      this.#emit({ type: 'embedder', status: 'failed', message: `search goes on by keyword: ${toMemoryOSError(error, 'INTERNAL').message}` });
    }
  }

  #emit(event: MemoryEvent): void {
    this.#host.emit(event);
  }
}
