/**
 * Where the package's own files are: beside its modules. The expressions are spelt out in full, because bundlers look for exactly
 * these. The entries `inline` and `slim` are built with a file of their own in place of this one.
 */
export const wasmFile = (): URL | BufferSource | Promise<BufferSource> => new URL('../wasm/memory_bg.wasm', import.meta.url);

export const tableFile = (): URL => new URL('../../table/table-128-int4.safetensors', import.meta.url);
