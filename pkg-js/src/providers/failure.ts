/** Errors of an HTTP provider that say what is wrong and what to do about it. */
import { MemoryOSError } from '../errors.js';
import type { Endpoint } from './endpoint.js';
import { isLocal } from './endpoint.js';

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
  const remedy = remedyFor(endpoint, status, complaint, model, retryAfterMs);
  const words = [`${endpoint.shown} answered HTTP ${status}`, complaint, remedy].filter((part) => part !== '');
  return new MemoryOSError(status === 408 || status === 504 ? 'PROVIDER_TIMEOUT' : 'PROVIDER_FAILED', words.join(': '), {
    data: { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    cause: { status, body: endpoint.scrub(body.slice(0, MAX_BODY_CHARS)) },
  });
}

function remedyFor(endpoint: Endpoint, status: number, complaint: string, model: string, retryAfterMs: number | undefined): string {
  if (status === 401) return 'check the API key';
  if (status === 403 && looksLikeOllama(endpoint)) return `Ollama refuses this page's origin: start it with OLLAMA_ORIGINS=${pageOrigin() ?? '*'} and try again`;
  if (status === 403) return 'the key may not use this model, or the server refuses this origin';
  if (status === 404) return `check that baseURL is right (it usually ends in /v1) and that the server has the model "${model}"`;
  if (status === 429 && /quota|billing|credit/i.test(complaint)) return 'the account has no credit left';
  if (status === 429) return retryAfterMs === undefined ? 'too many requests: wait and try again' : `too many requests: it asks to wait ${Math.ceil(retryAfterMs / 1_000)} s`;
  if (status >= 500) return 'the server has a fault or is overloaded: try again later';
  return '';
}

/** fetch itself failed: it says no more than "Failed to fetch", so the likely causes are worked out here. */
export function unreachable(endpoint: Endpoint, thrown: unknown): MemoryOSError {
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
  const clean = new Error(endpoint.scrub(cause.message));
  clean.name = cause.name;
  return new MemoryOSError('PROVIDER_FAILED', `${endpoint.shown} cannot be reached: ${likelyCause(endpoint, cause)}`, { cause: clean, data: { status: 0 } });
}

function likelyCause(endpoint: Endpoint, thrown: Error): string {
  const origin = pageOrigin();
  const code = (thrown.cause as { code?: string } | undefined)?.code;
  if (code === 'ECONNREFUSED') return 'nothing listens there: start the server, or check the port';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name is not known: check the address and the connection';
  if (code !== undefined) return `the connection failed (${code})`;
  if ((globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false) return 'this device is offline';
  if (isLocal(endpoint.host)) {
    return `is the server running? If it is, it does not allow this page's origin${origin ? ` ${origin}` : ''}: `
      + `Ollama needs OLLAMA_ORIGINS=${origin ?? '*'}, LM Studio its CORS switch, llama.cpp its --cors option; the browser may also ask you for access to the local network`;
  }
  if (origin?.startsWith('https:') && endpoint.shown.startsWith('http:')) return 'this page is https and the server plain http, which browsers block: use an https address';
  if (origin !== undefined) return `it is down, or it does not allow requests from ${origin} (CORS): it must send Access-Control-Allow-Origin, or be called through a server of your own`;
  return `the connection failed (${endpoint.scrub(thrown.message)})`;
}

function pageOrigin(): string | undefined {
  const origin = (globalThis as { location?: { origin?: string } }).location?.origin;
  return origin === 'null' ? undefined : origin;
}

function looksLikeOllama(endpoint: Endpoint): boolean {
  return isLocal(endpoint.host) || /:11434(\/|$)/.test(endpoint.shown);
}
