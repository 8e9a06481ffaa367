/** Metadata as it may be stored: JSON-like, without the keys that reach into an object's prototype. */
import { invalid } from '../errors.js';
import { show, wellFormed } from '../text.js';
import type { Metadata, MetadataValue } from '../types.js';

const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_DEPTH = 32;

/** A clean deep copy. Prototype keys and `undefined` are dropped; what JSON cannot hold is refused by its path. */
export function readMetadata(value: unknown, name: string): Metadata {
  if (value === undefined || value === null) return {};
  if (!isPlainObject(value)) throw invalid(`${name} must be a plain object, got ${show(value)}`);
  return readObject(value, name, 0);
}

function readObject(value: object, path: string, depth: number): Metadata {
  if (depth >= MAX_DEPTH) throw invalid(`${path} is nested deeper than ${MAX_DEPTH} levels`);
  const clean: Metadata = {};
  for (const [key, item] of Object.entries(value)) {
    if (PROTOTYPE_KEYS.has(key) || item === undefined) continue;
    clean[wellFormed(key)] = readValue(item, `${path}.${key}`, depth + 1);
  }
  return clean;
}

function readValue(value: unknown, path: string, depth: number): MetadataValue {
  if (typeof value === 'string') return wellFormed(value);
  // JSON has no NaN and no infinity either.
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) {
    if (depth >= MAX_DEPTH) throw invalid(`${path} is nested deeper than ${MAX_DEPTH} levels`);
    return value.map((item: unknown, at) => (item === undefined ? null : readValue(item, `${path}[${at}]`, depth + 1)));
  }
  if (isPlainObject(value)) return readObject(value, path, depth);
  throw invalid(`${path} must be a JSON value, got ${show(value)}`);
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  // Objects from another realm (a frame, a worker's message) have another Object.prototype: look one step up instead.
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
