/**
 * Bundles the sources into dist/lib: few small files without bare imports, so that a page without a bundler can load
 * them too. They lie one folder deep, as src/engine does, because addresses such as `../wasm/memory_bg.wasm` are
 * relative to the module; rolldown leaves `new URL(…, import.meta.url)` as it is, for the application's bundler to see.
 */
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { DIST, PACKAGE } from './places.mjs';

const ENTRIES = {
  index: 'src/index.ts',
  worker: 'src/engine/worker.ts',
  providers: 'src/providers/index.ts',
  import: 'src/import/index.ts',
  export: 'src/export/index.ts',
  retrievers: 'src/retrievers/index.ts',
  testing: 'src/testing.ts',
  storage: 'src/storage/index.ts',
  'storage-node': 'src/storage/node/index.ts',
  'storage-opfs': 'src/storage/opfs/index.ts',
  'opfs-worker': 'src/storage/opfs/worker.ts',
  mcp: 'src/mcp/index.ts',
  'mcp-bin': 'src/mcp/bin.ts',
  webmcp: 'src/webmcp/index.ts',
};

const bundle = await rolldown({ cwd: PACKAGE, input: ENTRIES, tsconfig: false, platform: 'neutral', external: /^node:/ });
await bundle.write({
  dir: join(DIST, 'lib'),
  format: 'esm',
  minify: true,
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
});
await bundle.close();
