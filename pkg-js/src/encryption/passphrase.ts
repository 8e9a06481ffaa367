/** A key from a passphrase, by Argon2id in slices of a few milliseconds: a page stays smooth, and no Worker is needed. */
import { argon2idAsync } from '@noble/hashes/argon2.js';
import { invalid } from '../errors.js';
import { show } from '../text.js';
import { utf8 } from './bytes.js';
import { importAes } from './seal.js';
import { UnlockKey } from './unlock-key.js';

/** Cost of Argon2id. The defaults take about a second. */
export interface PassphraseOptions {
  /** KiB of memory that one guess takes, 19,456 (19 MiB, the default) to 262,144. */
  memory?: number;
  /** Passes over that memory, 2 (the default) to 16. */
  iterations?: number;
}

/** Both ends: below is too cheap to guess; above, a stored header that was tampered with could hang the page. */
export const LEAST_COST = { memory: 19_456, iterations: 2 };
export const MOST_COST = { memory: 262_144, iterations: 16 };
const SLICE_MS = 8;

/** The cost is stored with the wrapped key: what is given here counts for what is sealed from now on. */
export function fromPassphrase(passphrase: string, { memory = LEAST_COST.memory, iterations = LEAST_COST.iterations }: PassphraseOptions = {}): UnlockKey {
  if (typeof passphrase !== 'string' || passphrase === '') throw invalid('the passphrase must be a string that is not empty');
  for (const [name, value] of Object.entries({ memory, iterations }) as ['memory' | 'iterations', number][]) {
    if (!Number.isInteger(value) || value < LEAST_COST[name] || value > MOST_COST[name]) {
      throw invalid(`${name} must be a whole number from ${LEAST_COST[name]} to ${MOST_COST[name]}, got ${show(value)}`);
    }
  }
  // The same letters may be typed in several ways.
  const secret = utf8(passphrase.normalize('NFKC'));
  return new UnlockKey('passphrase', { memory, iterations }, async (salt, cost) => {
    const bytes = await argon2idAsync(secret, salt, { m: cost.memory, t: cost.iterations, p: 1, dkLen: 32, asyncTick: SLICE_MS });
    const key = await importAes(bytes);
    bytes.fill(0);
    return key;
  });
}
