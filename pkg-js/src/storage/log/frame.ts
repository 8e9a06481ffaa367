/**
 * The bytes of a log. All numbers are little-endian and unsigned.
 *
 *   file    "memstrat" | version 4 | salt 8 | crc 4 of the 20 bytes before | frames, one after another
 *   frame   mark 4 | sequence 4 | length 4 | crc 4 of the payload | crc 4 of salt and the 16 bytes before | payload
 *   payload operations; none in the frame that a closing store writes
 *   put     1 | store 1 | key length 4 | value length 4 | crc 4 of the value | key | value
 *   delete  2 | store 1 | from length 4 | to length 4 | from | to
 *
 * A frame is written whole and flushed before the next one begins, so what follows a broken frame tells a torn write (nothing
 * does) from damage. The salt is random: no stored text can pass for a frame of this file.
 */
import { MemoryOSError } from '../../errors.js';
import type { KeyRange, StoreName, WriteBatch } from '../types.js';
import { crc32 } from './crc.js';

export const STORES: readonly StoreName[] = ['wal', 'chunk', 'manifest', 'blob'];
export const FILE_HEADER_BYTES = 24;
export const FRAME_HEADER_BYTES = 20;
const SALT_AT = 12;
const SALT_BYTES = 8;
const VERSION = 1;
const MARK = 0x526d_654d;
const PUT = 1;
const DELETE = 2;
const PUT_BYTES = 14;
const DELETE_BYTES = 10;
/** Its length field has 32 bits; far below that, one array still fits everywhere. */
const MAX_PAYLOAD_BYTES = 0x3fff_ffff;

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const MAGIC = Uint8Array.from('memstrat', (letter) => letter.charCodeAt(0));

export type Salt = Uint8Array;

export function newFileHeader(): Uint8Array {
  const header = new Uint8Array(FILE_HEADER_BYTES);
  header.set(MAGIC);
  new DataView(header.buffer).setUint32(8, VERSION, true);
  crypto.getRandomValues(header.subarray(SALT_AT, SALT_AT + SALT_BYTES));
  new DataView(header.buffer).setUint32(20, crc32(header.subarray(0, 20)), true);
  return header;
}

/** The salt, or nothing where the header is not whole. Throws VERSION_TOO_NEW. */
export function readFileHeader(header: Uint8Array): Salt | undefined {
  const view = viewOf(header);
  if (header.length < FILE_HEADER_BYTES || view.getUint32(20, true) !== crc32(header.subarray(0, 20))) return undefined;
  if (MAGIC.some((byte, at) => header[at] !== byte)) return undefined;
  const version = view.getUint32(8, true);
  if (version > VERSION) throw new MemoryOSError('VERSION_TOO_NEW', `the log has format ${version}, and this version of memstrata reads up to ${VERSION}: update the package; nothing was changed`);
  return header.slice(SALT_AT, SALT_AT + SALT_BYTES);
}

/** A value in the payload of a frame. */
export interface Placed {
  store: StoreName;
  key: string;
  /** Where the value begins in the payload. */
  at: number;
  length: number;
  crc: number;
}

export type Operation = ({ kind: 'put' } & Placed) | ({ kind: 'delete' } & KeyRange);

/** One frame for several batches, in their order: all of them are there, or none. */
export function encodeFrame(salt: Salt, sequence: number, batches: readonly WriteBatch[]): { bytes: Uint8Array; operations: Operation[] } {
  const parts: { head: Uint8Array; value?: Uint8Array }[] = [];
  const operations: Operation[] = [];
  let length = 0;
  for (const { deletes, puts } of batches) {
    for (const range of deletes) {
      const [from, to] = [encode(range.from), encode(range.to)];
      parts.push({ head: headOf(DELETE, range.store, DELETE_BYTES, [from, to], [from.length, to.length]) });
      length += DELETE_BYTES + from.length + to.length;
      operations.push({ kind: 'delete', ...range });
    }
    for (const { store, key, value } of puts) {
      const name = encode(key);
      const crc = crc32(value);
      parts.push({ head: headOf(PUT, store, PUT_BYTES, [name], [name.length, value.length, crc]), value });
      operations.push({ kind: 'put', store, key, at: length + PUT_BYTES + name.length, length: value.length, crc });
      length += PUT_BYTES + name.length + value.length;
    }
  }
  if (length > MAX_PAYLOAD_BYTES) throw new MemoryOSError('INVALID_ARGUMENT', `a batch of ${length} bytes is too large: at most ${MAX_PAYLOAD_BYTES} are written at once`);
  const bytes = new Uint8Array(FRAME_HEADER_BYTES + length);
  let at = FRAME_HEADER_BYTES;
  for (const { head, value } of parts) {
    bytes.set(head, at);
    at += head.length;
    if (value) bytes.set(value, at);
    at += value?.length ?? 0;
  }
  const view = viewOf(bytes);
  view.setUint32(0, MARK, true);
  view.setUint32(4, sequence, true);
  view.setUint32(8, length, true);
  view.setUint32(12, crc32(bytes.subarray(FRAME_HEADER_BYTES)), true);
  view.setUint32(16, crc32(bytes.subarray(0, 16), crc32(salt)), true);
  return { bytes, operations };
}

function headOf(kind: number, store: StoreName, fixed: number, texts: Uint8Array[], numbers: number[]): Uint8Array {
  const head = new Uint8Array(fixed + texts.reduce((sum, text) => sum + text.length, 0));
  const view = viewOf(head);
  head[0] = kind;
  head[1] = STORES.indexOf(store);
  numbers.forEach((number, at) => view.setUint32(2 + 4 * at, number, true));
  let at = fixed;
  for (const text of texts) {
    head.set(text, at);
    at += text.length;
  }
  return head;
}

export interface FrameHeader {
  sequence: number;
  length: number;
  crc: number;
}

/** The header of a frame at `at`, or nothing where there is none. */
export function readFrameHeader(salt: Salt, bytes: Uint8Array, at = 0): FrameHeader | undefined {
  // The first test alone settles nearly every place of a search.
  if (bytes[at] !== (MARK & 0xff) || at + FRAME_HEADER_BYTES > bytes.length) return undefined;
  const view = viewOf(bytes);
  if (view.getUint32(at, true) !== MARK) return undefined;
  if (view.getUint32(at + 16, true) !== crc32(bytes.subarray(at, at + 16), crc32(salt))) return undefined;
  return { sequence: view.getUint32(at + 4, true), length: view.getUint32(at + 8, true), crc: view.getUint32(at + 12, true) };
}

/** What a payload says; its checksum has been verified, so what is out of form here was written so. */
export function decodePayload(payload: Uint8Array): Operation[] {
  const view = viewOf(payload);
  const operations: Operation[] = [];
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (at + length > payload.length) throw new RangeError('an operation ends beyond its frame');
    at += length;
    return payload.subarray(at - length, at);
  };
  while (at < payload.length) {
    const start = at;
    const kind = payload[at];
    const store = STORES[payload[at + 1] ?? STORES.length];
    if (!store || (kind !== PUT && kind !== DELETE)) throw new RangeError('an operation is of no known kind');
    take(kind === PUT ? PUT_BYTES : DELETE_BYTES);
    const [first, second] = [view.getUint32(start + 2, true), view.getUint32(start + 6, true)];
    if (kind === PUT) {
      const key = decode(take(first));
      operations.push({ kind: 'put', store, key, at, length: second, crc: view.getUint32(start + 10, true) });
      take(second);
    } else {
      operations.push({ kind: 'delete', store, from: decode(take(first)), to: decode(take(second)) });
    }
  }
  return operations;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
