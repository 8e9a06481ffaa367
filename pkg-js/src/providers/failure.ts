/** Errors of an HTTP provider that say what is wrong and what to do about it. */
import { MemoryOSError } from '../errors.js';
import type { Endpoint } from './endpoint.js';
import { isLocal } from './endpoint.js';

/** What is wrong with a connection, in a word; errors of an HTTP provider have it in `data.cause`. */
export type FailureCause = 'key' | 'not-found' | 'cors' | 'local' | 'offline' | 'timeout' | 'quota' | 'server' | 'mixed-content' | 'unknown';

/** The cause, and what to do about it. */
type Diagnosis = [cause: FailureCause, remedy: string];

/** Longest part of a server's answer that is kept. */
const MAX_BODY_CHARS = 2_000;

/** A server's own words, out of the shapes they come in. */
export function complaintOf(body: string): string {
  try {
    const parsed = JSON.parse(body) as { error?: unknown; message?: unknown; detail?: unknown } | null;
    const error = parsed?.error ?? parsed?.message ?? parsed?.detail ?? parsed;
    const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
    return (typeof message === 'string' ? message : JSON.stringify(message)).slice(0, MAX_BODY_CHARS);
  } catch {
    return /^\s*</.test(body) ? '' : body.trim().slice(0, MAX_BODY_CHARS);
  }
}

export interface RefusalFacts {
  status: number;
  body: string;
  model: string;
  /** What `Retry-After` asked for. */
  retryAfterMs?: number | undefined;
}

/** An answer of status 400 and over. */
export function refusal(endpoint: Endpoint, { status, body, model, retryAfterMs }: RefusalFacts): MemoryOSError {
  const complaint = endpoint.scrub(complaintOf(body));
  const [cause, remedy] = diagnose(endpoint, status, complaint, model, retryAfterMs);
  const words = [`${endpoint.shown} answered HTTP ${status}`, complaint, remedy].filter((part) => part !== '');
  return new MemoryOSError(cause === 'timeout' ? 'PROVIDER_TIMEOUT' : 'PROVIDER_FAILED', words.join(': '), {
    data: { status, cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    cause: { status, body: endpoint.scrub(body.slice(0, MAX_BODY_CHARS)) },
  });
}

function diagnose(endpoint: Endpoint, status: number, complaint: string, model: string, retryAfterMs: number | undefined): Diagnosis {
  if (status === 401 || (status === 400 && /api.?key/i.test(complaint))) return ['key', 'check the API key'];
  if (status === 403 && looksLikeOllama(endpoint)) return ['cors', `Ollama refuses this page's origin: start it with OLLAMA_ORIGINS=${pageOrigin() ?? '*'} and try again`];
  if (status === 403) return ['key', 'the key may not use this model, or the server refuses this origin'];
  if (status === 404) return ['not-found', `check that baseURL is right (it usually ends in /v1) and that the server has the model "${model}"`];
  if (status === 402 || ((status === 400 || (status === 429 && retryAfterMs === undefined)) && /quota|billing|credit/i.test(complaint))) return ['quota', 'the account has no credit left'];
  if (status === 429) return ['quota', retryAfterMs === undefined ? 'too many requests: wait and try again' : `too many requests: it asks to wait ${Math.ceil(retryAfterMs / 1_000)} s`];
  if (status >= 500) return [status === 504 ? 'timeout' : 'server', 'the server has a fault or is overloaded: try again later'];
  return [status === 408 ? 'timeout' : 'unknown', ''];
}

/** fetch itself failed: it says no more than "Failed to fetch", so the likely causes are worked out here. */
export function unreachable(endpoint: Endpoint, thrown: unknown): MemoryOSError {
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
  const clean = new Error(endpoint.scrub(cause.message));
  clean.name = cause.name;
  const [why, remedy] = likelyCause(endpoint, cause);
  return new MemoryOSError('PROVIDER_FAILED', `${endpoint.shown} cannot be reached: ${remedy}`, { cause: clean, data: { status: 0, cause: why } });
}

function likelyCause(endpoint: Endpoint, thrown: Error): Diagnosis {
  const origin = pageOrigin();
  const local = isLocal(endpoint.host);
  const code = (thrown.cause as { code?: string } | undefined)?.code;
  if (code === 'ECONNREFUSED') return [local ? 'local' : 'server', 'nothing listens there: start the server, or check the port'];
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['offline', 'its host name is not known: check the address and the connection'];
  if (code !== undefined) return ['unknown', `the connection failed (${code})`];
  if (local) {
    return ['local', `is the server running? If it is, it does not allow this page's origin${origin ? ` ${origin}` : ''}: `
      + `Ollama needs OLLAMA_ORIGINS=${origin ?? '*'}, LM Studio its CORS switch, llama.cpp its --cors option; the browser may also ask you for access to the local network`];
  }
  if ((globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false) return ['offline', 'this device is offline'];
  if (origin?.startsWith('https:') && endpoint.shown.startsWith('http:')) return ['mixed-content', 'this page is https and the server plain http, which browsers block: use an https address'];
  if (origin !== undefined) return ['cors', `it is down, or it does not allow requests from ${origin} (CORS): it must send Access-Control-Allow-Origin, or be called through a server of your own`];
  return ['unknown', `the connection failed (${endpoint.scrub(thrown.message)})`];
}

/** Who answered, as messages show it. */
export type Shown = Pick<Endpoint, 'shown'> & Partial<Pick<Endpoint, 'scrub'>>;

/** An answer that cannot be used. */
export function badReply({ shown, scrub = String }: Shown, what: string, thrown?: unknown, cause: FailureCause = 'unknown'): MemoryOSError {
  return new MemoryOSError('PROVIDER_BAD_REPLY', `${shown}: ${what}`, { data: { cause }, cause: thrown && new Error(scrub(String(thrown))) });
}

function pageOrigin(): string | undefined {
  const origin = (globalThis as { location?: { origin?: string } }).location?.origin;
  return origin === 'null' ? undefined : origin;
}

function looksLikeOllama(endpoint: Endpoint): boolean {
  return isLocal(endpoint.host) || /:11434(\/|$)/.test(endpoint.shown);
}
