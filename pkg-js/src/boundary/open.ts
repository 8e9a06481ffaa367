/** Options of `MemoryOS.open`, checked. */
import { invalid } from '../errors.js';
import { show, wellFormed } from '../text.js';
import type { Config, OpenOptions } from '../types.js';
import { integer } from './query.js';

/** Longest name or id, in UTF-16 units: long enough for any real one, short enough for a key. */
const MAX_ID_CHARS = 1_024;

const CONFIG_RANGES: { readonly [K in keyof Config]: readonly [least: number, most: number, whole: boolean] } = {
  shortTermCapacity: [1, 1_000, true],
  consolidationBatch: [1, 100, true],
  midTermCapacity: [1, 100_000, true],
  similarityThreshold: [0, 2, false],
  heatThreshold: [0, 1e6, false],
  heatAlpha: [0, 1e6, false],
  heatBeta: [0, 1e6, false],
  heatGamma: [0, 1e6, false],
  heatTimeConstantHours: [1e-3, 1e9, false],
  sessionGapMinutes: [1, 1e7, false],
  sealThresholdBytes: [1_024, 33_554_432, true],
};

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

export function readConfig(config: Partial<Config> | undefined): Partial<Config> {
  const clean: Partial<Config> = {};
  for (const [key, value] of Object.entries(config ?? {}) as [string, unknown][]) {
    if (value === undefined) continue;
    if (!Object.hasOwn(CONFIG_RANGES, key)) throw invalid(`config has no parameter ${show(key)}; it knows ${Object.keys(CONFIG_RANGES).join(', ')}`);
    const [least, most, whole] = CONFIG_RANGES[key as keyof Config];
    clean[key as keyof Config] = whole ? integer(value, `config.${key}`, least, most) : number(value, `config.${key}`, least, most);
  }
  return clean;
}

function number(value: unknown, name: string, least: number, most: number): number {
  if (typeof value !== 'number' || !(value >= least && value <= most)) throw invalid(`${name} must be a number from ${least} to ${most}, got ${show(value)}`);
  return value;
}
