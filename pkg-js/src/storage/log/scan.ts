/** Reads a log from its beginning, and tells a write that was cut off from damage. */
import { MemoryOSError } from '../../errors.js';
import type { LogFile } from './file.js';
import { crc32 } from './crc.js';
import { decodePayload, FILE_HEADER_BYTES, FRAME_HEADER_BYTES, newFileHeader, readFileHeader, readFrameHeader } from './frame.js';
import type { Operation, Salt } from './frame.js';

/** Read at once while looking for frames beyond a broken one. */
const WINDOW_BYTES = 1 << 20;

export interface Scanned {
  salt: Salt;
  /** Where the next frame goes. */
  end: number;
  /** Number of the next frame. */
  sequence: number;
  /** Whether the last frame is the empty one that a closing store and a compaction write at their end. */
  complete: boolean;
}

/**
 * Calls `apply` for each whole frame in order; a torn one at the end is cut off. Throws STORAGE_CORRUPT, and changes nothing,
 * where a broken frame is followed by a whole one: cutting there would lose what was acknowledged.
 */
export async function scan(file: LogFile, apply: (operations: Operation[], payloadAt: number) => void): Promise<Scanned> {
  const size = await file.size();
  const salt = readFileHeader(await readAt(file, 0, Math.min(size, FILE_HEADER_BYTES)));
  if (!salt) {
    // A store that died while it was made; nothing can have been acknowledged.
    if (size <= FILE_HEADER_BYTES) return begin(file);
    throw corrupt('its first bytes are damaged');
  }
  let end = FILE_HEADER_BYTES;
  let sequence = 1;
  let complete = false;
  while (end < size) {
    const header = readFrameHeader(salt, await readAt(file, end, Math.min(FRAME_HEADER_BYTES, size - end)));
    const payloadAt = end + FRAME_HEADER_BYTES;
    if (header?.sequence !== sequence || payloadAt + header.length > size) break;
    const payload = await readAt(file, payloadAt, header.length);
    if (crc32(payload) !== header.crc) break;
    apply(read(payload, end), payloadAt);
    end = payloadAt + header.length;
    complete = header.length === 0;
    sequence++;
  }
  if (end < size) await cut(file, salt, end, size);
  return { salt, end, sequence, complete };
}

async function begin(file: LogFile): Promise<Scanned> {
  const header = newFileHeader();
  await file.truncate(0);
  await writeAt(file, header, 0);
  await file.sync();
  return { salt: readFileHeader(header) as Salt, end: FILE_HEADER_BYTES, sequence: 1, complete: false };
}

async function cut(file: LogFile, salt: Salt, end: number, size: number): Promise<void> {
  // Windows overlap by a header, so that none is missed between two.
  for (let from = end + 1; from < size; from += WINDOW_BYTES) {
    const bytes = await readAt(file, from, Math.min(WINDOW_BYTES + FRAME_HEADER_BYTES - 1, size - from));
    for (let at = 0; at < bytes.length; at++) {
      if (readFrameHeader(salt, bytes, at)) throw corrupt(`the bytes from ${end} to ${from + at} are damaged`);
    }
  }
  await file.truncate(end);
  await file.sync();
}

function read(payload: Uint8Array, at: number): Operation[] {
  try {
    return decodePayload(payload);
  } catch (error) {
    throw corrupt(`the frame at ${at} cannot be read`, error);
  }
}

function corrupt(what: string, cause?: unknown): MemoryOSError {
  return new MemoryOSError('STORAGE_CORRUPT', `the log is damaged: ${what}; nothing was changed: restore the file or an export`, { cause });
}

/** Exactly so many bytes. */
export async function readAt(file: LogFile, at: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const count = await file.read(bytes.subarray(done), at + done);
    if (count === 0) throw corrupt(`it ends at ${at + done}, before ${at + length}`);
    done += count;
  }
  return bytes;
}

/** All of the bytes, however many a write takes. */
export async function writeAt(file: LogFile, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const count = await file.write(bytes.subarray(done), at + done);
    if (count === 0) throw new MemoryOSError('STORAGE_QUOTA', `no room for ${bytes.length - done} more bytes`);
    done += count;
  }
}
