/** 128 random bits and a checksum of 12, as seven groups of four characters without I, L, O and U. */
import { invalid } from '../errors.js';
import { concat, random, utf8 } from './bytes.js';
import { subtle } from './seal.js';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const SECRET_BYTES = 16;
const CHECK_BITS = 12n;
const CHARACTERS = 28;

export async function newRecoveryCode(): Promise<string> {
  const secret = random(SECRET_BYTES);
  let bits = (toInteger(secret) << CHECK_BITS) | (await checksum(secret));
  let characters = '';
  for (let at = 0; at < CHARACTERS; at++, bits >>= 5n) characters = ALPHABET[Number(bits & 31n)] + characters;
  return (characters.match(/.{4}/g) as string[]).join('-');
}

/** The 128 bits of a code. Case, spaces and hyphens do not matter; a typing error is told, and the code is in no message. */
export async function readRecoveryCode(code: unknown): Promise<Uint8Array> {
  if (typeof code !== 'string') throw invalid(`a recovery code must be a string, got ${typeof code}`);
  const characters = code.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
  const digits = [...characters].map((character) => ALPHABET.indexOf(character));
  if (digits.length !== CHARACTERS || digits.includes(-1)) throw invalid(`a recovery code has seven groups of four letters and digits, this one has ${digits.length} characters, or one that no code has`);
  const bits = digits.reduce((sum, digit) => (sum << 5n) | BigInt(digit), 0n);
  const secret = fromInteger(bits >> CHECK_BITS);
  if ((await checksum(secret)) !== (bits & ((1n << CHECK_BITS) - 1n))) throw invalid('the recovery code has a typing error: its checksum does not match');
  return secret;
}

async function checksum(secret: Uint8Array): Promise<bigint> {
  const digest = new Uint8Array(await subtle().digest('SHA-256', concat(utf8('memstrata recovery code'), secret) as BufferSource));
  return toInteger(digest.subarray(0, 2)) >> 4n;
}

function toInteger(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function fromInteger(value: bigint): Uint8Array {
  const bytes = new Uint8Array(SECRET_BYTES);
  for (let at = SECRET_BYTES - 1; at >= 0; at--, value >>= 8n) bytes[at] = Number(value & 255n);
  return bytes;
}
