/** Weight of what a page downloads: the wasm file and the modules, gzipped, and the embedding table as it is. */
import { gzipSync } from 'node:zlib';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../e2e/server.mjs';

const gzipped = (files) => files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0);

export function packageSize(dir = join(ROOT, 'pkg-js')) {
  const dist = readdirSync(join(dir, 'dist'), { recursive: true }).map((name) => join(dir, 'dist', name));
  const { exports } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  // The scripted model of tests is no part of an application.
  const modules = dist.filter((name) => name.endsWith('.js') && !/[\\/]testing(\.js|[\\/])|\.test\.js$/.test(name));
  return {
    wasm_gz: gzipped(dist.filter((name) => name.endsWith('.wasm'))),
    js_gz: gzipped(modules),
    table_bytes: statSync(join(dir, exports['./table'])).size,
  };
}
