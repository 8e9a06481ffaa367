/** Multipliers of four FNV-1a hashes, 128 bits together. They tell dialogues apart; they keep no secret. */
const PRIMES = [0x01000193, 0x9e3779b1, 0x85ebca77, 0xc2b2ae3d];

export function hash(text: string): string {
  return PRIMES.map((prime) => {
    let lane = 0x811c9dc5;
    for (let at = 0; at < text.length; at++) lane = Math.imul(lane ^ text.charCodeAt(at), prime);
    return (lane >>> 0).toString(16).padStart(8, '0');
  }).join('');
}
