/**
 * Bundles the sources into dist/lib: few small files without bare imports (but for an adapter's own peer), so that a page without a bundler can load
 * them too. They lie one folder deep, as src/engine does, because addresses such as `../wasm/memory_bg.wasm` are
 * relative to the module; rolldown leaves `new URL(…, import.meta.url)` as it is, for the application's bundler to see.
 * `inline` and `slim` are one file each, without `import()`, which service workers forbid.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
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
  export: 'src/export/index.ts',
  retrievers: 'src/retrievers/index.ts',
  'ai-sdk': 'src/adapters/ai-sdk/index.ts',
  langgraph: 'src/adapters/langgraph/index.ts',
  react: 'src/adapters/react/index.ts',
  'assistant-ui': 'src/adapters/assistant-ui/index.ts',
  mem0: 'src/adapters/mem0/index.ts',
  extension: 'src/extension/index.ts',
  testing: 'src/testing.ts',
  storage: 'src/storage/index.ts',
  'storage-node': 'src/storage/node/index.ts',
  'storage-opfs': 'src/storage/opfs/index.ts',
  'opfs-worker': 'src/storage/opfs/worker.ts',
  mcp: 'src/mcp/index.ts',
  'mcp-bin': 'src/mcp/bin.ts',
  webmcp: 'src/webmcp/index.ts',
};
/** Optional peers: whoever imports the adapter has them. */
const PEERS = ['react'];
const BANNERS = {
  // Hooks run in components of the page only; frameworks that render on servers ask for this word.
  react: "'use client';",
  encryption: '/*! Holds parts of @noble/hashes, MIT License, Copyright (c) 2022 Paul Miller; see NOTICE.md */',
};

const ENGINE = join(PACKAGE, 'src', 'engine');

async function bundleShared() {
  const bundle = await rolldown({ cwd: PACKAGE, input: ENTRIES, external: [...PEERS, /^node:/], tsconfig: false, platform: 'neutral' });
  await bundle.write({
    dir: join(DIST, 'lib'),
    format: 'esm',
    minify: true,
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    banner: ({ name }) => BANNERS[name] ?? '',
    // One file for what page and lazily loaded parts have in common: an application's bundler would make several of several.
    codeSplitting: { groups: [{ name: 'base', test: /src\/(errors|clock|race|text|stream|engine\/(peer|lock))\.ts$/ }] },
  });
  await bundle.close();
}

/** One file, in which `src/engine/{files,start}.ts` are those of `src/engine/<variant>`. Gives its code. */
async function bundleOne(input, variant, packed) {
  const bundle = await rolldown({ cwd: PACKAGE, input, tsconfig: false, platform: 'neutral', plugins: [inPlace(variant, packed)] });
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false });
  await bundle.close();
  if (output.length !== 1) throw new Error(`${input} should become one file, not ${output.map(({ fileName }) => fileName).join(', ')}`);
  return output[0];
}

function inPlace(variant, packed) {
  const folder = join(ENGINE, variant);
  const PACKED = join(folder, 'packed.js');
  return {
    name: 'in-place',
    resolveId(source, importer) {
      if (!importer || !source.startsWith('.')) return undefined;
      const path = resolve(dirname(importer), source);
      if (path === PACKED) return path;
      const replaced = ['files', 'start'].find((name) => path === join(ENGINE, `${name}.js`));
      // What stands in may use what it stands for.
      return replaced && dirname(importer) !== folder ? join(folder, `${replaced}.ts`) : undefined;
    },
    load: (id) => (id === PACKED ? Object.entries(packed).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join('\n') : undefined),
  };
}

/** Where the wasm file goes in the worker's script, which would else hold it a second time. */
const HOLE = '(the wasm file)';

async function bundleInline() {
  const wasm = gzipSync(readFileSync(join(PACKAGE, 'src', 'wasm', 'memory_bg.wasm')), { level: 9 }).toString('base64');
  const script = (await bundleOne('src/engine/worker.ts', 'inline', { wasm: HOLE, worker: undefined })).code;
  const worker = script.split(HOLE);
  if (worker.length !== 2) throw new Error(`the worker's script names the wasm file ${worker.length - 1} times, not once`);
  return bundleOne('src/inline.ts', 'inline', { wasm, worker });
}

function write(name, { code }) {
  // A second file must not creep in: not by an address, nor by an import.
  const found = /import\.meta|\bimport\s*\(/.exec(code);
  if (found) throw new Error(`${name} still has ${found[0]}: ${code.slice(found.index - 80, found.index + 80)}`);
  writeFileSync(join(DIST, 'lib', `${name}.js`), code);
}

await bundleShared();
write('slim', await bundleOne('src/slim.ts', 'slim', {}));
write('inline', await bundleInline());
