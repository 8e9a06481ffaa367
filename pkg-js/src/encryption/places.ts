/**
 * Where things lie in the store below, where U is the opaque name of one user's key space and K that of a key in it:
 *   manifest  header     the wrapped root key
 *   manifest  keys/U     the key of that space, wrapped by the root's
 *   manifest  state/U    what that space holds: version, count and digest of its records
 *   (each)    U/K        one record
 * U is of hexadecimal digits, so that no space can be called `keys` or `state`.
 */
import type { KeyRange, StoreName } from '../storage/types.js';

export const STORES: readonly StoreName[] = ['wal', 'chunk', 'manifest', 'blob'];
export const HEADER = 'header';
export const KEYS: KeyRange = { store: 'manifest', from: 'keys/', to: 'keys0' };

export const keyPlace = (space: string): string => `keys/${space}`;
export const statePlace = (space: string): string => `state/${space}`;

/** Exactly one key. */
export function only(store: StoreName, key: string): KeyRange {
  return { store, from: key, to: `${key}\0` };
}

/** Every record of a space in one store. */
export function all(store: StoreName, space: string): KeyRange {
  return { store, from: `${space}/`, to: `${space}0` };
}

/** Everything there is in one store. */
export function whole(store: StoreName): KeyRange {
  return { store, from: '', to: '\u007f' };
}

/** A memory's keys begin with the digest of its user and assistant and a slash; those without one have a space of their own. */
export function spaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}

/** The one space that a range keeps to, if it does. */
export function spaceOfRange({ from, to }: KeyRange): string | undefined {
  const slash = from.indexOf('/');
  if (slash < 0) return undefined;
  // The character after '/' ends the keys that begin with what stands before it.
  return to <= `${from.slice(0, slash)}0` ? from.slice(0, slash) : undefined;
}
