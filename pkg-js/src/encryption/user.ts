/** The core's name for the key space of a user: see `src/storage/keyspace.rs` of the crate. A test compares the two. */
import { invalid } from '../errors.js';
import { show } from '../text.js';
import { concat, hex, utf8 } from './bytes.js';
import { subtle } from './seal.js';

export async function spaceName(userId: string, assistantId: string): Promise<string> {
  for (const id of [userId, assistantId]) if (typeof id !== 'string' || id === '') throw invalid(`the ids of a user and an assistant are strings that are not empty, got ${show(id)}`);
  const cube = 'default';
  const lengthPrefixed = [userId, assistantId, cube].flatMap((part) => {
    const bytes = utf8(part);
    const length = new Uint8Array(8);
    new DataView(length.buffer).setUint32(0, bytes.length, true);
    return [length, bytes];
  });
  return hex(new Uint8Array(await subtle().digest('SHA-256', concat(...lengthPrefixed) as BufferSource), 0, 16));
}
