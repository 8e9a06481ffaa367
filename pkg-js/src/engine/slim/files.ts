/** In place of `../files.ts` in the entry `slim`, which knows of no file. */
import { MemoryOSError } from '../../errors.js';

export function wasmFile(): never {
  throw new MemoryOSError('INVALID_ARGUMENT', 'memstrata/slim carries no wasm file: pass the module, bytes or address of memstrata/memory.wasm as `assets: { wasm }`');
}

export function tableFile(): never {
  throw new MemoryOSError('NOT_FOUND', 'memstrata/slim carries no embedding table: name the place of memstrata/table as `assets: { table }`, or pass `embedder: "none"`');
}
