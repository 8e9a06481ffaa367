/** One POST to a provider: timed, retried, cancelled, and with its failures explained. */
import type { Clock } from '../clock.js';
import { pause } from '../clock.js';
import { aborted, MemoryOSError } from '../errors.js';
import type { Endpoint } from './endpoint.js';
import type { FailureCause } from './failure.js';
import { complaintOf, refusal, unreachable } from './failure.js';
import { backoffMs, isRetried, retryAfterMs } from './retry.js';

/** A wait before another attempt, for showing. */
export interface RetryNotice {
  attempt: number;
  status: number;
  delayMs: number;
}

export interface HttpOptions {
  fetch: typeof fetch;
  clock: Clock;
  random: () => number;
  /** Until the answer begins. */
  timeoutMs: number;
  /** Between two pieces of it. */
  idleTimeoutMs: number;
  maxRetries: number;
  /** A server that asks to wait longer is not waited for. */
  maxRetryDelayMs: number;
  onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** An answer of status under 400. `read` is bounded by the idle timeout; `done` must be called in the end. */
export interface Answer {
  contentType: string;
  nextChunk(): Promise<Uint8Array | undefined>;
  text(): Promise<string>;
  done(): void;
}

export async function post(endpoint: Endpoint, path: string, body: object, model: string, options: HttpOptions, signal?: AbortSignal): Promise<Answer> {
  const url = endpoint.url(path);
  const headers = await endpoint.headers();
  const payload = JSON.stringify(body);
  for (let attempt = 0; ; attempt++) {
    const exchange = new Exchange(endpoint, options, signal);
    const response = await exchange.start(url, { method: 'POST', headers, body: payload });
    if (response.ok) return exchange.answer(response);

    const text = await exchange.answer(response).text();
    exchange.end();
    const wait = retryAfterMs(response.headers, options.clock.now());
    const error = refusal(endpoint, { status: response.status, body: text, model, retryAfterMs: wait });
    if (attempt >= options.maxRetries || !isRetried(response.status, complaintOf(text) + text)) throw error;
    const delayMs = wait ?? backoffMs(attempt, options.random);
    if (delayMs > options.maxRetryDelayMs) throw error;
    options.onRetry?.({ attempt: attempt + 1, status: response.status, delayMs });
    await pause(options.clock, delayMs, signal).catch(() => {
      throw aborted(signal);
    });
  }
}

/** A single attempt: its timers, its abort, its body. */
class Exchange {
  readonly #endpoint: Endpoint;
  readonly #options: HttpOptions;
  readonly #signal: AbortSignal | undefined;
  readonly #cut = new AbortController();
  readonly #onAbort = (): void => this.#cut.abort();
  #timedOut: string | undefined;

  constructor(endpoint: Endpoint, options: HttpOptions, signal: AbortSignal | undefined) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#signal = signal;
    if (signal?.aborted) throw aborted(signal);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  start(url: string, init: RequestInit): Promise<Response> {
    const { timeoutMs } = this.#options;
    // No cookies and no referrer: a key is all that a provider gets.
    const full: RequestInit = { ...init, signal: this.#cut.signal, credentials: 'omit', referrerPolicy: 'no-referrer' };
    return this.#within(timeoutMs, `did not answer within ${timeoutMs} ms`, () => this.#options.fetch(url, full));
  }

  answer(response: Response): Answer {
    const { idleTimeoutMs } = this.#options;
    const reader = response.body?.getReader();
    const nextChunk = async (): Promise<Uint8Array | undefined> => {
      if (!reader) return undefined;
      const { value } = await this.#within(idleTimeoutMs, `fell silent for ${idleTimeoutMs} ms in the middle of its answer`, () => reader.read());
      return value;
    };
    return {
      contentType: response.headers.get('content-type') ?? '',
      nextChunk,
      async text() {
        const decoder = new TextDecoder();
        let text = '';
        for (let chunk = await nextChunk(); chunk; chunk = await nextChunk()) text += decoder.decode(chunk, { stream: true });
        return text + decoder.decode();
      },
      done: () => {
        this.end();
        reader?.cancel().catch(() => undefined);
      },
    };
  }

  end(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  async #within<T>(ms: number, what: string, run: () => Promise<T>): Promise<T> {
    const stop = this.#options.clock.after(ms, () => {
      this.#timedOut = what;
      this.#cut.abort();
    });
    try {
      return await run();
    } catch (error) {
      this.end();
      if (this.#signal?.aborted) throw aborted(this.#signal);
      if (this.#timedOut) throw new MemoryOSError('PROVIDER_TIMEOUT', `${this.#endpoint.shown} ${this.#timedOut}`, { data: { timeoutMs: ms, cause: 'timeout' satisfies FailureCause } });
      throw unreachable(this.#endpoint, error);
    } finally {
      stop();
    }
  }
}
