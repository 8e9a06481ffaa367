/** The public class: checks what it is given and hands it to the engine, in a worker or here. */
import { readConfig, readIdentity } from './boundary/open.js';
import type { Identity } from './boundary/open.js';
import { readFact, readFactChanges, readSubject } from './boundary/persona.js';
import { flag, integer, oneOf, readManner, readQuery, readRetrieveOptions, ROLES, STRATEGIES, text, texts } from './boundary/query.js';
import { readInstant, readTimestamp } from './boundary/time.js';
import { readContext, readTurn } from './boundary/turn.js';
import { readBytes } from './boundary/bytes.js';
import type { ByteSource } from './boundary/bytes.js';
import { connect } from './engine/client.js';
import type { WasmRetrieveOptions } from './engine/contract.js';
import type { Engine } from './engine/engine.js';
import { PageHost } from './engine/host.js';
import type { Listener } from './engine/host.js';
import { platformLocks } from './engine/lock.js';
import { PROTOCOL_VERSION } from './engine/protocol.js';
import type { Args, EngineAssets, EngineCalls, EngineOpenOptions, Result } from './engine/protocol.js';
import { startWorker, wantsWorker } from './engine/start.js';
import { aborted, invalid, MemoryOSError, toMemoryOSError } from './errors.js';
import type { ImportOptions } from './import/conversation.js';
import type { ChatModel, EmbeddingModel } from './providers/types.js';
import type { Local, LostReason, OpenLocal, Outside } from './sharing/local.js';
import { responseStream } from './stream.js';
import { show } from './text.js';
import type {
  AddMemoryInput, AddMemoryResult, AnalysisResult, ChangeView, FactInput, FactsOptions, FactView, ForgetResult, GetResponseOptions, HistoryOptions, ImportResult,
  ImportTurn, JobView, LedgerView, MemoryEvent, MergeOptions, MergeResult, OpenOptions, PageView, ProfileView, ResponseResult, ResponseStream, Retriever,
  RetrieveOptions, RetrieveResult, Settings, Stats, TiersView, TraitView,
} from './types.js';

/** The name of an event, for `on`. */
export type EventType = MemoryEvent['type'];
/** The event of one type. */
export type EventOf<T extends EventType> = Extract<MemoryEvent, { type: T }>;

// Safari has no Symbol.asyncDispose yet.
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose);

let lastCall = 0;

/**
 * An open memory: of one user and one assistant, in one database. `MemoryOS.open` makes it, `close` lets it go; every call in between rejects
 * with a `MemoryOSError`.
 */
export class MemoryOS {
  readonly name: string;
  readonly userId: string;
  readonly assistantId: string;
  /** What `strategy` may name: the core's strategies, then the retrievers. */
  readonly strategies: readonly string[];

  readonly #now: () => number;
  readonly #host: PageHost;
  readonly #listeners = new Map<EventType | '*', Set<(event: never) => void>>();
  #engine!: Engine;
  #detach: () => Promise<void> = () => Promise.resolve();
  #closing: Promise<void> | undefined;
  #saidClosed = false;

  private constructor(identity: Identity, now: () => number, host: PageHost, retrievers: string[]) {
    this.strategies = [...STRATEGIES, ...retrievers];
    this.name = identity.name;
    this.userId = identity.userId;
    this.assistantId = identity.assistantId;
    this.#now = now;
    this.#host = host;
  }

  /**
   * Opens a memory, or makes it when there is none. Several tabs and workers of one origin may have it open, and share it.
   * Rejects with INVALID_ARGUMENT, LOCKED, STORAGE_UNAVAILABLE, STORAGE_CORRUPT, VERSION_TOO_NEW, FORBIDDEN (WebAssembly is blocked), NOT_FOUND (the wasm file), ABORTED.
   */
  static async open(options: OpenOptions): Promise<MemoryOS> {
    const identity = readIdentity(options);
    const embedder = readEmbedder(options.embedder);
    const storage = readStorage(options.storage);
    // Loaded only for a store of the caller's own.
    const custom = storage === 'host' ? await import('./storage/attach.js') : undefined;
    const store = custom?.requireStorage(options.storage);
    const now = options.now ?? Date.now;
    const chat = readChat(options.chat);
    const countTokens = readCounter(options.countTokens);
    const retrievers = readRetrievers(options.retrievers);
    const host = new PageHost({ retrievers, chat, embedder: typeof embedder === 'object' ? embedder : undefined, storage: store, countTokens });
    const memory = new MemoryOS(identity, now, host, [...retrievers.keys()]);
    const engineOptions: EngineOpenOptions = {
      ...identity,
      protocol: PROTOCOL_VERSION,
      assets: readAssets(options.assets),
      lockStore: custom && store ? custom.storeIdentity(store) : storage === 'indexeddb' ? storage : null,
      storage,
      config: readConfig(options.config),
      seed: readSeed(options.seed),
      chatModel: chat ? `${chat.provider}/${chat.modelId}` : null,
      countsTokens: countTokens !== undefined,
      retrievers: [...retrievers.keys()],
      paused: options.paused === true,
      builtinEmbedder: embedder === 'builtin',
      embedder: typeof embedder === 'object'
        ? { id: `${embedder.provider}/${embedder.modelId}`, dimensions: embedder.dimensions, maxEmbeddingsPerCall: embedder.maxEmbeddingsPerCall ?? DEFAULT_EMBEDDINGS_PER_CALL }
        : null,
    };
    if (options.signal?.aborted) throw aborted(options.signal);
    if (custom && store) memory.#detach = await custom.attach(store, identity.name);
    try {
      memory.#engine = await memory.#start(engineOptions, options);
    } catch (error) {
      await memory.#detach();
      throw error;
    }
    return memory;
  }

  async #start(engineOptions: EngineOpenOptions, options: OpenOptions): Promise<Engine> {
    const { signal } = options;
    const outside: Outside = { handlers: this.#host.handlers, onEvent: (event) => this.#emit(event), onLost: (reason) => this.#lost(reason) };
    if (!isShared(engineOptions, options)) return (await this.#local(engineOptions, options, outside, signal)).engine;
    const { share } = await import('./sharing/share.js');
    // Without the signal: it is for this opening, not for one that takes over from another tab.
    const open: OpenLocal = (changed, around) => this.#local(changed, options, around);
    return share({ ...outside, options: engineOptions, open, signal });
  }

  /** An engine of this tab. */
  async #local(engineOptions: EngineOpenOptions, options: OpenOptions, { handlers, onEvent, onLost }: Outside, signal?: AbortSignal): Promise<Local> {
    const { now } = options;
    if (wantsWorker(options)) {
      const { worker, owned } = startWorker(options);
      const engine = await connect(worker, engineOptions, { host: { handlers }, owned, now, onEvent, onLost: () => onLost() }, signal);
      return { engine, kill: () => engine.kill() };
    }
    // Loaded only here: a page that uses a worker never needs it.
    const { bridge, openEngine } = await import('./engine/engine.js');
    const never = new AbortController().signal;
    const host = bridge(engineOptions, async (method, args) => handlers[method](args, never), { now: this.#now, emit: onEvent });
    return { engine: await openEngine(engineOptions, host, {}, signal) };
  }

  /** Stores one exchange; resolves when it is durable. Model work on it comes later, in idle time. */
  async addMemory(input: AddMemoryInput): Promise<AddMemoryResult> {
    return this.#call('add', [readTurn(input, this.#now())]);
  }

  /** Stores many in one durable transaction: all of them or none. */
  async addMany(inputs: AddMemoryInput[]): Promise<AddMemoryResult[]> {
    if (!Array.isArray(inputs)) throw invalid(`addMany takes a list of turns, got ${show(inputs)}`);
    const now = this.#now();
    return this.#call('addMany', [inputs.map((input, at) => readTurn(input, now, `turn ${at}`))]);
  }

  /** Stores the answer of a turn that has none yet; `id` is the page's or the one you gave. The same answer again changes nothing. */
  async completeMemory(id: string, agentResponse: string): Promise<void> {
    return this.#call('complete', [text(id, 'id'), text(agentResponse, 'agentResponse')]);
  }

  /** One turn, by its page's id or the one you gave; null when it is not there. */
  async getMemory(id: string): Promise<PageView | null> {
    return this.#call('page', [text(id, 'id')]);
  }

  /** Imports a conversation in batches. An entry that cannot be read is skipped and reported, the rest is stored. */
  async importConversation(turns: Iterable<ImportTurn> | AsyncIterable<ImportTurn>, options: ImportOptions = {}): Promise<ImportResult> {
    const { importTurns } = await import('./import/conversation.js');
    return importTurns(turns, options, { readTurn: (turn) => readTurn(turn, this.#now()), addMany: (batch) => this.#call('addMany', [batch]) });
  }

  async retrieve(query: string, options: RetrieveOptions = {}): Promise<RetrieveResult> {
    const start = performance.now();
    const { signal } = options;
    const clean = readRetrieveOptions(options, this.#now(), this.strategies);
    const call = (input: string, changes: Partial<WasmRetrieveOptions>): Promise<RetrieveResult> => this.#call('retrieve', [readQuery(input), { ...clean, ...changes }], signal);
    const search: Listener['search'] = {
      candidates: () => this.#call('candidates', [clean], signal),
      // Without a budget nothing is packed, so nothing is visited.
      search: async ({ query: other = query, strategy, topK } = {}) => (await call(other, {
        strategy: oneOf(strategy, 'strategy', STRATEGIES, 'auto'), topK: integer(topK, 'topK', 1, 1_000, 100), budgetTokens: 0,
      })).hits,
    };
    const result = await this.#listening({ signal, search }, (callId) => call(query, { callId }));
    return { ...result, timing: { ms: performance.now() - start } };
  }

  /** Makes a call that the core calls back about. */
  async #listening<T>(listener: Listener, call: (callId: string) => Promise<T>): Promise<T> {
    const callId = `r${++lastCall}`;
    const { signal } = listener;
    this.#host.listen(callId, listener);
    try {
      return await call(callId);
    } catch (error) {
      if (signal?.aborted) throw aborted(signal);
      // The model's own error, with its cause, rather than what came back through the core.
      throw listener.failure ?? error;
    } finally {
      this.#host.unlisten(callId);
    }
  }

  /**
   * Answers with the language model and what is remembered, and stores the exchange. Without a model the answer is
   * the recalled passages. The user's message is stored also when the answer fails or is aborted.
   */
  getResponse(query: string, options: GetResponseOptions & { stream: true }): ResponseStream;
  getResponse(query: string, options?: GetResponseOptions & { stream?: false }): Promise<ResponseResult>;
  getResponse(query: string, options?: GetResponseOptions): Promise<ResponseResult> | ResponseStream;
  getResponse(query: string, options: GetResponseOptions = {}): Promise<ResponseResult> | ResponseStream {
    if (options.stream) return responseStream((onText) => this.#respond(query, options, onText));
    return this.#respond(query, options);
  }

  async #respond(query: string, options: GetResponseOptions, onText?: Listener['onText']): Promise<ResponseResult> {
    const { signal } = options;
    if (signal?.aborted) throw aborted(signal);
    const userInput = readQuery(query);
    const input = { ...readContext(options as Record<string, unknown>, this.#now()), ...readManner(options), userInput };
    // Not raced with the signal: it cuts the model off, and the core then stores the user's message before it rejects.
    return this.#listening({ signal, onText }, (callId) => this.#call('respond', [userInput, { ...input, callId }]));
  }

  /** The prompt that `getResponse` would send, for callers who talk to the model themselves. Stores nothing. */
  async merge(query: string, options: MergeOptions = {}): Promise<MergeResult> {
    return this.#call('merge', [readQuery(query), { ...readManner(options), ...readTimestamp(undefined, this.#now()) }], options.signal);
  }

  /** Removes pages and facts for good, and what was derived from them alone. */
  async forget(ids: string | string[]): Promise<ForgetResult> {
    return this.#call('forget', [texts(typeof ids === 'string' ? [ids] : ids, 'ids')]);
  }

  /** Facts of long-term memory; without options all that are believed now. */
  async facts({ subject, closed = false, asOf }: FactsOptions = {}): Promise<FactView[]> {
    return this.#call('facts', [readSubject(subject), flag(closed, 'closed'), asOf === undefined ? null : readInstant(asOf, 'asOf')]);
  }

  async addFact(input: FactInput): Promise<FactView> {
    return this.#call('addFact', [readFact(input)]);
  }

  /** Changes what is given of a fact; the rest stays as it is. */
  async editFact(id: string, changes: Partial<FactInput>): Promise<FactView> {
    return this.#call('editFact', [text(id, 'id'), readFactChanges(changes)]);
  }

  /** Closes a fact as of now, with nothing in its place. It stays in history; `forget` removes it for good. */
  async retractFact(id: string): Promise<FactView> {
    return this.#call('retractFact', [text(id, 'id')]);
  }

  /** A pinned fact is in every prompt and is never archived. */
  async pinFact(id: string, pinned = true): Promise<FactView> {
    return this.#call('pinFact', [text(id, 'id'), flag(pinned, 'pinned')]);
  }

  /** Keeps a page or a fact, and never recalls it. */
  async neverRecall(id: string, never = true): Promise<void> {
    return this.#call('setNeverRecall', [text(id, 'id'), flag(never, 'never')]);
  }

  async profile(): Promise<ProfileView> {
    return this.#call('profile', []);
  }

  async setProfile(of: 'user' | 'assistant', words: string): Promise<void> {
    return this.#call('setProfile', [oneOf(of, 'of', ROLES), text(words, 'text', true)]);
  }

  /** Traits that the conversations give evidence of. */
  async traits(): Promise<TraitView[]> {
    return this.#call('traits', []);
  }

  /** Changes of long-term memory, newest first: all of them, or those of one record (a fact's id, `trait_7`, `profile`). */
  async history(options: HistoryOptions | string = {}): Promise<ChangeView[]> {
    const { id, offset, limit } = typeof options === 'string' ? { id: options } as HistoryOptions : options;
    return this.#call('history', [id === undefined ? '' : text(id, 'id'), ...readPaging(offset, limit)]);
  }

  /** Takes a change back, by a change of its own whose id it gives. */
  async undo(changeId: string): Promise<string> {
    return this.#call('undo', [text(changeId, 'changeId')]);
  }

  /** Analyses now all that waits for it, hot or not. */
  async analyse(): Promise<AnalysisResult> {
    return this.#call('analyse', []);
  }

  /** Another name of `analyse`. */
  forceAnalysis(): Promise<AnalysisResult> {
    return this.analyse();
  }

  /** Stops background work until `resume`; your own calls go on. */
  async pause(): Promise<void> {
    return this.#call('pause', []);
  }

  async resume(): Promise<void> {
    return this.#call('resume', []);
  }

  /** Changes settings until the memory is closed. */
  async configure(settings: Settings): Promise<void> {
    return this.#call('configure', [readConfig(settings, 'settings')]);
  }

  /** What the models took, day by day, and what is left of today's limits. */
  async ledger(): Promise<LedgerView> {
    return this.#call('ledger', []);
  }

  async stats(): Promise<Stats> {
    return { role: 'owner', ...(await this.#call('stats', [])) };
  }

  /** A picture of the tiers, with heat as it is now. */
  async tiers(): Promise<TiersView> {
    return this.#call('tiers', []);
  }

  async jobs(): Promise<JobView[]> {
    return this.#call('jobs', []);
  }

  /** Puts a failed job back into the queue. */
  async retryJob(jobId: string): Promise<void> {
    return this.#call('retryJob', [text(jobId, 'jobId')]);
  }

  /** Pages, newest first. `limit`: 1 to 10,000, default 100. */
  async pages({ offset, limit }: { offset?: number; limit?: number } = {}): Promise<PageView[]> {
    return this.#call('pages', readPaging(offset, limit));
  }

  /** Finishes all waiting work and seals the log. Rejects with the error of a job that keeps failing. */
  async flush(): Promise<void> {
    return this.#call('flush', []);
  }

  /** The whole memory as one file: as a Blob, or written to a sink, which is closed; then the result is its size in bytes. */
  exportTo(): Promise<Blob>;
  exportTo(sink: WritableStream<Uint8Array>): Promise<number>;
  async exportTo(sink?: WritableStream<Uint8Array>): Promise<Blob | number> {
    const bytes = await this.#call('exportAll', []);
    if (!sink) return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: EXPORT_TYPE });
    const writer = sink.getWriter();
    try {
      await writer.write(bytes);
      await writer.close();
    } catch (error) {
      throw toMemoryOSError(error, 'STORAGE_UNAVAILABLE');
    }
    return bytes.byteLength;
  }

  /** Merges an exported file into this memory; turns that are here already stay single. */
  async importFrom(source: ByteSource): Promise<{ added: number; duplicates: number }> {
    return this.#call('importAll', [await readBytes(source)]);
  }

  /** Removes everything of this user and assistant. */
  async clear(): Promise<void> {
    return this.#call('clear', []);
  }

  /** Calls `listener` for each event of a type, or of every type with `"*"`; the returned function ends that. */
  on(type: '*', listener: (event: MemoryEvent) => void): () => void;
  on<T extends EventType>(type: T, listener: (event: EventOf<T>) => void): () => void;
  on(type: EventType | '*', listener: (event: never) => void): () => void {
    if (typeof listener !== 'function') throw invalid(`a listener must be a function, got ${show(listener)}`);
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    // Wrapped, so that the same function may listen twice and each unsubscribing ends its own.
    const entry = (event: never): void => listener(event);
    listeners.add(entry);
    return () => void listeners.delete(entry);
  }

  /** Ends model calls, waits for the running job, and lets the memory go. May be called again. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#host.close();
    try {
      await this.#engine.close();
    } finally {
      await this.#detach();
      this.#emit({ type: 'closed', reason: 'called' });
    }
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }

  async #call<M extends keyof EngineCalls>(method: M, args: Args<EngineCalls, M>, signal?: AbortSignal): Promise<Result<EngineCalls, M>> {
    if (this.#closing) throw new MemoryOSError('CLOSED', 'the memory was closed');
    return this.#engine.call(method, args, signal);
  }

  #lost(reason: LostReason = 'worker-lost'): void {
    this.#host.close();
    this.#closing ??= this.#detach();
    this.#emit({ type: 'closed', reason });
  }

  #emit(event: MemoryEvent): void {
    // The core may say it too.
    if (event.type === 'closed') {
      if (this.#saidClosed) return;
      this.#saidClosed = true;
    }
    for (const type of [event.type, '*'] as const) {
      for (const listener of [...(this.#listeners.get(type) ?? [])]) {
        try {
          listener(event as never);
        } catch (error) {
          // A listener's fault is its own: reported as the platform reports any, and the next one is called.
          const { reportError } = globalThis as { reportError?: (error: unknown) => void };
          if (reportError) reportError(error);
          else console.error(error);
        }
      }
    }
  }
}

/** What most servers take in one request. */
const DEFAULT_EMBEDDINGS_PER_CALL = 64;
const EXPORT_TYPE = 'application/vnd.memstrata';

function readChat(chat: unknown): ChatModel | undefined {
  if (chat === undefined || chat === null) return undefined;
  if (typeof (chat as Partial<ChatModel>).chat !== 'function') throw invalid(`chat must be a model with a chat method, got ${show(chat)}`);
  return chat as ChatModel;
}

function readCounter(count: OpenOptions['countTokens']): OpenOptions['countTokens'] {
  if (count !== undefined && typeof count !== 'function') throw invalid(`countTokens must be a function, got ${show(count)}`);
  return count;
}

function readRetrievers(retrievers: OpenOptions['retrievers']): Map<string, Retriever> {
  const known = Object.entries(retrievers ?? {});
  for (const [name, retriever] of known) if (typeof retriever !== 'function') throw invalid(`retrievers.${name} must be a function, got ${show(retriever)}`);
  return new Map(known);
}

function readPaging(offset: unknown, limit: unknown): [offset: number, limit: number] {
  return [integer(offset, 'offset', 0, 2 ** 31, 0), integer(limit, 'limit', 1, 10_000, 100)];
}

function readEmbedder(embedder: OpenOptions['embedder']): 'builtin' | 'none' | EmbeddingModel {
  if (embedder === undefined || embedder === 'builtin') return 'builtin';
  if (embedder === 'none') return 'none';
  if (typeof embedder !== 'object' || embedder === null || typeof embedder.embed !== 'function') {
    throw invalid(`embedder must be "builtin", "none" or a model with an embed method, got ${show(embedder)}`);
  }
  integer(embedder.dimensions, 'embedder.dimensions', 1, 4_096);
  return embedder;
}

function readStorage(storage: OpenOptions['storage']): EngineOpenOptions['storage'] {
  if (storage === 'indexeddb' || storage === 'memory') return storage as 'indexeddb' | 'memory';
  if (storage !== undefined) return 'host';
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined && typeof indexedDB === 'undefined' ? 'memory' : 'indexeddb';
}

function readAssets(assets: OpenOptions['assets']): EngineAssets {
  // A worker has another base address: what is relative is relative to the page.
  const base = (globalThis as { location?: { href: string } }).location?.href;
  const plain = <T>(source: string | URL | T): string | T => {
    if (source instanceof URL) return source.href;
    return typeof source === 'string' && base !== undefined ? new URL(source, base).href : source;
  };
  return {
    ...(assets?.wasm === undefined ? {} : { wasm: plain(assets.wasm) }),
    ...(assets?.table === undefined ? {} : { table: plain(assets.table) }),
  };
}

function readSeed(seed: number | undefined): number {
  return seed === undefined ? (crypto.getRandomValues(new Uint32Array(1))[0] as number) : integer(seed, 'seed', 0, 2 ** 32 - 1);
}

/** Tabs meet at the database of their origin; a store or a Worker of the caller's own is nobody else's. */
function isShared({ storage }: EngineOpenOptions, { shared, worker }: OpenOptions): boolean {
  return storage === 'indexeddb' && shared !== false && typeof worker !== 'object' && typeof BroadcastChannel !== 'undefined' && platformLocks() !== undefined;
}
