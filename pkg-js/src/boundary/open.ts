/** Options of `MemoryOS.open`, checked. */
import { invalid } from '../errors.js';
import { show, wellFormed } from '../text.js';
import type { Config, OpenOptions } from '../types.js';

/** Longest name or id, in UTF-16 units: long enough for any real one, short enough for a key. */
const MAX_ID_CHARS = 1_024;

export interface Identity {
  name: string;
  userId: string;
  assistantId: string;
}

export function readIdentity(options: OpenOptions): Identity {
  if (typeof options !== 'object' || options === null) throw invalid(`open needs an object with name and userId, got ${show(options)}`);
  return {
    name: readId(options.name, 'name'),
    userId: readId(options.userId, 'userId'),
    assistantId: options.assistantId === undefined ? 'default' : readId(options.assistantId, 'assistantId'),
  };
}

/** An id is data: slashes, dots, colons and spaces are as good as letters. Halves of surrogate pairs would collide, so they are refused. */
export function readId(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '') throw invalid(`${name} must be a non-empty string, got ${show(value)}`);
  if (value.length > MAX_ID_CHARS) throw invalid(`${name} is ${value.length} characters long; at most ${MAX_ID_CHARS} are allowed`);
  if (wellFormed(value) !== value) throw invalid(`${name} holds half of a surrogate pair: ${show(value)}`);
  return value;
}

/** Parameters that are given. The core knows their names and ranges, and refuses what is neither. */
export function readConfig(config: Partial<Config> | undefined): Partial<Config> {
  return Object.fromEntries(Object.entries(config ?? {}).filter(([, value]) => value !== undefined));
}
