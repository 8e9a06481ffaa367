/**
 * The one error class of the package. `code` is stable and documented; messages are for people.
 */
import type { WireError } from './engine/contract.js';

/** Every code, in the order of `src/error.rs` of the crate. A test pins the list. */
export const ERROR_CODES = [
  'INVALID_ARGUMENT',
  'NOT_OPEN',
  'CLOSED',
  'LOCKED',
  'STORAGE_UNAVAILABLE',
  'STORAGE_QUOTA',
  'STORAGE_CORRUPT',
  'VERSION_TOO_NEW',
  'PROVIDER_FAILED',
  'PROVIDER_TIMEOUT',
  'PROVIDER_BAD_REPLY',
  'DIMENSION_MISMATCH',
  'WRONG_KEY',
  'NOT_FOUND',
  'FORBIDDEN',
  'ABORTED',
  'INTERNAL',
] as const;

/** One of `ERROR_CODES`. */
export type ErrorCode = (typeof ERROR_CODES)[number];

// A registered symbol, so that two copies of the package in one page know each other's errors.
const BRAND = Symbol.for('memstrata.error');

export interface ErrorDetails {
  /** What caused it: a provider's own error, a DOMException. */
  cause?: unknown;
  /** Plain, structured-cloneable facts, for example `{ status: 429, retryAfterMs: 120000 }`. */
  data?: unknown;
}

/**
 * What every call of this package rejects with, and the only error it throws. `code` is stable; `message` is for people and names cause and remedy;
 * `data` holds plain facts. Tell it by `isMemoryOSError`.
 */
export class MemoryOSError extends Error {
  readonly code: ErrorCode;
  readonly data: unknown;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'MemoryOSError';
    this.code = code;
    this.data = details.data;
    // Of all this, structured clone keeps message and stack alone. Some engines begin the stack with name and message, some do not.
    this.stack = (this.stack ?? '').replace(/^(\w+: )?/, `MemoryOSError [${code}]: `);
  }

  static {
    (this.prototype as { [BRAND]?: true })[BRAND] = true;
  }
}

/**
 * True for an error of this package, also one made by another copy of it, or posted from another page or worker as it is; such a
 * clone gets its `name` and `code` back here, its `data` is lost. Prefer this to `instanceof`.
 */
export function isMemoryOSError(value: unknown): value is MemoryOSError {
  if ((value as { [BRAND]?: unknown } | null | undefined)?.[BRAND] === true) return true;
  const code = value instanceof Error && /^MemoryOSError \[(\w+)]: /.exec(value.stack ?? '')?.[1];
  return isErrorCode(code) && Object.assign(value as Error, { name: 'MemoryOSError', code, [BRAND]: true }) === value;
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return ERROR_CODES.includes(value as ErrorCode);
}

/** Shorthand for the most frequent one. */
export function invalid(message: string): MemoryOSError {
  return new MemoryOSError('INVALID_ARGUMENT', message);
}

/** The error of a call whose signal fired. */
export function aborted(signal?: AbortSignal): MemoryOSError {
  return new MemoryOSError('ABORTED', 'the caller cancelled the operation', { cause: signal?.reason });
}

const BY_NAME = new Map<unknown, ErrorCode>([['AbortError', 'ABORTED'], ['TimeoutError', 'PROVIDER_TIMEOUT'], ['QuotaExceededError', 'STORAGE_QUOTA']]);

/**
 * Any thrown value as a MemoryOSError; one of this package passes unchanged.
 * `fallback` says what an unknown error means at this place: a provider's is PROVIDER_FAILED, a store's STORAGE_UNAVAILABLE.
 */
export function toMemoryOSError(thrown: unknown, fallback: ErrorCode): MemoryOSError {
  if (isMemoryOSError(thrown)) return thrown;
  const { name, message, code, data } = (typeof thrown === 'object' && thrown !== null ? thrown : { message: String(thrown) }) as {
    name?: unknown;
    message?: unknown;
    code?: unknown;
    data?: unknown;
  };
  const text = typeof message === 'string' && message !== '' ? message : String(name ?? thrown);
  // The core rejects with plain { code, message, data }.
  if (isErrorCode(code)) return new MemoryOSError(code, text, { data, ...(thrown instanceof Error ? { cause: thrown } : {}) });
  return new MemoryOSError(BY_NAME.get(name) ?? fallback, text, { cause: thrown });
}

/** The shape that crosses a worker boundary; structured clone would lose class, brand and fields. */
export function toWire(thrown: unknown, fallback: ErrorCode): WireError {
  const error = toMemoryOSError(thrown, fallback);
  const wire: WireError = { code: error.code, message: error.message };
  if (error.data !== undefined) wire.data = cloneable(error.data);
  if (error.cause !== undefined) wire.cause = describeCause(error.cause);
  return wire;
}

export function fromWire(wire: WireError): MemoryOSError {
  const code = isErrorCode(wire.code) ? wire.code : 'INTERNAL';
  return new MemoryOSError(code, wire.message, { data: wire.data, cause: wire.cause });
}

function describeCause(cause: unknown): { name: string; message: string } {
  if (cause instanceof Error) return { name: cause.name, message: cause.message };
  return { name: typeof cause, message: typeof cause === 'string' ? cause : (JSON.stringify(cloneable(cause)) ?? String(cause)) };
}

function cloneable(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    return String(value);
  }
}
