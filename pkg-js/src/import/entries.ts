/** What the readers of the formats make of a file. */
import type { FactInput, ImportTurn } from '../types.js';

export type Entry =
  | { place: string; turn: ImportTurn; neverRecall?: boolean }
  | { place: string; fact: FactInput; pinned?: boolean; neverRecall?: boolean }
  | { place: string; profile: { of: 'user' | 'assistant'; text: string } }
  /** What should have been readable, and was not. */
  | { place: string; unreadable: string }
  /** What is there for good reason and is no memory: a hidden message, a tool's output. */
  | { place: string; leftOut: string };

/** Reads records one by one; `end` gives what was held back to be joined with a next one. */
export interface Reader {
  take(value: unknown, place: string): Entry[];
  end(): Entry[];
}

export interface Format {
  name: string;
  /** Whether a record is of this kind. */
  matches(value: Json): boolean;
  reader(): Reader;
}

export type Json = { [key: string]: unknown };

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** For facts, whose dates must be readable. */
export function dateOf(value: unknown): { validFrom: string } | Record<string, never> {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) && Number.isFinite(Date.parse(value)) ? { validFrom: new Date(value).toISOString() } : {};
}

/** A reader that needs nothing but the one record. */
export function each(take: Reader['take']): () => Reader {
  return () => ({ take, end: () => [] });
}
