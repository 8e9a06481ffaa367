/** The keys that come of the root: one that wraps the users' keys, one that names places. Neither is extractable. */
import { hex, parts, utf8 } from './bytes.js';
import { subtle } from './seal.js';

export interface RootKeys {
  wrapping: CryptoKey;
  naming: CryptoKey;
}

/** Wipes the bytes of the root. */
export async function rootKeys(root: Uint8Array, id: Uint8Array): Promise<RootKeys> {
  const material = await subtle().importKey('raw', root as BufferSource, 'HKDF', false, ['deriveKey']);
  root.fill(0);
  const of = (info: string): HkdfParams => ({ name: 'HKDF', hash: 'SHA-256', salt: id as BufferSource, info: utf8(info) as BufferSource });
  return {
    wrapping: await subtle().deriveKey(of('memstrata wrapping'), material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']),
    naming: await subtle().deriveKey(of('memstrata naming'), material, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign']),
  };
}

/** 128 bits of HMAC-SHA-256 over a name, in hexadecimal: the same for the same name, and without the key nobody's. */
export async function opaque(naming: CryptoKey, ...name: string[]): Promise<string> {
  const digest = await subtle().sign('HMAC', naming, parts(...name) as BufferSource);
  return hex(new Uint8Array(digest, 0, 16));
}
