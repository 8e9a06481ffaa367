/** A server of models over HTTP, whatever its dialect: asks, asks again more plainly where it refuses, and reads what it says. */
import { invalid, isMemoryOSError, MemoryOSError } from '../errors.js';
import { show } from '../text.js';
import type { Endpoint, EndpointOptions } from './endpoint.js';
import { endpoint } from './endpoint.js';
import type { FailureCause } from './failure.js';
import { badReply, complaintOf } from './failure.js';
import type { Answer, HttpOptions } from './http.js';
import { post } from './http.js';
import type { Quirks } from './quirks.js';
import { modeOf, plainer, quirksOf, remember } from './quirks.js';
import type { ChatRequest, ChatResult, OutputMode } from './types.js';

export interface ServerOptions extends EndpointOptions, HttpOptions {
  maxConcurrency?: number;
}

/** How one maker's servers are spoken to. */
export interface Dialect {
  path(streaming: boolean): string;
  body(request: ChatRequest, streaming: boolean, quirks: Quirks): object;
  /** Reads the chunks of a stream, or a whole answer as the only one. undefined where they hold no answer. */
  read(chunks: AsyncIterable<object>, mode: OutputMode, onText: ChatRequest['onText']): Promise<ChatResult | undefined>;
  /** What a server takes before it has said otherwise. */
  quirks?: Quirks;
}

export class Server {
  readonly endpoint: Endpoint;
  readonly #options: ServerOptions;

  constructor(options: ServerOptions) {
    if (typeof options?.model !== 'string' || options.model === '') throw invalid(`model must be the name of a model, got ${show(options?.model)}`);
    this.#options = options;
    this.endpoint = endpoint(options);
  }

  async chat(request: ChatRequest, dialect: Dialect): Promise<ChatResult> {
    const { responseSchema, outputMode = 'json_schema', onText, abortSignal } = request;
    const streaming = onText !== undefined;
    const { shown } = this.endpoint;
    const { model } = this.#options;
    let quirks = quirksOf(shown, model, dialect.quirks);
    let first: MemoryOSError | undefined;
    let answer: Answer | undefined;
    // Plainer after each refusal; the first refusal is reported if none helps.
    while (!answer) {
      try {
        answer = await this.#post(dialect.path(streaming), dialect.body(request, streaming, quirks), abortSignal);
      } catch (error) {
        const next = isRefusedRequest(error) ? plainer(quirks, request, streaming, error.message) : undefined;
        if (!next) throw first ?? error;
        first ??= error as MemoryOSError;
        quirks = next;
      }
    }
    if (first) remember(shown, model, quirks);
    const mode = modeOf(quirks, request);
    try {
      const result = await dialect.read(this.#chunks(answer, streaming), mode, onText);
      if (!result) throw badReply(this.endpoint, 'its answer holds no choice');
      return !responseSchema || mode === outputMode ? result : { ...result, outputMode: mode };
    } finally {
      answer.done();
    }
  }

  /** One question and its whole answer, parsed. */
  async ask(path: string, body: object, signal: AbortSignal | undefined): Promise<object> {
    const answer = await this.#post(path, body, signal);
    try {
      return this.#parse(await answer.text(), answer.contentType);
    } finally {
      answer.done();
    }
  }

  #post(path: string, body: object, signal: AbortSignal | undefined): Promise<Answer> {
    return post(this.endpoint, path, body, this.#options, signal);
  }

  async *#chunks(answer: Answer, streaming: boolean): AsyncGenerator<object> {
    // A server may ignore that it is to stream; what it sends says so.
    if (!streaming || answer.contentType.includes('application/json')) return yield this.#parse(await answer.text(), answer.contentType);
    // Loaded only here: background work asks for whole answers.
    const { serverEvents } = await import('./sse.js');
    for await (const { event, data } of serverEvents(answer.nextChunk)) {
      if (data.trim() === '') continue;
      if (data.trim() === '[DONE]') return;
      if (event === 'error') throw this.#midStream(data);
      yield this.#parse(data, 'application/json');
    }
  }

  /** Parsed JSON, unless it is an error in the clothes of HTTP 200. */
  #parse(text: string, contentType: string): object {
    let parsed: unknown;
    let thrown: unknown;
    try {
      parsed = JSON.parse(text);
    } catch (error) {
      thrown = error;
    }
    if (typeof parsed !== 'object' || parsed === null) {
      const html = contentType.includes('html') || /^\s*</.test(text);
      throw html
        ? badReply(this.endpoint, 'it answered with a web page: check baseURL, which usually ends in /v1', thrown, 'not-found')
        : badReply(this.endpoint, 'its answer is not a JSON object', thrown);
    }
    if ('error' in parsed && parsed.error) throw this.#midStream(text);
    return parsed;
  }

  #midStream(data: string): MemoryOSError {
    const { shown, scrub } = this.endpoint;
    return new MemoryOSError('PROVIDER_FAILED', `${shown} reported an error in its answer: ${scrub(complaintOf(data))}`, {
      data: { status: 200, cause: 'server' satisfies FailureCause },
      cause: { status: 200, body: scrub(data.slice(0, 2_000)) },
    });
  }
}

export function checkDimensions(dimensions: number): void {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > 4_096) throw invalid(`dimensions must be a whole number from 1 to 4096, got ${show(dimensions)}`);
}

function isRefusedRequest(error: unknown): error is MemoryOSError {
  if (!isMemoryOSError(error)) return false;
  const { status } = (error.data ?? {}) as { status?: number };
  // OpenRouter says of a model without tools that it finds no endpoint.
  return status === 400 || status === 422 || (status === 404 && /support.*tool/i.test(error.message));
}
