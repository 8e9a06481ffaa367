/** A short fingerprint of text. Not for secrets: it tells texts apart, no more. */

/** 32 bits as eight hex digits (FNV-1a over UTF-16 units). */
export function hash32(text: string, seed = 0): string {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // FNV leaves the last characters in the low bits: spread them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0).toString(16).padStart(8, '0');
}

/** 64 bits as sixteen hex digits. */
export function hash64(text: string): string {
  return hash32(text) + hash32(text, 0x9e3779b9);
}
