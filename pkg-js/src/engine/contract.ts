/**
 * What the wasm module (src/wasm in the crate) expects from JavaScript and gives to it. Nothing here is public API.
 *
 * Every method of `WasmMemory` takes `&self` and returns a Promise, so calls may overlap freely.
 */
import type { ChatMessage, FinishReason, OutputMode, Usage } from '../providers/types.js';
import type { KeyRange, WriteBatch } from '../storage/types.js';
import type {
  AddMemoryResult, AnalysisResult, Candidate, ChangeView, Config, FactView, ForgetResult, JobView, LedgerView, MemoryEvent, Metadata, PageView, ProfileView, Ranked, RetrieveResult,
  Settings, Stats, Strategy, Subject, TiersView, TraitView,
} from '../types.js';

export interface HostChatRequest {
  messages: ChatMessage[];
  maxOutputTokens?: number;
  temperature?: number;
  /** `schema` is JSON text. */
  responseSchema?: { name: string; schema: string };
  outputMode?: OutputMode;
}

export interface HostEmbedRequest {
  texts: string[];
  kind: 'query' | 'passage';
}

export interface HostRankRequest {
  retriever: string;
  query: string;
  limit: number;
  /** That of the search. */
  callId?: string;
}

/** Calls from the core to the world outside. */
export interface Host {
  /** Milliseconds since the epoch; stamps every operation. */
  now(): number;
  /** `callId` ties a streaming answer to the `respond` call that asked for it; absent for background work. */
  chat?(request: HostChatRequest, callId?: string): Promise<{ text: string; finishReason: FinishReason; usage?: Usage; outputMode?: OutputMode }>;
  embed?(request: HostEmbedRequest): Promise<{ vectors: Float32Array[]; usage?: Usage }>;
  /** Given when the caller counts tokens: one number a text. */
  count?(texts: string[]): Promise<number[]>;
  /** Given when the caller has retrievers. */
  rank?(request: HostRankRequest): Promise<Ranked[]>;
  /** Given when the caller supplies the store; otherwise the core uses IndexedDB or memory itself. */
  read?(range: KeyRange): Promise<{ key: string; value: Uint8Array }[]>;
  commit?(batch: WriteBatch): Promise<void>;
  emit(event: MemoryEvent): void;
  /**
   * The core's panic hook calls this before the instance traps. A panic inside a spawned future leaves its promise
   * pending for ever, so without this the waiting calls would hang.
   */
  panicked?(message: string): void;
}

export interface WasmOpenOptions {
  name: string;
  userId: string;
  assistantId: string;
  storage: 'indexeddb' | 'memory' | 'host';
  config: Partial<Config>;
  /** 32 bits, for ids of a new memory. */
  seed: number;
  /** External embedder's identity; absent for the built-in one. */
  embedder?: { id: string; dimensions: number; maxEmbeddingsPerCall: number } | null;
  /** False: keyword search only. */
  builtinEmbedder: boolean;
  /** `provider/modelId` of the host's `chat`; null without one, and answers are the recalled passages. */
  chatModel: string | null;
  /** Whether the host offers `count`. */
  countsTokens: boolean;
  /** Names of retrievers that the host's `rank` answers for. */
  retrievers: string[];
  /** No background work until `resume`. */
  paused: boolean;
}

export interface WasmAddInput {
  userInput: string;
  agentResponse: string;
  /** null = unknown. */
  epochMs: number | null;
  offsetMinutes: number;
  metadata: Metadata;
  clientId?: string;
  session?: string;
  userName?: string;
  agentName?: string;
}

export interface WasmRetrieveOptions {
  topK: number;
  budgetTokens: number;
  strategy: Strategy;
  profile: 'auto' | 'chat' | 'assistant' | 'preference';
  filter: WasmFilter;
  epochMs: number;
  offsetMinutes: number;
  asOfMs?: number;
  /** Comes back with the request of a retriever. */
  callId?: string;
}

export interface WasmFilter {
  tiers?: string[];
  roles?: string[];
  fromMs?: number;
  toMs?: number;
  sessions?: string[];
  metadata?: Metadata;
  where?: Metadata;
  not?: WasmFilter[];
  exclude?: string[];
}

export interface WasmRespondInput extends Omit<WasmAddInput, 'agentResponse'> {
  callId: string;
  style?: string;
  relationship?: string;
  budgetTokens: number;
}

export interface WasmMergeOptions {
  epochMs: number | null;
  offsetMinutes: number;
  style?: string;
  relationship?: string;
  budgetTokens: number;
}

export interface WasmFactInput {
  subject: Subject;
  subjectName?: string;
  attribute: string;
  value: string;
  kind: FactView['kind'];
  validFromMs: number | null;
  offsetMinutes: number;
}

/** Of tabs the core knows nothing. */
export type CoreStats = Omit<Stats, 'role'>;

export interface WasmMemory {
  add(input: WasmAddInput): Promise<AddMemoryResult>;
  /** One durable transaction for the whole list; the result is in order. */
  addMany(inputs: WasmAddInput[]): Promise<AddMemoryResult[]>;
  retrieve(query: string, options: WasmRetrieveOptions): Promise<RetrieveResult>;
  /** What a search with these options may find. */
  candidates(options: WasmRetrieveOptions): Candidate[];
  respond(query: string, input: WasmRespondInput): Promise<import('../types.js').ResponseResult>;
  merge(query: string, options: WasmMergeOptions): Promise<import('../types.js').MergeResult>;
  /** `id` is the page's or its caller's. */
  complete(id: string, agentResponse: string): Promise<void>;
  /** Ids of pages and of facts. */
  forget(ids: string[]): Promise<ForgetResult>;
  /** Runs the next due job. `ran: false` when none is due; `nextDueMs` is the time of the next one, null when the queue is empty. */
  work(): Promise<{ ran: boolean; nextDueMs: number | null }>;
  /** Consolidates all beyond the capacity, runs every job, seals the log. Rejects with the first job's error if one keeps failing. */
  flush(): Promise<void>;
  /** Puts a failed job back into the queue. */
  retryJob(jobId: string): Promise<void>;
  /** Analyses all that waits for it, hot or not. */
  analyse(): Promise<AnalysisResult>;
  /** No background work until `resume`; calls of the user go on. */
  pause(): void;
  resume(): void;
  configure(settings: Settings): void;
  /** `subject` "" is every subject, `asOfMs` null is now. */
  facts(subject: string, closed: boolean, asOfMs: number | null): FactView[];
  profile(): ProfileView;
  traits(): TraitView[];
  /** Newest first; `id` "" is every record. */
  history(id: string, offset: number, limit: number): ChangeView[];
  ledger(): LedgerView;
  /** The id of the change. */
  undo(changeId: string): Promise<string>;
  addFact(input: WasmFactInput): Promise<FactView>;
  /** What is left out stays as it is. */
  editFact(id: string, changes: Partial<WasmFactInput>): Promise<FactView>;
  /** Closes a fact as of now, with nothing in its place. */
  retractFact(id: string): Promise<FactView>;
  pinFact(id: string, pinned: boolean): Promise<FactView>;
  /** A page or a fact. */
  setNeverRecall(id: string, never: boolean): Promise<void>;
  setProfile(of: 'user' | 'assistant', text: string): Promise<void>;
  stats(): CoreStats;
  tiers(): TiersView;
  jobs(): JobView[];
  /** By its id or its caller's. */
  page(id: string): PageView | null;
  /** Pages newest first. */
  pages(offset: number, limit: number): PageView[];
  exportAll(): Promise<Uint8Array>;
  /** Merges a file of `exportAll` into this memory. */
  importAll(bytes: Uint8Array): Promise<{ added: number; duplicates: number }>;
  clear(): Promise<void>;
  /** Hands over the bytes of the embedding table; vectors of pages stored without it are computed by a job. */
  installTable(bytes: Uint8Array): void;
  /** After this every call rejects with CLOSED. */
  close(): Promise<void>;
  free(): void;
}

/** The class that wasm-bindgen exports. */
export interface WasmMemoryConstructor {
  open(options: WasmOpenOptions, host: Host): Promise<WasmMemory>;
}

/** Shape of every error that crosses the boundary, in both directions. */
export interface WireError {
  code: string;
  message: string;
  data?: unknown;
  /** What it was before it crossed, as far as that can be cloned. */
  cause?: { name: string; message: string };
}
