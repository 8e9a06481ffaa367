/** Tries a model out, for a settings page. */
import type { MemoryOSError } from '../errors.js';
import { toMemoryOSError } from '../errors.js';
import type { FailureCause } from './failure.js';
import type { ChatModel, EmbeddingModel, OutputMode } from './types.js';

/** What keeps a model from being reached. */
export type ConnectionCause = FailureCause;

/** How a model answered a first, smallest question; or why it did not. */
export type ConnectionResult =
  /** `outputMode`: how the model takes a request for JSON; absent for an embedding model, and where it did not come out. */
  | { ok: true; ms: number; outputMode?: OutputMode }
  /** `message` names cause and remedy. */
  | { ok: false; cause: ConnectionCause; message: string };

/** How a trial is stopped. */
export interface ConnectionOptions {
  signal?: AbortSignal;
}

const SCHEMA = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'], additionalProperties: false };

/**
 * Asks a chat model for one token, or an embedding model for one vector: a model that can do both was made for vectors. Says
 * what is wrong instead of throwing it; rejects with ABORTED alone.
 */
export async function testConnection(model: ChatModel | EmbeddingModel, { signal }: ConnectionOptions = {}): Promise<ConnectionResult> {
  const start = performance.now();
  const abort = signal ? { abortSignal: signal } : {};
  try {
    if ('embed' in model) {
      await model.embed({ texts: ['test'], kind: 'query', ...abort });
      return { ok: true, ms: performance.now() - start };
    }
    const { outputMode = 'json_schema' } = await model.chat({
      messages: [{ role: 'user', content: 'Answer with the json object {"ok": true}' }],
      maxOutputTokens: 1,
      responseSchema: { name: 'test', schema: SCHEMA },
      ...abort,
    });
    return { ok: true, ms: performance.now() - start, outputMode };
  } catch (thrown) {
    const error = toMemoryOSError(thrown, 'PROVIDER_FAILED');
    if (error.code === 'ABORTED') throw error;
    // Some servers call it an error when a reasoning model spends its one token on thought; it did answer.
    if (/output limit was reached/i.test(error.message)) return { ok: true, ms: performance.now() - start };
    return { ok: false, cause: causeOf(error), message: error.message };
  }
}

function causeOf(error: MemoryOSError): ConnectionCause {
  const { cause } = (error.data ?? {}) as { cause?: ConnectionCause };
  return cause ?? (error.code === 'PROVIDER_TIMEOUT' ? 'timeout' : 'unknown');
}
