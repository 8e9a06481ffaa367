/**
 * AES-256-GCM by WebCrypto. A sealed value:
 *   version (1) | nonce (12, fresh and random) | ciphertext | tag (16)
 * What the value is and where it lies is bound to it as additional data, so that a value moved elsewhere does not open.
 */
import { MemoryOSError } from '../errors.js';
import { concat, parts, random } from './bytes.js';

export const FORMAT_VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** WebCrypto's, or an error that says where it is missing. */
export function subtle(): SubtleCrypto {
  const { crypto } = globalThis as { crypto?: Crypto };
  if (!crypto?.subtle) throw new MemoryOSError('STORAGE_UNAVAILABLE', 'encryption needs WebCrypto, which this page lacks: serve it by HTTPS or from localhost');
  return crypto.subtle;
}

/** `place`: kind of the value, then where it lies. */
export async function seal(key: CryptoKey, place: string[], plain: Uint8Array): Promise<Uint8Array> {
  const nonce = random(NONCE_BYTES);
  const sealed = await subtle().encrypt(parameters(nonce, place), key, plain as BufferSource);
  return concat(Uint8Array.of(FORMAT_VERSION), nonce, new Uint8Array(sealed));
}

/** The plain bytes, or `undefined` where key, place or bytes are not those of the sealing. */
export async function unseal(key: CryptoKey, place: string[], sealed: Uint8Array): Promise<Uint8Array | undefined> {
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES) return undefined;
  checkVersion(sealed[0] as number, place[0] as string);
  if (sealed[0] !== FORMAT_VERSION) return undefined;
  try {
    const plain = await subtle().decrypt(parameters(sealed.subarray(1, 1 + NONCE_BYTES), place), key, sealed.subarray(1 + NONCE_BYTES) as BufferSource);
    return new Uint8Array(plain);
  } catch {
    return undefined;
  }
}

/** Unseals what nobody but a wrong hand or a bad disk can have changed. */
export async function unsealStored(key: CryptoKey, place: string[], sealed: Uint8Array): Promise<Uint8Array> {
  return (await unseal(key, place, sealed)) ?? damaged(`a ${place[0]} of the encrypted store does not open: its bytes were changed, or moved from another place`);
}

export function checkVersion(version: number, what: string): void {
  if (version > FORMAT_VERSION) {
    throw new MemoryOSError('VERSION_TOO_NEW', `a ${what} of the encrypted store has format ${version}, this package knows ${FORMAT_VERSION}: update the package`);
  }
}

export function damaged(message: string, reason?: string): never {
  throw new MemoryOSError('STORAGE_CORRUPT', `${message}; restore from an export`, reason === undefined ? {} : { data: { reason } });
}

export async function importAes(bytes: Uint8Array): Promise<CryptoKey> {
  return subtle().importKey('raw', bytes as BufferSource, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

function parameters(nonce: Uint8Array, place: string[]): AesGcmParams {
  return { name: 'AES-GCM', iv: nonce as BufferSource, additionalData: concat(Uint8Array.of(FORMAT_VERSION), parts(...place)) as BufferSource };
}
