/** In place of `../files.ts` in the entry `inline`: the wasm file comes with the script, and nothing else is fetched. */
import { MemoryOSError } from '../../errors.js';
import { wasm } from './packed.js';

export async function wasmFile(): Promise<ArrayBuffer> {
  if (typeof DecompressionStream === 'undefined') {
    throw new MemoryOSError('FORBIDDEN', 'this environment has no DecompressionStream, which memstrata/inline unpacks its wasm file with: pass `assets: { wasm }`');
  }
  const packed = Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

export function tableFile(): never {
  throw new MemoryOSError('NOT_FOUND', 'memstrata/inline carries no embedding table: name the place of memstrata/table as `assets: { table }`, or pass `embedder: "none"`');
}
