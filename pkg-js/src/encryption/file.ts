/**
 * A memory in one encrypted file:
 *   magic (8) | length of the header (4) | header | sealed export
 * The header is that of a store, with one passphrase; what is sealed is bound to it.
 */
import { invalid, MemoryOSError, toMemoryOSError } from '../errors.js';
import type { ByteSource } from '../boundary/bytes.js';
import type { MemoryOS } from '../memory-os.js';
import { concat, equal, hex, readU32, u32 } from './bytes.js';
import { decodeHeader, encodeHeader, newRoot, unwrapRoot, withKey } from './header.js';
import { fromPassphrase } from './passphrase.js';
import type { PassphraseOptions } from './passphrase.js';
import { damaged, importAes, seal, unseal } from './seal.js';

const MAGIC = Uint8Array.from('mstrenc\n', (letter) => letter.charCodeAt(0));
const TYPE = 'application/vnd.memstrata.encrypted';

/** The whole memory as one file that the passphrase opens. Plain bytes are in RAM only. */
export async function exportEncrypted(memory: Pick<MemoryOS, 'exportTo'>, passphrase: string, options: PassphraseOptions = {}): Promise<Blob> {
  const key = fromPassphrase(passphrase, options);
  const plain = new Uint8Array(await (await memory.exportTo()).arrayBuffer());
  const { root, header: empty } = newRoot();
  const header = await encodeHeader(await withKey(empty, root, key));
  const sealed = await seal(await importAes(root), placeOf(header), plain);
  root.fill(0);
  return new Blob([concat(MAGIC, u32(header.length), header, sealed) as BlobPart], { type: TYPE });
}

/**
 * Merges such a file into a memory, whole or not at all. Rejects with FORBIDDEN (`data.reason: "wrong-passphrase"`), STORAGE_CORRUPT for a damaged
 * file, INVALID_ARGUMENT for another kind of file.
 */
export async function importEncrypted(memory: Pick<MemoryOS, 'importFrom'>, source: ByteSource, passphrase: string): Promise<{ added: number; duplicates: number }> {
  const key = fromPassphrase(passphrase);
  const file = await read(source);
  if (!equal(file.subarray(0, MAGIC.length), MAGIC)) throw invalid('this is no file of exportEncrypted');
  const from = MAGIC.length + 4;
  const length = file.length < from ? Number.POSITIVE_INFINITY : readU32(file, MAGIC.length);
  if (from + length > file.length) throw new MemoryOSError('STORAGE_CORRUPT', 'the encrypted file ends within its header: it was cut short, or damaged');
  const header = file.subarray(from, from + length);
  const decoded = await decodeHeader(header);
  const root = await unwrapRoot(decoded, key);
  const aes = await importAes(root);
  root.fill(0);
  const plain = await unseal(aes, placeOf(header), file.subarray(from + length));
  return memory.importFrom(plain ?? damaged('the encrypted file does not open though the passphrase is right: it was cut short, or damaged'));
}

const placeOf = (header: Uint8Array): string[] => ['export', hex(header)];

async function read(source: ByteSource): Promise<Uint8Array> {
  try {
    return new Uint8Array(await new Response(source as BodyInit).arrayBuffer());
  } catch (error) {
    throw toMemoryOSError(error, 'INVALID_ARGUMENT');
  }
}
