/**
 * The whole wire protocol between a page and the worker that hosts its memory. Both sides speak the same six
 * messages; which calls each may make is typed below. Nothing but structured-cloneable values crosses, and no API key:
 * models and stores stay in the page and are called back.
 */
import type { ChatResult, EmbeddingResult } from '../providers/types.js';
import type { KeyRange, WriteBatch } from '../storage/types.js';
import type {
  AddMemoryResult, AnalysisResult, Candidate, ChangeView, FactView, ForgetResult, JobView, LedgerView, MemoryEvent, MergeResult, PageView, ProfileView, Ranked, ResponseResult, RetrieveResult,
  Settings, Stats, TiersView, TraitView,
} from '../types.js';
import type {
  CoreStats, HostChatRequest, HostEmbedRequest, HostRankRequest, WasmAddInput, WasmFactInput, WasmMergeOptions, WasmOpenOptions, WasmRespondInput, WasmRetrieveOptions, WireError,
} from './contract.js';

/** Raised with every change of this file: a page never talks to a stale cached worker of another version. */
export const PROTOCOL_VERSION = 4;

/** Where the engine finds its files; absent = beside the package's own modules. */
export interface EngineAssets {
  wasm?: string | BufferSource | WebAssembly.Module;
  /** False: it is left out. */
  table?: string | BufferSource | false;
}

export interface EngineOpenOptions extends WasmOpenOptions {
  protocol: number;
  assets: EngineAssets;
  /** Names the store in the owner lock; null for a memory of its own, which nobody else can open. */
  lockStore: string | null;
  /** A Web Lock the worker holds while it lives; the page notices by it when the worker is killed. */
  aliveLock?: string;
}

/** What the page asks of the engine: name -> arguments and result. */
export interface EngineCalls {
  add: { args: [input: WasmAddInput]; result: AddMemoryResult };
  addMany: { args: [inputs: WasmAddInput[]]; result: AddMemoryResult[] };
  retrieve: { args: [query: string, options: WasmRetrieveOptions]; result: RetrieveResult };
  candidates: { args: [options: WasmRetrieveOptions]; result: Candidate[] };
  respond: { args: [query: string, input: WasmRespondInput]; result: ResponseResult };
  merge: { args: [query: string, options: WasmMergeOptions]; result: MergeResult };
  complete: { args: [id: string, agentResponse: string]; result: void };
  forget: { args: [ids: string[]]; result: ForgetResult };
  analyse: { args: []; result: AnalysisResult };
  pause: { args: []; result: void };
  resume: { args: []; result: void };
  configure: { args: [settings: Settings]; result: void };
  facts: { args: [subject: string, closed: boolean, asOfMs: number | null]; result: FactView[] };
  profile: { args: []; result: ProfileView };
  traits: { args: []; result: TraitView[] };
  history: { args: [id: string, offset: number, limit: number]; result: ChangeView[] };
  ledger: { args: []; result: LedgerView };
  undo: { args: [changeId: string]; result: string };
  addFact: { args: [input: WasmFactInput]; result: FactView };
  editFact: { args: [id: string, changes: Partial<WasmFactInput>]; result: FactView };
  retractFact: { args: [id: string]; result: FactView };
  pinFact: { args: [id: string, pinned: boolean]; result: FactView };
  setNeverRecall: { args: [id: string, never: boolean]; result: void };
  setProfile: { args: [of: 'user' | 'assistant', text: string]; result: void };
  flush: { args: []; result: void };
  retryJob: { args: [jobId: string]; result: void };
  stats: { args: []; result: CoreStats & Partial<Stats> };
  tiers: { args: []; result: TiersView };
  jobs: { args: []; result: JobView[] };
  page: { args: [id: string]; result: PageView | null };
  pages: { args: [offset: number, limit: number]; result: PageView[] };
  exportAll: { args: []; result: Uint8Array };
  importAll: { args: [bytes: Uint8Array]; result: { added: number; duplicates: number } };
  clear: { args: []; result: void };
}

/** Calls that frame the life of an engine. */
export interface LifeCalls {
  open: { args: [options: EngineOpenOptions]; result: void };
  close: { args: []; result: void };
}

/** What the engine asks of the page. */
export interface HostCalls {
  chat: { args: [request: HostChatRequest, callId: string | undefined]; result: ChatResult };
  embed: { args: [request: HostEmbedRequest]; result: EmbeddingResult };
  count: { args: [texts: string[]]; result: number[] };
  rank: { args: [request: HostRankRequest]; result: Ranked[] };
  read: { args: [range: KeyRange]; result: { key: string; value: Uint8Array }[] };
  commit: { args: [batch: WriteBatch]; result: void };
}

export type Calls = { [method: string]: { args: unknown[]; result: unknown } };
export type ToWorker = EngineCalls & LifeCalls;
export type Args<C, M extends keyof C> = C[M] extends { args: infer A extends unknown[] } ? A : never;
export type Result<C, M extends keyof C> = C[M] extends { result: infer R } ? R : never;

/** One message of a side that may make the calls `C`. `now` sets the worker's clock to the page's, for injected time. */
export type Message<C> =
  | { kind: 'request'; id: number; now?: number } & { [M in keyof C]: { method: M; args: Args<C, M> } }[keyof C]
  | { kind: 'result'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: WireError }
  | { kind: 'cancel'; id: number }
  | { kind: 'event'; event: MemoryEvent }
  | { kind: 'fatal'; error: WireError };
