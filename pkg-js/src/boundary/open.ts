/** Options of `MemoryOS.open`, checked. */
import { invalid } from '../errors.js';
import { show } from '../text.js';
import type { Config, OpenOptions } from '../types.js';
import { text } from './query.js';

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
  const id = text(value, name);
  if (id.length > MAX_ID_CHARS) throw invalid(`${name} is ${id.length} characters long; at most ${MAX_ID_CHARS} are allowed`);
  if (id !== value) throw invalid(`${name} holds half of a surrogate pair: ${show(value)}`);
  return id;
}

/** Parameters that are given. The core knows their names and ranges, and refuses what is neither. */
export function readConfig(config: Partial<Config> = {}, name = 'config'): Partial<Config> {
  if (typeof config !== 'object' || config === null) throw invalid(`${name} must be an object, got ${show(config)}`);
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}
