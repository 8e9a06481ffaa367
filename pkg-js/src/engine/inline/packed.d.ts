/** What `scripts/bundle.mjs` puts into the entry `inline`, as text; there is no such file. */

/** The wasm file: gzip, then base64. */
export const wasm: string;
/** The script of the worker, in two pieces: `wasm` goes between them. Empty within that script itself. */
export const worker: readonly [head: string, tail: string] | undefined;
