/** What unlocks a store. Its secret lies in a private field, out of reach of JSON, logs and structured clone. */
import { invalid } from '../errors.js';
import { equal } from './bytes.js';
import { importAes, subtle } from './seal.js';
import { readRecoveryCode } from './recovery-code.js';
import { utf8 } from './bytes.js';

/** What a key is made of. */
export type KeyKind = 'passphrase' | 'device' | 'recovery';

/** Cost of a guess; nought for keys that nobody can guess. */
export interface Cost {
  memory: number;
  iterations: number;
}

export const NO_COST: Cost = { memory: 0, iterations: 0 };

type Derive = (salt: Uint8Array, cost: Cost) => Promise<CryptoKey>;

/** Opens an encrypted store. Made by `fromPassphrase`, `deviceKey` or `fromRecoveryCode`; it holds nothing that can be read out. */
export class UnlockKey {
  readonly kind: KeyKind;
  /** Of what is sealed with this key from now on. */
  readonly cost: Readonly<Cost>;
  readonly #derive: Derive;
  #last: { salt: Uint8Array; cost: Cost; key: Promise<CryptoKey> } | undefined;

  /** @internal Use `fromPassphrase`, `deviceKey` or `fromRecoveryCode`. */
  constructor(kind: KeyKind, cost: Cost, derive: Derive) {
    this.kind = kind;
    this.cost = cost;
    this.#derive = derive;
  }

  /** @internal The key that wraps: not extractable, and derived once for a salt. */
  wrapping(salt: Uint8Array, cost: Cost): Promise<CryptoKey> {
    const last = this.#last;
    if (last && equal(last.salt, salt) && last.cost.memory === cost.memory && last.cost.iterations === cost.iterations) return last.key;
    const key = this.#derive(salt, cost);
    this.#last = { salt: salt.slice(), cost: { ...cost }, key };
    // A failure is not kept: the next call tries again.
    key.catch(() => (this.#last = undefined));
    return key;
  }
}

/** The code that `addRecoveryCode` gave. */
export function fromRecoveryCode(code: string): UnlockKey {
  const secret = readRecoveryCode(code);
  secret.catch(() => undefined); // told when it is used
  // 128 random bits cannot be guessed, so that no slow derivation is needed.
  return new UnlockKey('recovery', NO_COST, async (salt) => importAes(await expand(await secret, salt)));
}

async function expand(secret: Uint8Array, salt: Uint8Array): Promise<Uint8Array> {
  const key = await subtle().importKey('raw', secret as BufferSource, 'HKDF', false, ['deriveBits']);
  return new Uint8Array(await subtle().deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: salt as BufferSource, info: utf8('memstrata recovery') as BufferSource }, key, 256));
}

export function requireKey(value: unknown): UnlockKey {
  if (!(value instanceof UnlockKey)) throw invalid('the key must come from fromPassphrase, deviceKey or fromRecoveryCode');
  return value;
}
