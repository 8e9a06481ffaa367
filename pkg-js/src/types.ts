/**
 * The public shapes of memstrata. Pure types: importing this file runs nothing.
 *
 * Times are milliseconds since the epoch, ids are strings, vectors are `Float32Array`.
 */
import type { ChatModel, EmbeddingModel } from './providers/types.js';
import type { StorageEngine } from './storage/types.js';

/** Where a page of memory lies now. */
export type Tier = 'short' | 'mid' | 'archive';

/** Free-form, JSON-like values a caller attaches to a page and can filter by. */
export type MetadataValue = string | number | boolean | null | MetadataValue[] | { [key: string]: MetadataValue };
/** A page's metadata, by key. */
export type Metadata = { [key: string]: MetadataValue };

/** What `MemoryOS.open` takes. Only `name` and `userId` are required. */
export interface OpenOptions {
  /** Name of the database; one origin may hold several. */
  name: string;
  /** Whose memory this is. Data, never a path: any non-empty string. */
  userId: string;
  /** The assistant that remembers. Default `"default"`. */
  assistantId?: string;
  /** Language model. Without one, `getResponse` answers with the recalled passages (memory-only mode). */
  chat?: ChatModel;
  /**
   * `"builtin"` (default) loads the static English and Chinese table lazily; `"none"` keeps to keywords. Beside an embedder of your
   * own the table still counts tokens and compares word by word.
   */
  embedder?: 'builtin' | 'none' | EmbeddingModel;
  /** `"indexeddb"` (default in browsers), `"memory"` (default in Node), the name of a registered engine, or an engine itself. */
  storage?: 'indexeddb' | 'memory' | (string & {}) | StorageEngine;
  config?: Partial<Config>;
  /**
   * Counts tokens as your model does; runs in the page, on whole contexts. Default: the embedding table's own count, which is
   * near that of most models.
   */
  countTokens?: (text: string) => number | Promise<number>;
  /**
   * Ways of ranking of your own, by name: `retrieve(query, { strategy: name })`. They run in the page, also when the memory runs
   * in a Worker. A name is none of the core's strategies.
   */
  retrievers?: { [name: string]: Retriever };
  /** Run in a dedicated Worker. Default: true where `Worker` exists and a page is there to be kept smooth. */
  worker?: boolean | Worker | (() => Worker);
  /**
   * Shared with other tabs and workers of this origin. Default: true with `storage: "indexeddb"` where there are Web Locks and
   * BroadcastChannel, and `worker` is no Worker of yours. With false the memory has one object at a time, and a second is LOCKED.
   */
  shared?: boolean;
  /**
   * Where the wasm file, the embedding table and the worker script are; default beside the package's own modules. `table: false` leaves
   * the table out, also beside an embedder of your own, which then finds less and estimates tokens.
   */
  assets?: { wasm?: string | URL | BufferSource | WebAssembly.Module; table?: string | URL | BufferSource | false; worker?: string | URL };
  /** Gives the time; for tests and replays. Default `Date.now`. */
  now?: () => number;
  /** Seed for ids of a new memory; for tests and replays. Default: from `crypto.getRandomValues`. */
  seed?: number;
  /** Begins with background work paused, until `resume`. */
  paused?: boolean;
  signal?: AbortSignal;
}

/** Every parameter, with its default. Ranges are checked when a memory opens. */
export interface Config {
  /** Pages in short-term memory, 1 to 1,000. Default 10 (paper: 7). */
  shortTermCapacity: number;
  /** Pages handed to consolidation at once, 1 to 100. Default 5. */
  consolidationBatch: number;
  /** Segments in mid-term memory before the coldest is archived, 1 to 100,000. Default 2,000 (paper: 200). */
  midTermCapacity: number;
  /** f_score from which a page joins a segment, 0 to 2. Default 0.6. */
  similarityThreshold: number;
  /** tau: heat from which a segment is promoted. Default 5. */
  heatThreshold: number;
  heatAlpha: number;
  heatBeta: number;
  heatGamma: number;
  /** mu: hours after which recency falls to 1/e. Default 24 (paper: 1e7 s). */
  heatTimeConstantHours: number;
  /** Which segment is archived first. Default `lowestHeat` (as the paper); `leastFrequentlyUsed` is the MemoryOS code's. */
  segmentEviction: 'lowestHeat' | 'leastFrequentlyUsed';
  /**
   * Open facts kept at hand for each of user, assistant and others, 1 to 10,000; static profile fields do not count.
   * Default 100.
   */
  knowledgeCapacity: number;
  /** Which fact is archived first when a queue is full. Default `leastUseful`; `firstIn` is the paper's queue. */
  knowledgeEviction: 'leastUseful' | 'firstIn';
  /** Facts that one analysis may close, 0 to 1,000; what would close more is refused. Default 8. */
  closuresPerWrite: number;
  /** Changes of long-term memory kept for history and undo, 1 to 1,000,000; the oldest go first. Default 2,000. */
  historyCapacity: number;
  /**
   * How short-term memory sinks: `batched` asks the model once for a batch of pages, `paper` takes the steps of the MemoryOS
   * paper, `offline` asks nobody. Default `auto`: `batched` with a model, else `offline`.
   */
  updatePolicy: UpdatePolicy;
  /** Unseen pages of hot segments that start an analysis, 1 to 1,000. Default 10 (paper: 1). */
  promotionBatch: number;
  /** Calls of background work to models in a day of UTC; 0, the default, is no limit. */
  dailyCalls: number;
  /** Tokens, in and out, of background work in a day of UTC; 0, the default, is no limit. */
  dailyTokens: number;
  /** Minutes of silence that end a session. Default 60. */
  sessionGapMinutes: number;
  /** Bytes of write-ahead log before it is sealed into chunks. Default 262,144. */
  sealThresholdBytes: number;
}

/** `auto`, or the name of an update policy. */
export type UpdatePolicy = 'auto' | 'batched' | 'paper' | 'offline';

/** What may be changed while a memory is open; it lasts until the memory is closed. */
export type Settings = Partial<Pick<Config, 'updatePolicy' | 'dailyCalls' | 'dailyTokens'>>;

/** One exchange to be stored. One side may be empty, not both. */
export interface AddMemoryInput {
  userInput: string | ContentPart[];
  agentResponse: string | ContentPart[];
  /** Milliseconds since the epoch, a Date, or ISO 8601 text (a zone offset in it is kept). Default: now. */
  timestamp?: number | Date | string;
  metadata?: Metadata;
  /** Your own id of the turn: the same id is stored once. */
  id?: string;
  /** Your own name of the session; default: sessions end after `sessionGapMinutes` of silence. */
  session?: string;
  /** Speakers' names, for conversations between named people. Default: roles. */
  userName?: string;
  agentName?: string;
}

/** Multi-part messages: text is joined, the rest kept as references. */
export type ContentPart = { type: 'text'; text: string } | { type: string; [key: string]: unknown };

/** What became of a turn that was to be stored. */
export interface AddMemoryResult {
  /** Id of the page. */
  id: string;
  /** `"duplicate"`: the client id is already there; nothing was written. */
  status: 'stored' | 'duplicate';
}

/** `two_stage` is MemoryOS's own: the five best segments, then the `topK` pages in them that are nearest to the question. */
export type BuiltInStrategy = 'auto' | 'semantic' | 'keyword' | 'temporal' | 'two_stage';

/** A strategy of the core, or the name of a retriever that was given to `open`. */
export type Strategy = BuiltInStrategy | (string & {});

/** How a search is done and how much it gives. */
export interface RetrieveOptions {
  /** Hits returned, 1 to 1,000. Default 10. */
  topK?: number;
  /** Tokens of the packed context, 0 to 1,000,000. Default 1,024. */
  budgetTokens?: number;
  strategy?: Strategy;
  profile?: 'auto' | 'chat' | 'assistant' | 'preference';
  filter?: Filter;
  /**
   * When and where it is asked: what "last week" counts from. Milliseconds, a Date, or ISO 8601 text (a zone offset in it is
   * kept). Default: `asOf`, or now, in the zone of this machine.
   */
  now?: number | Date | string;
  /** Answers from what had been said by then, and from facts as they were believed then. */
  asOf?: number | Date | string;
  signal?: AbortSignal;
}

/** All given conditions must hold. */
export interface Filter {
  tiers?: Tier[];
  roles?: ('user' | 'assistant')[];
  /** Half-open: `from <= t < to`. */
  from?: number | Date | string;
  to?: number | Date | string;
  sessions?: string[];
  /** Equality by top-level key. */
  metadata?: Metadata;
  /** Tests by top-level key; a key without tests is as if it were not there. */
  where?: { [key: string]: MetadataTest };
  /** Leaves out what meets all conditions of this one, or of any in a list. It needs a condition, and no `not` or `exclude`. */
  not?: Negated | Negated[];
  /** Page ids to leave out. */
  exclude?: string[];
}

/** What is negated: the conditions of a filter. */
export type Negated = Omit<Filter, 'not' | 'exclude'>;

/** All that are given must hold. */
export interface MetadataTest {
  /** The value is one of these, or is a list that holds one of them. */
  in?: MetadataValue[];
  /** Whether the key is there; `null` is there. */
  exists?: boolean;
  /** Half-open: `from <= value < to`, for numbers, and for texts by code points (so for ISO 8601 dates too). */
  from?: number | string;
  to?: number | string;
}

/** A turn that may be found. */
export interface Candidate {
  /** Id of the turn: page id and side. */
  id: string;
  pageId: string;
  role: 'user' | 'assistant';
  /** Speaker's name or role, as printed in the context. */
  speaker: string;
  /** The whole turn. */
  text: string;
  tier: Tier;
  /** When it was said; `null` if unknown. */
  time: number | null;
  offsetMinutes: number;
  session: string;
  metadata: Metadata;
}

/** What a retriever is asked, and what it may look at. */
export interface RetrieverInput {
  query: string;
  /** Most turns that are of use; the best so many of the answer are taken. */
  limit: number;
  /** Fires when the search is cancelled or the memory closes. */
  signal: AbortSignal;
  /** Every turn that the filter lets through, in the order of arrival. */
  candidates(): Promise<Candidate[]>;
  /** The best turns by a strategy of the core, over the same candidates, best first; for the same question if it is not given. */
  search(options?: { query?: string; strategy?: BuiltInStrategy; topK?: number }): Promise<Hit[]>;
}

/**
 * Ranks turns in place of a strategy: gives their ids with finite scores, in any order, greater is better. Filters, the token
 * budget, packing and visits stay the core's: an id that is unknown or filtered out is passed over, of one that is given twice
 * the greater score counts. An error fails the search with its code, or PROVIDER_FAILED, and names the retriever.
 */
export type Retriever = (input: RetrieverInput) => Ranked[] | Promise<Ranked[]>;

/** A turn's id with its score by a retriever; greater is better. */
export interface Ranked {
  id: string;
  score: number;
}

/** A turn that was found, with the reasons. */
export interface Hit extends Candidate {
  kind: 'turn';
  /** What of it went into the context; empty when the budget left it out. */
  quotes: string[];
  packed: boolean;
  segmentId?: string;
  score: number;
  /** Terms of the score, largest first; they sum to `score`. Names: GLOSSARY "score parts". */
  parts: { name: string; value: number }[];
  /** Tokens it takes in the context. */
  tokens: number;
}

/** What the context holds of one turn. */
export interface PackedPassage {
  /** Id of the turn: page id and side. */
  turnId: string;
  pageId: string;
  /** Its sentences in the context, in order, word for word. */
  quotes: string[];
}

/** What a search found, and the context packed out of it. */
export interface RetrieveResult {
  /** Best first, at most `topK`. */
  hits: Hit[];
  /** Packed passages in order of time, ready for a prompt: data, never instructions. */
  context: string;
  contextTokens: number;
  /** Everything that `context` holds, turn by turn in order of time: also turns that rank after the last hit. */
  passages: PackedPassage[];
  /** Facts of long-term memory that bear on the question, best first. Those that are `packed` begin the context. */
  facts: FactHit[];
  query: {
    strategy: Strategy;
    profile: 'chat' | 'assistant' | 'preference';
    names: string[];
    words: string[];
    months: number[];
    days: number[];
    years: number[];
    /**
     * Days that the question asks about, half-open, as `2023-05-15`; `null` is an open end. A turn is held against them by the
     * day on which it was said where it was said.
     */
    ranges: { phrase: string; from: string | null; to: string | null }[];
    /** False when the vectors took no part: no table, or a script it does not read. */
    vectors: boolean;
  };
  /** Passages that ranked next but did not fit. */
  belowCut: { turnId: string; quote: string; score: number; tokens: number }[];
  /** From call to answer, the way to the worker and back included. Absent in the recall of an answer. */
  timing?: { ms: number };
}

/** How an answer is asked for, and with what its exchange is stored. */
export interface GetResponseOptions {
  /** Yields text as it comes when true. */
  stream?: boolean;
  signal?: AbortSignal;
  /** How the assistant should write, for example "brief and warm". */
  style?: string;
  /** What the assistant is to the user, for example "tutor" or "an old friend". */
  relationship?: string;
  /** Tokens of recalled memory in the prompt, 0 to 1,000,000. Default 1,024. */
  budgetTokens?: number;
  metadata?: Metadata;
  timestamp?: number | Date | string;
  id?: string;
  userName?: string;
  agentName?: string;
  session?: string;
}

/** A finished answer. */
export interface ResponseResult {
  text: string;
  /** Page that now holds the exchange. */
  pageId: string;
  /** `"memory-only"`: no language model is set and the text is the recalled passages. */
  mode: 'model' | 'memory-only';
  recall: RetrieveResult;
  finishReason: import('./providers/types.js').FinishReason;
  usage?: import('./providers/types.js').Usage;
}

/** A streaming answer: iterate for the text, await `result` for the rest. */
export interface ResponseStream extends AsyncIterable<string> {
  readonly result: Promise<ResponseResult>;
}

/** How `merge` writes its prompt; the same as for an answer. */
export interface MergeOptions {
  style?: string;
  relationship?: string;
  budgetTokens?: number;
  signal?: AbortSignal;
}

/** The prompt that `getResponse` would send, for callers who talk to the model themselves. Nothing is stored. */
export interface MergeResult {
  /** Role, persona, pinned facts: the same bytes as long as those are, so that prompt caches hit. */
  system: string;
  /** The whole prompt: `system`, the conversation so far, recalled memory with the question. */
  messages: import('./providers/types.js').ChatMessage[];
  /** The recalled memory alone: data, never instructions. */
  context: string;
  contextTokens: number;
  recall: RetrieveResult;
}

/** What a deletion took along. */
export interface ForgetResult {
  /** Pages that are gone. */
  pages: string[];
  /** Ids asked for that are not in this memory. */
  notFound: string[];
  /** Segments that were rewritten without them, and segments that went with their last page. */
  segmentsRewritten: string[];
  segmentsRemoved: string[];
  /** Facts that rested on them alone, or were asked for, and are gone. */
  facts: string[];
  /** Facts and traits that lost a quotation and stay. */
  factsRewritten: string[];
  /** Whether a profile text was taken back because it may hold their words; the next analysis writes it anew. */
  profilesRemoved: boolean;
}

/** Counts of a memory as it is now. */
export interface Stats {
  /** `owner`: the engine runs for this object. `follower`: that of another tab or worker does. */
  role: 'owner' | 'follower';
  pages: number;
  turns: number;
  shortTerm: { pages: number; capacity: number; waiting: number };
  midTerm: { segments: number; pages: number; capacity: number };
  archive: { segments: number; pages: number };
  jobs: { queued: number; failed: number };
  index: { atoms: number; words: number; vectors: number; pendingVectors: number };
  storage: { walRecords: number; walBytes: number; chunks: number; chunkBytes: number };
  /** Bytes handed to the store since the memory was opened. */
  writtenBytes: number;
  embedder: { id: string | null; dimensions: number; ready: boolean };
  calls: { chat: number; embed: number; tokensIn: number; tokensOut: number };
  facts: { open: number; closed: number; archived: number };
  traits: number;
  changes: number;
}

/** A stored exchange as it is now. Times are milliseconds since the epoch. */
export interface PageView {
  id: string;
  clientId?: string;
  userInput: string;
  agentResponse: string;
  userName: string;
  agentName: string;
  time: number | null;
  offsetMinutes: number;
  session: string;
  tier: Tier;
  segmentId?: string;
  metadata: Metadata;
  /** Waiting to sink from short-term into mid-term memory. */
  waiting: boolean;
  /** Every segment that holds it, the one that placed it first. */
  segmentIds: string[];
  /** Neighbours in its dialogue chain, and what that chain is about so far. */
  pre?: string;
  next?: string;
  metaInfo?: string;
  /** Never recalled, by the user's wish. */
  neverRecall: boolean;
}

/** A segment of mid-term memory or of the archive: pages on one topic. */
export interface SegmentView {
  id: string;
  summary: string;
  keywords: string[];
  /** Its title, or else the leading keywords. */
  theme: string;
  pages: string[];
  tier: 'mid' | 'archive';
  heat: { value: number; nVisit: number; lInteraction: number; rRecency: number };
  lastAccess: number;
  /** False while no model has enriched it (`offline` policy). */
  enriched: boolean;
  startTime: number | null;
  endTime: number | null;
}

/** A picture of the tiers, heat computed at the time of the call. */
export interface TiersView {
  shortTerm: PageView[];
  midTerm: SegmentView[];
  archive: SegmentView[];
  heatThreshold: number;
}

/** A job of background work. `notBefore` is in milliseconds since the epoch; a `failed` one waits for `retryJob`. */
export interface JobView {
  id: string;
  /**
   * `consolidate`: pages sink into mid-term memory. `embed`: vectors. `enrich`: a model sees pages that rules have filed.
   * `promote`: hot pages go into profile and traits.
   */
  kind: 'consolidate' | 'embed' | 'enrich' | 'promote';
  state: 'queued' | 'failed';
  /** What holds it up; absent where nothing does but its time. */
  waitsFor?: 'pause' | 'budget' | 'model' | 'table' | 'policy';
  attempts: number;
  notBefore: number;
  error?: { code: string; message: string };
  pages: string[];
}

/** Whom a fact is about. */
export type Subject = 'user' | 'assistant' | 'other';

/** A quotation that supports a fact or a trait, word for word. */
export interface EvidenceView {
  pageId: string;
  role: 'user' | 'assistant';
  quote: string;
}

/** A fact of long-term memory. `confidence` and `trust` go from 0 to 1; times are milliseconds since the epoch. */
export interface FactView {
  id: string;
  subject: Subject;
  /** The name, where `subject` is `other`. */
  subjectName?: string;
  attribute: string;
  value: string;
  kind: 'knowledge' | 'preference' | 'event';
  /** Who vouches for it, weakest first: a model inferred it, the user said it, the user edited it. */
  source: 'inferred' | 'stated' | 'edited';
  confidence: number;
  trust: number;
  /** Event time from which it holds; `null` if unknown. */
  validFrom: number | null;
  /** The words that say so, as they were said. */
  validFromPhrase?: string;
  /** Event time at which it ceased to hold; `null` while it is believed. */
  validTo: number | null;
  recordedAt: number;
  supersededBy?: string;
  /** Why it was closed. */
  reason?: 'later' | 'outranked' | 'retracted';
  archived: boolean;
  pinned: boolean;
  neverRecall: boolean;
  evidence: EvidenceView[];
}

/** A fact that bears on a question, with its score, and whether the context begins with it. */
export interface FactHit extends FactView {
  score: number;
  packed: boolean;
}

/** Which facts are listed. Without options: all that are believed now. */
export interface FactsOptions {
  subject?: Subject;
  /** Closed facts too. Default false. */
  closed?: boolean;
  /** What was believed at this time. Default: now. */
  asOf?: number | Date | string;
}

/** A fact entered by hand. */
export interface FactInput {
  /** Default `user`. */
  subject?: Subject;
  subjectName?: string;
  attribute: string;
  value: string;
  /** Default `knowledge`. */
  kind?: FactView['kind'];
  validFrom?: number | Date | string;
}

/** One version of a profile's text. */
export interface ProfileText {
  /** 1 for the first version; counted over both profiles. */
  version: number;
  of: 'user' | 'assistant';
  text: string;
  recordedAt: number;
}

/** What is known of user and assistant, in words. */
export interface ProfileView {
  /** The present texts; `null` while there is none. */
  user: ProfileText | null;
  assistant: ProfileText | null;
  /** Every version that is kept, newest first. */
  versions: ProfileText[];
  /** The static profile: facts of fixed slots; `null` where unknown. */
  name: FactView | null;
  gender: FactView | null;
  birthYear: FactView | null;
}

/** A trait that the conversations give evidence of: one of 90 dimensions, with its level. */
export interface TraitView {
  /** Number of the dimension, 0 to 89. */
  dimension: number;
  name: string;
  chineseName: string;
  category: 'psychology' | 'alignment' | 'interest';
  definition: string;
  level: 'low' | 'medium' | 'high';
  /** What the level means, in a phrase. */
  levelRule: string;
  /** 0 to 1. */
  confidence: number;
  evidence: EvidenceView[];
}

/** Who or what made a change. */
export type ChangeCause =
  | { by: 'user' }
  /** The user took back an earlier change. */
  | { by: 'undo'; changeId: string }
  /** `model` is null where rules alone decided. */
  | { by: 'analysis'; pages: string[]; model: string | null; step: string };

/** One record before and after a change; `null` where it was not there. */
export type ChangeStepView =
  | { what: 'fact'; id: string; before: FactView | null; after: FactView | null }
  | { what: 'profile'; id: string; before: ProfileText | null; after: ProfileText | null }
  | { what: 'trait'; id: string; before: TraitView | null; after: TraitView | null };

/** A change of long-term memory: one step a record that it touched. `at` is in milliseconds since the epoch. */
export interface ChangeView {
  id: string;
  at: number;
  cause: ChangeCause;
  steps: ChangeStepView[];
  /** False where a later change rests on it; undo that first. */
  undoable: boolean;
}

/** Which changes are listed, newest first. */
export interface HistoryOptions {
  /** Only changes of one record: a fact's id, `trait_7`, or `profile`. */
  id?: string;
  offset?: number;
  /** 1 to 10,000, default 100. */
  limit?: number;
}

/** What an analysis did. */
export interface AnalysisResult {
  /** Pages that were analysed. */
  pages: number;
  /** Facts and traits that changed. */
  changes: number;
}

/** What the models took, by day of UTC and by what it was for. */
export interface LedgerView {
  /** Newest first, at most 31. */
  days: { day: string; rows: LedgerRow[] }[];
  /** What background work has taken of today's limits; a limit of 0 is none. */
  today: { calls: number; callsLimit: number; tokens: number; tokensLimit: number };
  paused: boolean;
  /** After a failure of the model: when background work asks it again. */
  resumesAt: number | null;
}

/** What one operation took in one day. */
export interface LedgerRow {
  /** `respond`, `embed`, or the step of memory work: `segments`, `profile` and so on. */
  operation: string;
  calls: number;
  failures: number;
  tokensIn: number;
  tokensOut: number;
  /** Time spent waiting for the model. */
  ms: number;
}

/** What happened, in order. */
export type MemoryEvent =
  | { type: 'page-added'; pageId: string }
  | { type: 'page-updated'; pageId: string }
  | { type: 'consolidated'; pages: string[]; segments: string[] }
  | { type: 'segment-archived'; segmentId: string }
  /** Rules filed what a model could not, or would not; it is asked again later. */
  | { type: 'filed-by-rules'; pages: string[]; reason: string }
  | { type: 'enriched'; pages: string[]; segments: string[] }
  /** Long-term memory changed. */
  | { type: 'persona-changed'; changeId: string; facts: number; profiles: number; traits: number }
  | { type: 'promoted'; pages: string[]; segments: string[] }
  /** Parts of a reply that did not stand up to the pages it was asked about. */
  | { type: 'reply-refused'; operation: string; parts: { part: string; reason: string; detail: string }[] }
  | { type: 'paused' }
  | { type: 'resumed' }
  | { type: 'forgotten'; pages: string[]; facts: string[] }
  | { type: 'embedded'; pages: number; pending: number }
  | { type: 'embedder'; status: 'loading' | 'ready' | 'failed'; message?: string }
  | { type: 'job-failed'; jobId: string; code: string; message: string; willRetry: boolean }
  | { type: 'sealed'; chunks: number; bytes: number }
  | { type: 'cleared' }
  /** Whose engine serves this object now: its own, or that of another tab or worker. */
  | { type: 'role'; role: Stats['role'] }
  /** `newer-version`: another tab runs a newer version of the package, and this one has let the memory go. */
  | { type: 'closed'; reason: 'called' | 'worker-lost' | 'newer-version' };

/** One turn pair of a conversation to import. */
export type ImportTurn = AddMemoryInput;

/** How far an import has come. */
export interface ImportProgress {
  done: number;
  total: number;
}

/** What an import stored, and what it passed over. */
export interface ImportResult {
  added: number;
  duplicates: number;
  /** Entries that could not be read, with the reason; the rest was imported. */
  skipped: { index: number; reason: string }[];
}
