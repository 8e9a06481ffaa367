/** Where things lie, and the versions that are pinned elsewhere. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
export const ROOT = dirname(PACKAGE);
export const WWW = join(ROOT, 'www');
export const TESTS = join(ROOT, 'tests');
export const DIST = join(PACKAGE, 'dist');
/** Tools that are too slow to make again for each checkout. */
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'memstrata');
export const CARGO_TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR || 'target');

/** The command line tool must be of the library's own version. */
export function wasmBindgenVersion() {
  const manifest = readFileSync(join(ROOT, 'Cargo.toml'), 'utf8');
  const version = /^wasm-bindgen\s*=\s*(?:\{[^}]*version\s*=\s*)?"=([\d.]+)"/m.exec(manifest)?.[1];
  if (!version) throw new Error('Cargo.toml does not pin wasm-bindgen to an exact version ("=x.y.z")');
  return version;
}

export const wasmBindgenBin = () => join(CACHE, `wasm-bindgen-${wasmBindgenVersion()}`, 'bin');
