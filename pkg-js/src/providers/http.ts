/** One POST to a provider: timed, retried, cancelled, and with its failures explained. */
import type { Clock } from '../clock.js';
import { pause, systemClock } from '../clock.js';
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
  model: string;
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
  fetch?: typeof fetch;
  /** For tests. */
  clock?: Clock;
  random?: () => number;
}

/** An answer of status under 400. `read` is bounded by the idle timeout; `done` must be called in the end. */
export interface Answer {
  contentType: string;
  nextChunk(): Promise<Uint8Array | undefined>;
  text(): Promise<string>;
  done(): void;
}

export async function post(endpoint: Endpoint, path: string, body: object, options: HttpOptions, signal?: AbortSignal): Promise<Answer> {
  const { model, clock = systemClock, random = Math.random, maxRetries = 3, maxRetryDelayMs = 60_000, onRetry } = options;
  const url = endpoint.url(path);
  const headers = await endpoint.headers();
  const payload = JSON.stringify(body);
  for (let attempt = 0; ; attempt++) {
    const exchange = new Exchange(endpoint, options, clock, signal);
    const response = await exchange.start(url, { method: 'POST', headers, body: payload });
    if (response.ok) return exchange.answer(response);

    const text = await exchange.answer(response).text();
    exchange.end();
    const wait = retryAfterMs(response.headers, clock.now());
    const error = refusal(endpoint, { status: response.status, body: text, model, retryAfterMs: wait });
    if (attempt >= maxRetries || !isRetried(response.status, complaintOf(text) + text, wait)) throw error;
    const delayMs = wait ?? backoffMs(attempt, random);
    if (delayMs > maxRetryDelayMs) throw error;
    onRetry?.({ attempt: attempt + 1, status: response.status, delayMs });
    await pause(clock, delayMs, signal).catch(() => {
      throw aborted(signal);
    });
  }
}

/** A single attempt: its timers, its abort, its body. */
class Exchange {
  readonly #endpoint: Endpoint;
  readonly #options: HttpOptions;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  readonly #cut = new AbortController();
  readonly #onAbort = (): void => this.#cut.abort();
  #timedOut: string | undefined;

  constructor(endpoint: Endpoint, options: HttpOptions, clock: Clock, signal: AbortSignal | undefined) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#clock = clock;
    this.#signal = signal;
    if (signal?.aborted) throw aborted(signal);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  start(url: string, init: RequestInit): Promise<Response> {
    // Looked up at each call, and called as a plain function: browsers refuse fetch with another `this`.
    const { timeoutMs = 120_000, fetch: given = fetch } = this.#options;
    // No cookies and no referrer: a key is all that a provider gets.
    const full: RequestInit = { ...init, signal: this.#cut.signal, credentials: 'omit', referrerPolicy: 'no-referrer' };
    return this.#within(timeoutMs, `did not answer within ${timeoutMs} ms`, () => given(url, full));
  }

  answer(response: Response): Answer {
    const { idleTimeoutMs = 60_000 } = this.#options;
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
    const stop = this.#clock.after(ms, () => {
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
