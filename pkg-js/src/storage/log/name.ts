/** Names of files. A database may be called anything; a file may not, and some file systems take "A" for "a". */

const SUFFIX = '.log';

export async function fileName(database: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(database)));
  const hash = [...digest.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  // For people who look into the folder; the hash alone tells databases apart.
  const readable = database.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 32);
  return `${readable === '' ? 'memory' : readable}-${hash}${SUFFIX}`;
}
