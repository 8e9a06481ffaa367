/**
 * The page's side of the core's outside world: models and store as the caller gave them, checked and limited.
 * It stays in the page also when the engine runs in a worker, and with it the API keys.
 */
import { aborted, invalid, MemoryOSError, toMemoryOSError } from '../errors.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel, EmbeddingResult, Usage } from '../providers/types.js';
import { raced } from '../race.js';
import type { StorageEngine } from '../storage/types.js';
import { show, SurrogateJoiner, wellFormed } from '../text.js';
import type { Ranked, Retriever, RetrieverInput } from '../types.js';
import type { HostChatRequest, HostEmbedRequest, HostRankRequest } from './contract.js';
import type { HostCalls } from './protocol.js';
import type { Handlers } from './peer.js';

/** An answer that somebody waits for: its text is streamed, its signal cuts the model or the retriever off. */
export interface Listener {
  /** What a retriever may look at. */
  search?: Pick<RetrieverInput, 'candidates' | 'search'>;
  onText?: ((delta: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** The model's or retriever's error as it was thrown, before it crossed into the core and back. */
  failure?: MemoryOSError;
}

const DEFAULT_CONCURRENCY = 2;

export interface PageHostOptions {
  chat?: ChatModel | undefined;
  embedder?: EmbeddingModel | undefined;
  storage?: StorageEngine | undefined;
  countTokens?: ((text: string) => number | Promise<number>) | undefined;
  retrievers?: Map<string, Retriever> | undefined;
}

export class PageHost {
  readonly #options: PageHostOptions;
  readonly #closing = new AbortController();
  readonly #listeners = new Map<string, Listener>();
  readonly #chatSlots: Slots;

  constructor(options: PageHostOptions) {
    this.#options = options;
    this.#chatSlots = new Slots(options.chat?.maxConcurrency ?? DEFAULT_CONCURRENCY);
  }

  /** Ties the model call with this id to an answer until `unlisten`. */
  listen(callId: string, listener: Listener): void {
    this.#listeners.set(callId, listener);
  }

  unlisten(callId: string): void {
    this.#listeners.delete(callId);
  }

  /** Cuts off every model call. */
  close(): void {
    this.#closing.abort(new MemoryOSError('CLOSED', 'the memory was closed'));
  }

  readonly handlers: Handlers<HostCalls> = {
    chat: ([request, callId], signal) => this.#chat(request, callId, signal),
    embed: ([request], signal) => this.#embed(request, signal),
    count: ([texts]) => Promise.all(texts.map((text) => this.#count(text))),
    rank: ([request], signal) => this.#rank(request, signal),
    read: ([range]) => this.#store((storage) => storage.read(range)),
    commit: ([batch]) => this.#store((storage) => storage.commit(batch)),
  };

  async #chat(request: HostChatRequest, callId: string | undefined, signal: AbortSignal): Promise<ChatResult> {
    const chat = this.#given('chat');
    const listener = callId === undefined ? undefined : this.#listeners.get(callId);
    const cut = this.#cut(signal, listener);
    const joiner = new SurrogateJoiner();
    const deliver = (delta: string): void => {
      if (delta !== '' && !cut.aborted) listener?.onText?.(delta);
    };
    const { responseSchema, ...rest } = request;
    const full: ChatRequest = {
      ...rest,
      abortSignal: cut,
      ...(responseSchema ? { responseSchema: { name: responseSchema.name, schema: JSON.parse(responseSchema.schema) as object } } : {}),
      ...(listener?.onText ? { onText: (delta: string) => deliver(joiner.push(delta)) } : {}),
    };
    try {
      // An answer somebody waits for does not queue behind background work.
      const result = await this.#chatSlots.run(listener !== undefined, cut, () => chat.chat(full));
      deliver(joiner.end());
      return checkChat(result);
    } catch (thrown) {
      const error = asProviderError(thrown, cut);
      if (listener) listener.failure = error;
      throw error;
    }
  }

  #cut(signal: AbortSignal, listener?: Listener): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal, ...(listener?.signal ? [listener.signal] : [])]);
  }

  async #rank({ retriever, query, limit, callId }: HostRankRequest, signal: AbortSignal): Promise<Ranked[]> {
    const listener = this.#listeners.get(callId ?? '') ?? {};
    const cut = this.#cut(signal, listener);
    try {
      const input = { query, limit, signal: cut, ...listener.search } as RetrieverInput;
      const ranked = await raced((async () => this.#given('retrievers').get(retriever)?.(input))(), cut);
      if (!Array.isArray(ranked) || !ranked.every((one) => typeof one?.id === 'string' && Number.isFinite(one.score))) {
        throw new MemoryOSError('PROVIDER_BAD_REPLY', `it must give a list of { id, score }, gave ${show(ranked)}`);
      }
      return ranked.map(({ id, score }) => ({ id, score }));
    } catch (thrown) {
      const { code, message } = asProviderError(thrown, cut);
      throw (listener.failure = new MemoryOSError(code, `the retriever "${retriever}" failed: ${message}`, { cause: thrown }));
    }
  }

  async #embed(request: HostEmbedRequest, signal: AbortSignal): Promise<EmbeddingResult> {
    const embedder = this.#given('embedder');
    const cut = this.#cut(signal);
    const perCall = Math.max(1, embedder.maxEmbeddingsPerCall ?? request.texts.length);
    const vectors: Float32Array[] = [];
    let usage: Usage | undefined;
    try {
      for (let from = 0; from < request.texts.length; from += perCall) {
        const texts = request.texts.slice(from, from + perCall);
        const part = await raced(embedder.embed({ texts, kind: request.kind, abortSignal: cut }), cut);
        vectors.push(...checkVectors(part.vectors, texts.length, embedder.dimensions));
        usage = addUsage(usage, part.usage);
      }
    } catch (thrown) {
      throw asProviderError(thrown, cut);
    }
    return usage ? { vectors, usage } : { vectors };
  }

  async #count(text: string): Promise<number> {
    let count: number;
    try {
      count = await this.#given('countTokens')(text);
    } catch (cause) {
      throw new MemoryOSError('INVALID_ARGUMENT', `countTokens failed: ${toMemoryOSError(cause, 'INTERNAL').message}`, { cause });
    }
    if (!Number.isFinite(count) || count < 0) throw invalid(`countTokens must give a finite number that is not negative, gave ${show(count)}`);
    return count;
  }

  async #store<T>(use: (storage: StorageEngine) => Promise<T>): Promise<T> {
    const storage = this.#given('storage');
    try {
      return await use(storage);
    } catch (thrown) {
      throw toMemoryOSError(thrown, 'STORAGE_UNAVAILABLE');
    }
  }

  #given<K extends keyof PageHostOptions>(name: K): NonNullable<PageHostOptions[K]> {
    const given = this.#options[name];
    if (!given) throw new MemoryOSError('INTERNAL', `the core asked for ${name}, which was not given`);
    return given;
  }
}

function checkChat(result: ChatResult): ChatResult {
  if (typeof result?.text !== 'string') throw new MemoryOSError('PROVIDER_BAD_REPLY', `the language model answered without a text: ${typeof result?.text}`);
  return {
    text: wellFormed(result.text),
    finishReason: result.finishReason ?? 'unknown',
    ...(result.usage ? { usage: { ...result.usage } } : {}),
    ...(result.outputMode ? { outputMode: result.outputMode } : {}),
  };
}

/** Count and length are the embedder's contract; what is inside a vector is the core's to judge, text by text. */
function checkVectors(vectors: unknown, count: number, dimensions: number): Float32Array[] {
  if (!Array.isArray(vectors) || vectors.length !== count) {
    throw new MemoryOSError('PROVIDER_BAD_REPLY', `the embedder gave ${Array.isArray(vectors) ? vectors.length : 'no'} vectors for ${count} texts`);
  }
  return vectors.map((vector: ArrayLike<number>) => {
    if (vector?.length !== dimensions) {
      throw new MemoryOSError('DIMENSION_MISMATCH', `the embedder gave a vector of ${vector?.length} dimensions, its \`dimensions\` say ${dimensions}`, {
        data: { expected: dimensions, got: vector?.length },
      });
    }
    // A copy of its own buffer: structured clone of a view would copy all that lies behind it.
    return Float32Array.from(vector);
  });
}

function addUsage(sum: Usage | undefined, part: Usage | undefined): Usage | undefined {
  if (!part) return sum;
  const add = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0));
  const inputTokens = add(sum?.inputTokens, part.inputTokens);
  const outputTokens = add(sum?.outputTokens, part.outputTokens);
  return { ...(inputTokens === undefined ? {} : { inputTokens }), ...(outputTokens === undefined ? {} : { outputTokens }) };
}

function asProviderError(thrown: unknown, cut: AbortSignal): MemoryOSError {
  if (cut.aborted) return toMemoryOSError(cut.reason, 'ABORTED').code === 'CLOSED' ? (cut.reason as MemoryOSError) : aborted(cut);
  return toMemoryOSError(thrown, 'PROVIDER_FAILED');
}

/** At most `size` at once; those in front go first. */
class Slots {
  #free: number;
  readonly #front: (() => void)[] = [];
  readonly #back: (() => void)[] = [];

  constructor(size: number) {
    this.#free = Math.max(1, size);
  }

  async run<T>(inFront: boolean, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const queue = inFront ? this.#front : this.#back;
    if (this.#free > 0) this.#free--;
    else await this.#wait(queue, signal);
    try {
      signal.throwIfAborted();
      return await raced(work(), signal);
    } finally {
      const next = this.#front.shift() ?? this.#back.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #wait(queue: (() => void)[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        queue.splice(queue.indexOf(turn), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      queue.push(turn);
    });
  }
}
