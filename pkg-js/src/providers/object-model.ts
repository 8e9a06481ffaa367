/** What providers over an object in the page have in common: failures, signals, turns, and ways of asking for JSON. */
import { aborted, invalid, isMemoryOSError, MemoryOSError } from '../errors.js';
import { raced } from '../race.js';
import { show } from '../text.js';
import type { FailureCause } from './failure.js';
import type { ChatRequest, ChatResult, OutputMode } from './types.js';

/** Whatever was thrown, as an error that says whose it is and holds no key. */
export function providerFailure(who: string, thrown: unknown, signal?: AbortSignal): MemoryOSError {
  if (signal?.aborted) return aborted(signal);
  if (isMemoryOSError(thrown)) return thrown;
  const { name, message, statusCode } = (typeof thrown === 'object' && thrown !== null ? thrown : { message: thrown }) as { name?: unknown; message?: unknown; statusCode?: unknown };
  const words = withoutKeys(String(message || name || thrown));
  const cause = new Error(words);
  if (typeof name === 'string') cause.name = name;
  const status = typeof statusCode === 'number' ? { status: statusCode } : {};
  const timedOut = name === 'TimeoutError';
  return new MemoryOSError(timedOut ? 'PROVIDER_TIMEOUT' : 'PROVIDER_FAILED', `${who} failed: ${words}`, { cause, data: { ...status, cause: timedOut ? 'timeout' : causeOf(statusCode) } });
}

function causeOf(status: unknown): FailureCause {
  if (typeof status !== 'number') return 'unknown';
  if (status === 401 || status === 403) return 'key';
  if (status === 404) return 'not-found';
  if (status === 402 || status === 429) return 'quota';
  return status >= 500 ? 'server' : 'unknown';
}

/** Forms in which keys stand in the errors of others, who have them and may quote them. */
const KEYS = [/\b(?:sk|pk|rk|gsk|hf|xai|r8)[-_][\w-]{8,}/g, /\bAIza[\w-]{16,}/g, /(?<=\bBearer\s+)[^\s"',}]+/gi, /(?<=[?&](?:key|api[-_]?key|token|access_token)=)[^&\s"']+/gi];

export function withoutKeys(text: string): string {
  return KEYS.reduce((clean, form) => clean.replace(form, '[key]'), text);
}

/** One call after the other: the next begins when the one before has really ended, also if its caller has long gone. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (signal?.aborted) throw aborted(signal);
      return work();
    });
    this.#last = turn.catch(() => undefined);
    return raced(turn, signal, aborted);
  }
}

const MODES: readonly OutputMode[] = ['json_schema', 'json_object', 'tool_call', 'plain'];

/** A model said that it does not know this way of asking. */
export class ModeRefused extends Error {}

/**
 * Asks for JSON in the strongest way that the model has and the request wants, and in the next weaker one where it refuses. What it
 * refused is kept in `refused`. An answer of which a part is out is not asked for again.
 */
export async function inModes(request: ChatRequest, has: readonly OutputMode[], refused: Set<OutputMode>, ask: (mode: OutputMode, request: ChatRequest) => Promise<ChatResult>): Promise<ChatResult> {
  if (!request.responseSchema) return ask('plain', request);
  const { outputMode: wanted = 'json_schema', onText } = request;
  let heard = false;
  const watched: ChatRequest = onText ? { ...request, onText: (piece) => ((heard = true), onText(piece)) } : request;
  const modes = MODES.slice(MODES.indexOf(wanted)).filter((mode) => mode === 'plain' || (has.includes(mode) && !refused.has(mode)));
  const now: OutputMode[] = [];
  for (const mode of modes) {
    try {
      const result = await ask(mode, watched);
      for (const one of now) refused.add(one);
      return mode === wanted ? result : { ...result, outputMode: mode };
    } catch (thrown) {
      if (heard || mode === 'plain' || request.abortSignal?.aborted || !isRefusal(thrown)) throw thrown;
      now.push(mode);
    }
  }
  throw new MemoryOSError('INTERNAL', 'no way of asking was left');
}

/** What an HTTP status tells: only these say that the request itself will not do; anything else passes. */
const REFUSALS = [400, 404, 422];

function isRefusal(thrown: unknown): boolean {
  const { statusCode } = (thrown ?? {}) as { statusCode?: unknown };
  if (typeof statusCode === 'number' && !REFUSALS.includes(statusCode)) return false;
  return thrown instanceof ModeRefused || /json|schema|grammar|response.?(format|constraint)|structured|\btools?\b/i.test(String((thrown as Error | null)?.message));
}

/** The chunks until the signal fires; then `stop` is told, and what still comes is passed over in silence. */
export async function* untilAborted<T>(chunks: AsyncIterable<T>, signal: AbortSignal | undefined, stop: () => unknown): AsyncGenerator<T> {
  const onAbort = (): void => void Promise.resolve(stop()).catch(() => undefined);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const chunk of chunks) if (!signal?.aborted) yield chunk;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The object that a provider is over, and the name of its model: what a caller in JavaScript may have left out. */
export function checkGiven(object: unknown, name: string, method: string, model: unknown): void {
  if (typeof (object as Record<string, unknown> | null | undefined)?.[method] !== 'function') throw invalid(`\`${name}\` must be an object with the method ${method}, got ${show(object)}`);
  if (typeof model !== 'string' || model === '') throw invalid(`model must be the name of a model, got ${show(model)}`);
}
