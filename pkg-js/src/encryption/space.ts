/**
 * One user's key space: its key, and what it must hold. Each record carries 16 random bytes, its mark, under the seal; the
 * exclusive-or of all marks, their number and a version that counts commits are sealed beside them in every commit. A record
 * that was replayed, removed or brought back does not fit them, and as nobody sees a mark, none can be chosen to fit.
 */
import { MemoryOSError } from '../errors.js';
import type { StorageEngine, StoreName } from '../storage/types.js';
import { concat, equal, hex, random, readU32, text, u32, utf8, xor } from './bytes.js';
import { all, keyPlace, only, statePlace, STORES } from './places.js';
import { damaged, importAes, seal, unseal, unsealStored } from './seal.js';

export interface Entry {
  key: string;
  value: Uint8Array;
}

/** A record that is there. */
export interface Kept {
  place: string;
  mark: Uint8Array;
}

export interface State {
  version: number;
  count: number;
  digest: Uint8Array;
}

export interface Space {
  /** Of its key: another one when the user was shredded and began anew. */
  readonly id: string;
  /** Opaque: see `places.ts`. */
  readonly place: string;
  /** As the memory's keys begin. */
  readonly name: string;
  readonly key: CryptoKey;
  /** By key, store by store. */
  index: Record<StoreName, Map<string, Kept>>;
  state: State;
  /** The state as it is stored; `undefined` before the first commit. */
  sealedState: Uint8Array | undefined;
  /** What loading has read, for the one who asks next: a memory that opens reads everything once. */
  warm: Partial<Record<StoreName, Entry[]>>;
}

const KEY_BYTES = 32;
const MARK_BYTES = 16;
const STATE_BYTES = 8 + 4 + MARK_BYTES;

/** A new space, and the wrapped key that its first commit has to store. */
export async function newSpace(place: string, name: string, wrapping: CryptoKey): Promise<{ space: Space; wrapped: Uint8Array }> {
  const bytes = random(KEY_BYTES);
  const wrapped = await seal(wrapping, ['wrapped user key', place], concat(bytes, utf8(name)));
  const key = await importAes(bytes);
  bytes.fill(0);
  const state = { version: 0, count: 0, digest: new Uint8Array(MARK_BYTES) };
  return { space: { id: idOf(wrapped), place, name, key, index: emptyIndex(), state, sealedState: undefined, warm: {} }, wrapped };
}

/** Reads a space whole and checks it; `undefined` when there is none. `leastVersion` tells the latest one that was seen of an id. */
export async function loadSpace(inner: StorageEngine, place: string, wrapping: CryptoKey, leastVersion: (id: string) => number): Promise<Space | undefined> {
  const [wrapped] = await inner.read(only('manifest', keyPlace(place)));
  const [sealedState] = await inner.read(only('manifest', statePlace(place)));
  const stored = await Promise.all(STORES.map((store) => inner.read(all(store, place))));
  if (!wrapped) {
    if (sealedState || stored.some(({ length }) => length > 0)) {
      damaged('records are there whose key is gone: their user was shredded, or the key was removed. They cannot be read', 'key-missing');
    }
    return undefined;
  }
  const unwrapped = await unsealStored(wrapping, ['wrapped user key', place], wrapped.value);
  const key = await importAes(unwrapped.subarray(0, KEY_BYTES));
  const name = text(unwrapped.subarray(KEY_BYTES));
  unwrapped.fill(0);
  if (!sealedState) return damaged('the sealed state of a user is gone', 'state-missing');
  const state = decodeState(await unsealStored(key, ['state', place], sealedState.value));
  if (state.version < leastVersion(idOf(wrapped.value))) damaged('a user’s records were replaced by older ones', 'rolled-back');

  const space: Space = { id: idOf(wrapped.value), place, name, key, index: emptyIndex(), state, sealedState: sealedState.value, warm: {} };
  let digest: Uint8Array = new Uint8Array(MARK_BYTES);
  let count = 0;
  for (const [at, store] of STORES.entries()) {
    const entries = await Promise.all((stored[at] as Entry[]).map((record) => openRecord(space, store, record)));
    space.warm[store] = entries.map(({ key: name, value, place: where, mark }) => {
      space.index[store].set(name, { place: where, mark });
      digest = xor(digest, mark);
      count++;
      return { key: name, value };
    });
  }
  if (count !== state.count || !equal(digest, state.digest)) {
    damaged(`the records of a user are not those of the last commit: ${count} are there, ${state.count} should be. One was replaced by an older one, removed or brought back`, 'replayed');
  }
  return space;
}

/** Whether a wrapped user key is one of this root's. */
export async function opensSpace(wrapping: CryptoKey, place: string, wrapped: Uint8Array): Promise<boolean> {
  const plain = await unseal(wrapping, ['wrapped user key', place], wrapped);
  plain?.fill(0);
  return plain !== undefined;
}

/** mark (16) | length of the key (4) | key | value, sealed for its place. */
export async function sealRecord(space: Space, store: StoreName, { place, mark }: Kept, { key, value }: Entry): Promise<Uint8Array> {
  const name = utf8(key);
  return seal(space.key, ['record', store, place], concat(mark, u32(name.length), name, value));
}

export async function openRecord(space: Space, store: StoreName, { key: place, value: sealed }: Entry): Promise<Entry & Kept> {
  const plain = await unsealStored(space.key, ['record', store, place], sealed);
  const from = MARK_BYTES + 4 + readU32(plain, MARK_BYTES);
  // A copy: the value is the reader's, and has a buffer of its own.
  return { place, mark: plain.slice(0, MARK_BYTES), key: text(plain.subarray(MARK_BYTES + 4, from)), value: plain.slice(from) };
}

export const newMark = (): Uint8Array => random(MARK_BYTES);

export async function sealState({ key, place }: Space, { version, count, digest }: State): Promise<Uint8Array> {
  const bytes = new Uint8Array(STATE_BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(version));
  view.setUint32(8, count);
  bytes.set(digest, 12);
  return seal(key, ['state', place], bytes);
}

function decodeState(bytes: Uint8Array): State {
  if (bytes.length !== STATE_BYTES) throw new MemoryOSError('STORAGE_CORRUPT', 'the sealed state of a user has another length than this version writes');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { version: Number(view.getBigUint64(0)), count: view.getUint32(8), digest: bytes.slice(12) };
}

/** The wrapped key's nonce. */
function idOf(wrapped: Uint8Array): string {
  return hex(wrapped.subarray(1, 13));
}

function emptyIndex(): Space['index'] {
  return { wal: new Map(), chunk: new Map(), manifest: new Map(), blob: new Map() };
}
