/** Fetches the package's own files: the wasm module and the embedding table, in browsers, workers and Node. */
import { MemoryOSError } from '../errors.js';
import type { WasmMemoryConstructor } from './contract.js';
import { tableFile, wasmFile } from './files.js';
import type { EngineAssets } from './protocol.js';

export type LoadWasm = (source: EngineAssets['wasm']) => Promise<WasmMemoryConstructor>;

interface NodeFs {
  readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
}

let loading: Promise<WasmMemoryConstructor> | undefined;

/** The core, instantiated once per realm. */
export function loadWasm(source: EngineAssets['wasm']): Promise<WasmMemoryConstructor> {
  loading ??= instantiate(source).catch((error: unknown) => {
    // A later call may succeed: the network came back.
    loading = undefined;
    throw error;
  });
  return loading;
}

async function instantiate(source: EngineAssets['wasm']): Promise<WasmMemoryConstructor> {
  if (typeof WebAssembly === 'undefined') throw new MemoryOSError('FORBIDDEN', 'this environment has no WebAssembly, which memstrata runs on');
  const glue = await import('../wasm/memory.js');
  glue.initSync({ module: await compile(source ?? (await wasmFile())) });
  return glue.WasmMemory;
}

async function compile(source: string | URL | BufferSource | WebAssembly.Module): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  try {
    if (!(typeof source === 'string' || source instanceof URL)) return await WebAssembly.compile(source);
    const url = absolute(source);
    if (url.protocol === 'file:') return await WebAssembly.compile(await readLocal(url));
    const response = await get(url, 'the wasm file');
    // Streaming insists on the MIME type, and plain static servers often do not know it.
    const streams = typeof WebAssembly.compileStreaming === 'function' && response.headers.get('content-type')?.startsWith('application/wasm');
    return streams ? await WebAssembly.compileStreaming(response) : await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    const blocked = /unsafe-eval|content security policy/i.test(error.message);
    throw blocked
      ? new MemoryOSError('FORBIDDEN', "the page's Content-Security-Policy forbids WebAssembly: add 'wasm-unsafe-eval' to script-src", { cause: error })
      : new MemoryOSError('INTERNAL', `the wasm file is not one of memstrata's: ${error.message}`, { cause: error });
  }
}

/** The bytes of the embedding table. */
export async function loadTable(source?: string | BufferSource): Promise<Uint8Array> {
  if (source !== undefined && typeof source !== 'string') {
    return ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source);
  }
  const url = absolute(source ?? tableFile());
  if (url.protocol === 'file:') return readLocal(url);
  return new Uint8Array(await (await get(url, 'the embedding table')).arrayBuffer());
}

function absolute(url: string | URL): URL {
  if (url instanceof URL) return url;
  const base = (globalThis as { location?: { href: string } }).location?.href;
  try {
    return new URL(url, base);
  } catch (error) {
    throw new MemoryOSError('INVALID_ARGUMENT', `${url} is not an absolute address, and there is no page to resolve it against`, { cause: error });
  }
}

async function get(url: URL, what: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (error) {
    throw new MemoryOSError('NOT_FOUND', `${what} cannot be fetched from ${url.href}: check that it is served there, or name its place in \`assets\``, { cause: error });
  }
  if (!response.ok) throw new MemoryOSError('NOT_FOUND', `${what} is not at ${url.href} (HTTP ${response.status}): serve it there, or name its place in \`assets\``);
  return response;
}

/** Node. Asked of the process, not imported, so that no bundler sees a Node module in browser code. */
async function readLocal(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const fs = process?.getBuiltinModule?.('node:fs/promises') as NodeFs | undefined;
  if (!fs) throw new MemoryOSError('NOT_FOUND', `${url.href} is a local file, and this environment cannot read files: name another place in \`assets\``);
  try {
    return await fs.readFile(url);
  } catch (error) {
    throw new MemoryOSError('NOT_FOUND', `${url.pathname} cannot be read: build the package first, or name another place in \`assets\``, { cause: error });
  }
}
