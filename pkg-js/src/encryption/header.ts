/**
 * The header of what is encrypted: the root key, wrapped once for each key that unlocks it. Its record:
 *   version (1) | checksum (8, of what follows) | JSON
 * The checksum tells damage from a wrong passphrase; against a wrong hand stands the seal of each wrapped key.
 */
import { MemoryOSError } from '../errors.js';
import { concat, equal, fromBase64, hex, random, text, toBase64, utf8 } from './bytes.js';
import { MOST_COST } from './passphrase.js';
import { checkVersion, damaged, FORMAT_VERSION, seal, subtle, unseal } from './seal.js';
import type { Cost, KeyKind, UnlockKey } from './unlock-key.js';

const ID_BYTES = 16;
const SALT_BYTES = 16;
const ROOT_BYTES = 32;
const CHECKSUM_BYTES = 8;
/** Each one of the kind may have to be tried. */
const MOST_SLOTS = 16;

/** The root key, wrapped by one key. */
export interface Slot {
  kind: KeyKind;
  salt: Uint8Array;
  cost: Cost;
  wrapped: Uint8Array;
}

export interface Header {
  id: Uint8Array;
  slots: Slot[];
}

export function newRoot(): { root: Uint8Array; header: Header } {
  return { root: random(ROOT_BYTES), header: { id: random(ID_BYTES), slots: [] } };
}

/** The header with the root wrapped by `key` too; `replace` drops the keys of its kind that were there. */
export async function withKey(header: Header, root: Uint8Array, key: UnlockKey, replace = false): Promise<Header> {
  const slot = { kind: key.kind, salt: random(SALT_BYTES), cost: { ...key.cost } };
  const wrapped = await seal(await key.wrapping(slot.salt, slot.cost), placeOf(header.id, slot), root);
  const kept = header.slots.filter(({ kind }) => !replace || kind !== key.kind);
  if (kept.length >= MOST_SLOTS) throw new MemoryOSError('INVALID_ARGUMENT', `a store takes at most ${MOST_SLOTS} keys: replace those of one kind`);
  return { id: header.id, slots: [...kept, { ...slot, wrapped }] };
}

/** The root key. Wipe it when it is used. */
export async function unwrapRoot({ id, slots }: Header, key: UnlockKey): Promise<Uint8Array> {
  for (const slot of slots.filter(({ kind }) => kind === key.kind)) {
    const root = await unseal(await key.wrapping(slot.salt, slot.cost), placeOf(id, slot), slot.wrapped);
    if (root?.length === ROOT_BYTES) return root;
  }
  throw wrongKey(key.kind, slots);
}

function wrongKey(kind: KeyKind, slots: Slot[]): MemoryOSError {
  const kinds = [...new Set(slots.map((slot) => slot.kind))];
  if (!kinds.includes(kind)) {
    return new MemoryOSError('FORBIDDEN', `no ${WORDS[kind]} unlocks this; what does: ${kinds.map((one) => WORDS[one]).join(', ')}`, { data: { reason: 'no-such-key', kinds } });
  }
  return new MemoryOSError('FORBIDDEN', `the ${WORDS[kind]} is wrong: ask for it again, or use another key`, { data: { reason: REASONS[kind], kinds } });
}

const WORDS = { passphrase: 'passphrase', device: 'device key', recovery: 'recovery code' };
const REASONS = { passphrase: 'wrong-passphrase', device: 'wrong-device-key', recovery: 'wrong-recovery-code' };

function placeOf(id: Uint8Array, { kind, salt, cost }: Omit<Slot, 'wrapped'>): string[] {
  return ['wrapped root key', hex(id), kind, hex(salt), String(cost.memory), String(cost.iterations)];
}

export async function encodeHeader({ id, slots }: Header): Promise<Uint8Array> {
  const json = utf8(JSON.stringify({
    id: toBase64(id),
    keys: slots.map(({ kind, salt, cost, wrapped }) => ({ kind, salt: toBase64(salt), ...cost, wrapped: toBase64(wrapped) })),
  }));
  return concat(Uint8Array.of(FORMAT_VERSION), await checksum(json), json);
}

export async function decodeHeader(bytes: Uint8Array): Promise<Header> {
  checkVersion(bytes[0] ?? 0, 'header');
  const json = bytes.subarray(1 + CHECKSUM_BYTES);
  if (bytes[0] !== FORMAT_VERSION || !equal(bytes.subarray(1, 1 + CHECKSUM_BYTES), await checksum(json))) damaged('the header with the wrapped keys fails its checksum');
  try {
    const { id, keys } = JSON.parse(text(json)) as { id: string; keys: { kind: KeyKind; salt: string; memory: number; iterations: number; wrapped: string }[] };
    if (keys.length > MOST_SLOTS) throw new Error('too many');
    return { id: fromBase64(id), slots: keys.map(({ kind, salt, memory, iterations, wrapped }) => readSlot({ kind, salt: fromBase64(salt), cost: { memory, iterations }, wrapped: fromBase64(wrapped) })) };
  } catch {
    return damaged('the header with the wrapped keys cannot be read');
  }
}

/** What a passphrase costs is the store's word: not more than a page can bear. */
function readSlot(slot: Slot): Slot {
  const { kind, salt, cost: { memory, iterations } } = slot;
  const within = (value: number, most: number): boolean => Number.isInteger(value) && value >= 0 && value <= most;
  const sound = kind in WORDS && salt.length === SALT_BYTES && within(memory, MOST_COST.memory) && within(iterations, MOST_COST.iterations);
  if (!sound || (kind === 'passphrase' && (memory < 8 || iterations < 1))) throw new Error('unsound');
  return slot;
}

async function checksum(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle().digest('SHA-256', bytes as BufferSource)).subarray(0, CHECKSUM_BYTES);
}
