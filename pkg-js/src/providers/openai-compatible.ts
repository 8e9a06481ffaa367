/**
 * Chat and embeddings of any server that speaks OpenAI's HTTP dialect: OpenAI, Ollama, LM Studio, llama.cpp, vLLM,
 * OpenRouter and many more.
 */
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { invalid, isMemoryOSError, MemoryOSError } from '../errors.js';
import { show } from '../text.js';
import type { Endpoint, EndpointOptions } from './endpoint.js';
import { endpoint } from './endpoint.js';
import type { FailureCause } from './failure.js';
import { complaintOf } from './failure.js';
import type { Answer, HttpOptions, RetryNotice } from './http.js';
import { post } from './http.js';
import { chatBody, modeOf, plainer, quirksOf, remember } from './quirks.js';
import { serverEvents } from './sse.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel, EmbeddingRequest, EmbeddingResult, FinishReason, OutputMode, Usage } from './types.js';

export type { RetryNotice } from './http.js';

/** A server that speaks the HTTP dialect of OpenAI, and which model of it to ask. Only `baseURL` and `model` are required. */
export interface OpenAICompatibleOptions extends EndpointOptions {
  /** Address of the server up to its version, for example `http://localhost:11434/v1`. */
  baseURL: string;
  /** Sent as `Authorization: Bearer`; without one no such header is sent. Never logged, stored or put into an error. */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  model: string;
  /** Sent besides `authorization` and `content-type`; each must be allowed by the server's CORS rules. */
  headers?: Record<string, string> | undefined;
  /** Milliseconds until the answer begins. Default 120,000: a local model may have to be loaded first. */
  timeoutMs?: number;
  /** Milliseconds of silence in the middle of an answer. Default 60,000. */
  idleTimeoutMs?: number;
  /** Further attempts after 408, 409, 429 and 5xx. Default 3. */
  maxRetries?: number;
  /** A longer `Retry-After` is not waited for but reported in the error's `data.retryAfterMs`. Default 60,000. */
  maxRetryDelayMs?: number;
  /** Told of each wait before a further attempt. */
  onRetry?: (notice: RetryNotice) => void;
  maxConcurrency?: number;
  fetch?: typeof fetch;
  /** For tests. */
  clock?: Clock;
  random?: () => number;
}

export interface OpenAICompatibleEmbeddingOptions extends OpenAICompatibleOptions {
  /** Length of the model's vectors. */
  dimensions: number;
  /** Asks the server for vectors of `dimensions`, which only some models can shorten. Default false. */
  requestDimensions?: boolean;
  /** Default 64. */
  maxEmbeddingsPerCall?: number;
}

/** A chat model; with `dimensions` the same object embeds as well. */
export function openAICompatible(options: OpenAICompatibleEmbeddingOptions): ChatModel & EmbeddingModel;
export function openAICompatible(options: OpenAICompatibleOptions): ChatModel;
export function openAICompatible(options: OpenAICompatibleOptions & Partial<OpenAICompatibleEmbeddingOptions>): ChatModel & Partial<EmbeddingModel> {
  if (typeof options?.model !== 'string' || options.model === '') throw invalid(`model must be the name of a model, got ${show(options?.model)}`);
  const server = new Server(options);
  const chat: ChatModel = {
    specificationVersion: 'memstrata-v1',
    provider: 'openai-compatible',
    modelId: options.model,
    ...(options.maxConcurrency === undefined ? {} : { maxConcurrency: options.maxConcurrency }),
    chat: (request) => server.chat(request),
  };
  const { dimensions } = options;
  if (dimensions === undefined) return chat;
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > 4_096) throw invalid(`dimensions must be a whole number from 1 to 4096, got ${show(dimensions)}`);
  return {
    ...chat,
    dimensions,
    maxEmbeddingsPerCall: options.maxEmbeddingsPerCall ?? 64,
    embed: (request) => server.embed(request, dimensions, options.requestDimensions ?? false),
  };
}

class Server {
  readonly #model: string;
  readonly #endpoint: Endpoint;
  readonly #http: HttpOptions;

  constructor(options: OpenAICompatibleOptions) {
    this.#model = options.model;
    this.#endpoint = endpoint(options);
    this.#http = {
      // Looked up at each call, and called as a plain function: browsers refuse fetch with another `this`.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      timeoutMs: options.timeoutMs ?? 120_000,
      idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
      maxRetries: options.maxRetries ?? 3,
      maxRetryDelayMs: options.maxRetryDelayMs ?? 60_000,
      onRetry: options.onRetry,
    };
  }

  async chat(request: ChatRequest): Promise<ChatResult> {
    const { answer, mode } = await this.#askForChat(request);
    try {
      // A server may ignore `stream`; what it sends says so.
      const streamed = request.onText !== undefined && !answer.contentType.includes('application/json');
      const result = streamed ? await this.#readStream(answer, request, mode) : await this.#readWhole(answer, request, mode);
      return !request.responseSchema || mode === (request.outputMode ?? 'json_schema') ? result : { ...result, outputMode: mode };
    } finally {
      answer.done();
    }
  }

  async embed(request: EmbeddingRequest, dimensions: number, requestDimensions: boolean): Promise<EmbeddingResult> {
    const body = { model: this.#model, input: request.texts, ...(requestDimensions ? { dimensions } : {}) };
    const answer = await post(this.#endpoint, 'embeddings', body, this.#model, this.#http, request.abortSignal);
    try {
      const reply = this.#parse(await answer.text(), answer.contentType) as { data?: unknown; usage?: unknown };
      return { vectors: this.#readVectors(reply.data, request.texts.length, dimensions), ...usageOf(reply.usage) };
    } finally {
      answer.done();
    }
  }

  /** Plainer after each refusal; the first refusal is reported if none helps. */
  async #askForChat(request: ChatRequest): Promise<{ answer: Answer; mode: OutputMode }> {
    const streaming = request.onText !== undefined;
    let quirks = quirksOf(this.#endpoint.shown, this.#model);
    let first: MemoryOSError | undefined;
    for (;;) {
      try {
        const answer = await post(this.#endpoint, 'chat/completions', chatBody(this.#model, request, streaming, quirks), this.#model, this.#http, request.abortSignal);
        if (first) remember(this.#endpoint.shown, this.#model, quirks);
        return { answer, mode: modeOf(quirks, request) };
      } catch (error) {
        const next = isRefusedRequest(error) ? plainer(quirks, request, streaming, error.message) : undefined;
        if (!next) throw first ?? error;
        first ??= error as MemoryOSError;
        quirks = next;
      }
    }
  }

  async #readWhole(answer: Answer, request: ChatRequest, mode: OutputMode): Promise<ChatResult> {
    const reply = this.#parse(await answer.text(), answer.contentType) as Completion;
    const choice = reply.choices?.[0];
    if (!choice) throw this.#badReply('its answer holds no choice');
    const called = argumentsOf(choice.message, mode);
    const text = called || textOf(choice.message?.content);
    if (text !== '') request.onText?.(text);
    return { text, finishReason: finishReasonOf(choice.finish_reason, called), ...usageOf(reply.usage) };
  }

  async #readStream(answer: Answer, request: ChatRequest, mode: OutputMode): Promise<ChatResult> {
    let text = '';
    let called = '';
    let reason: unknown;
    let usage: { usage?: Usage } = {};
    let chunks = 0;
    for await (const { event, data } of serverEvents(answer.nextChunk)) {
      if (data.trim() === '') continue;
      if (data.trim() === '[DONE]') break;
      if (event === 'error') throw this.#midStream(data);
      const chunk = this.#parse(data, 'application/json') as Completion;
      chunks++;
      const choice = chunk.choices?.[0];
      const said = textOf(choice?.delta?.content);
      const argument = argumentsOf(choice?.delta, mode);
      text += said;
      called += argument;
      // Where a tool is to be called, words are the answer only if it never is: they wait for the end.
      const piece = mode === 'tool_call' ? argument : said;
      if (piece !== '') request.onText?.(piece);
      if (typeof choice?.finish_reason === 'string') reason = choice.finish_reason;
      if (chunk.usage) usage = usageOf(chunk.usage);
    }
    if (chunks === 0) throw this.#badReply(`its stream held no answer (${answer.contentType || 'no content type'})`);
    if (mode === 'tool_call' && called === '' && text !== '') request.onText?.(text);
    return { text: called || text, finishReason: finishReasonOf(reason, called), ...usage };
  }

  /** Parsed JSON, unless it is an error in the clothes of HTTP 200. */
  #parse(text: string, contentType: string): object {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch (error) {
      const html = contentType.includes('html') || /^\s*</.test(text);
      throw html
        ? this.#badReply('it answered with a web page: check baseURL, which usually ends in /v1', error, 'not-found')
        : this.#badReply('its answer is not JSON', error);
    }
    if (typeof parsed !== 'object' || parsed === null) throw this.#badReply('its answer is not an object');
    if ('error' in parsed && parsed.error) throw this.#midStream(text);
    return parsed;
  }

  #readVectors(data: unknown, count: number, dimensions: number): Float32Array[] {
    if (!Array.isArray(data) || data.length !== count) throw this.#badReply(`it gave ${Array.isArray(data) ? data.length : 'no'} vectors for ${count} texts`);
    const vectors = new Array<Float32Array | undefined>(count);
    (data as { index?: unknown; embedding?: unknown }[]).forEach((item, at) => {
      // Order is not promised, `index` is.
      const index = typeof item?.index === 'number' ? item.index : at;
      if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index]) throw this.#badReply(`its vectors are numbered wrongly: index ${show(item?.index)} of ${count}`);
      if (!Array.isArray(item?.embedding)) throw this.#badReply(`vector ${index} is not a list of numbers`);
      if (item.embedding.length !== dimensions) {
        throw new MemoryOSError('DIMENSION_MISMATCH', `${this.#endpoint.shown} gave a vector of ${item.embedding.length} dimensions for "${this.#model}", \`dimensions\` says ${dimensions}`, {
          data: { expected: dimensions, got: item.embedding.length },
        });
      }
      // Servers write NaN as null, which would quietly become zero.
      const finite = (item.embedding as unknown[]).every((value) => typeof value === 'number' && Number.isFinite(Math.fround(value)));
      const vector = Float32Array.from(item.embedding as number[]);
      if (!finite) throw this.#badReply(`vector ${index} holds something that is not a finite number`);
      vectors[index] = vector;
    });
    return vectors as Float32Array[];
  }

  #midStream(data: string): MemoryOSError {
    const complaint = this.#endpoint.scrub(complaintOf(data));
    return new MemoryOSError('PROVIDER_FAILED', `${this.#endpoint.shown} reported an error in its answer: ${complaint}`, {
      data: { status: 200, cause: 'server' satisfies FailureCause },
      cause: { status: 200, body: this.#endpoint.scrub(data.slice(0, 2_000)) },
    });
  }

  #badReply(what: string, thrown?: unknown, cause: FailureCause = 'unknown'): MemoryOSError {
    return new MemoryOSError('PROVIDER_BAD_REPLY', `${this.#endpoint.shown}: ${what}`, {
      data: { cause },
      ...(thrown === undefined ? {} : { cause: new Error(this.#endpoint.scrub(String(thrown))) }),
    });
  }
}

/** The fields that are read; everything is optional, since every server leaves out another. */
interface Completion {
  choices?: {
    message?: Said;
    delta?: Said;
    finish_reason?: unknown;
  }[];
  usage?: unknown;
}

interface Said {
  content?: unknown;
  tool_calls?: unknown;
}

function isRefusedRequest(error: unknown): error is MemoryOSError {
  if (!isMemoryOSError(error)) return false;
  const { status } = (error.data ?? {}) as { status?: number };
  // OpenRouter says of a model without tools that it finds no endpoint.
  return status === 400 || status === 422 || (status === 404 && /support.*tool/i.test(error.message));
}

/** A string, or the parts that a few servers send. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

/** Arguments of the first tool call, or a piece of them; most servers send them as text, a few as an object. */
function argumentsOf(said: Said | undefined, mode: OutputMode): string {
  if (mode !== 'tool_call' || !Array.isArray(said?.tool_calls)) return '';
  const calls = said.tool_calls as ({ index?: unknown; function?: { arguments?: unknown } } | null)[];
  const given = calls.find((call, at) => (call?.index ?? at) === 0)?.function?.arguments ?? '';
  return typeof given === 'string' ? given : JSON.stringify(given);
}

const FINISH_REASONS: Record<string, FinishReason> = {
  stop: 'stop', eos: 'stop', end_turn: 'stop', stop_sequence: 'stop',
  length: 'length', max_tokens: 'length', model_length: 'length',
  tool_calls: 'tool-calls', function_call: 'tool-calls', tool_use: 'tool-calls',
  content_filter: 'content-filter', safety: 'content-filter', refusal: 'content-filter',
  error: 'error',
};

/** A call with arguments was what was asked for, so it ends well. */
function finishReasonOf(reason: unknown, called: string): FinishReason {
  const found = (typeof reason === 'string' && Object.hasOwn(FINISH_REASONS, reason.toLowerCase()) && FINISH_REASONS[reason.toLowerCase()]) || 'unknown';
  return found === 'tool-calls' && called !== '' ? 'stop' : found;
}

function usageOf(usage: unknown): { usage?: Usage } {
  if (typeof usage !== 'object' || usage === null) return {};
  const { prompt_tokens: input, completion_tokens: output } = usage as { prompt_tokens?: unknown; completion_tokens?: unknown };
  return {
    usage: {
      ...(typeof input === 'number' ? { inputTokens: input } : {}),
      ...(typeof output === 'number' ? { outputTokens: output } : {}),
    },
  };
}
