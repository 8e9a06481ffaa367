/**
 * Bundles the sources into dist/lib: few small files without bare imports (but for an adapter's own peer), so that a page
 * without a bundler can load them too. They lie one folder deep, as src/engine does, because addresses such as
 * `../wasm/memory_bg.wasm` are relative to the module; rolldown leaves `new URL(…, import.meta.url)` as it is, for the application's bundler to see.
 */
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { DIST, PACKAGE } from './places.mjs';

const ENTRIES = {
  index: 'src/index.ts',
  worker: 'src/engine/worker.ts',
  providers: 'src/providers/index.ts',
  presets: 'src/providers/presets.ts',
  anthropic: 'src/providers/anthropic.ts',
  gemini: 'src/providers/gemini.ts',
  'chrome-prompt': 'src/providers/chrome-prompt.ts',
  'web-llm': 'src/providers/web-llm.ts',
  wllama: 'src/providers/wllama.ts',
  'transformers-js': 'src/providers/transformers-js.ts',
  'provider-ai-sdk': 'src/providers/ai-sdk.ts',
  encryption: 'src/encryption/index.ts',
  import: 'src/import/index.ts',
  retrievers: 'src/retrievers/index.ts',
  'ai-sdk': 'src/adapters/ai-sdk/index.ts',
  langgraph: 'src/adapters/langgraph/index.ts',
  react: 'src/adapters/react/index.ts',
  'assistant-ui': 'src/adapters/assistant-ui/index.ts',
  mem0: 'src/adapters/mem0/index.ts',
  testing: 'src/testing.ts',
};
/** Optional peers: whoever imports the adapter has them. */
const PEERS = ['react'];
const BANNERS = {
  // Hooks run in components of the page only; frameworks that render on servers ask for this word.
  react: "'use client';",
  encryption: '/*! Holds parts of @noble/hashes, MIT License, Copyright (c) 2022 Paul Miller; see NOTICE.md */',
};

const bundle = await rolldown({ cwd: PACKAGE, input: ENTRIES, external: PEERS, tsconfig: false, platform: 'neutral' });
await bundle.write({
  dir: join(DIST, 'lib'),
  format: 'esm',
  minify: true,
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  // One file for what page and lazily loaded parts have in common: an application's bundler would make several of several.
  codeSplitting: { groups: [{ name: 'base', test: /src\/(errors|clock|race|text|engine\/(peer|lock))\.ts$/ }] },
  banner: ({ name }) => BANNERS[name] ?? '',
});
await bundle.close();
