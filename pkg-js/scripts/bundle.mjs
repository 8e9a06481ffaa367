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
  retrievers: 'src/retrievers/index.ts',
  extension: 'src/extension/index.ts',
  testing: 'src/testing.ts',
};

const bundle = await rolldown({ cwd: PACKAGE, input: ENTRIES, tsconfig: false, platform: 'neutral' });
await bundle.write({
  dir: join(DIST, 'lib'),
  format: 'esm',
  minify: true,
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  // One file for what page and lazily loaded parts have in common: an application's bundler would make several of several.
  codeSplitting: { groups: [{ name: 'base', test: /src\/(errors|clock|race|text|stream|engine\/(peer|lock))\.ts$/ }] },
});
await bundle.close();
