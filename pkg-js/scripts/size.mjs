/**
 * Weighs what a page downloads: the package bundled by Vite and minified, as an application would have it. The limit is
 * on the ordinary way, page and worker together; a page that runs the engine on its own thread loads less.
 *   node scripts/size.mjs      prints the sizes, and ends with 1 if one is over its limit
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { DIST, PACKAGE } from './places.mjs';
import { say } from './steps.mjs';

const KIB = 1024;
const MOST_WASM_GZ = 350 * KIB;
const MOST_JS_GZ = 25 * KIB;

/** What an entry adds to the JavaScript of `memstrata`: its scripts but those that `memstrata` loads itself. */
const MOST_OF_ENTRY_GZ = { inline: 390, slim: 28, worker: 4.2, providers: 8, import: 10, export: 12, retrievers: 1.5, testing: 5.5, encryption: 16 };
/** For an entry that is not listed: an adapter should be small. */
const MOST_OF_OTHERS_GZ = 8;

const gzipped = (content) => gzipSync(content, { level: 9 }).length;

async function measure() {
  const files = await bundle();
  const wasm = readFileSync(join(DIST, 'wasm', 'memory_bg.wasm'));
  const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  return {
    wasm: wasm.length,
    wasmGz: gzipped(wasm),
    table: statSync(join(PACKAGE, exports['./table'])).size,
    files,
    jsGz: files.reduce((sum, file) => sum + file.gz, 0),
  };
}

/** The scripts loaded by an application that opens a memory in a worker. */
async function bundle() {
  const root = mkdtempSync(join(PACKAGE, 'node_modules', '.size-'));
  try {
    writeFileSync(join(root, 'app.js'), "export { MemoryOS, openAICompatible, isMemoryOSError } from '../../dist/lib/index.js';\n");
    const result = await build({
      root,
      configFile: false,
      logLevel: 'error',
      worker: { format: 'es', rolldownOptions: { output: { codeSplitting: false } } },
      build: {
        write: false,
        target: 'es2022',
        minify: true,
        assetsInlineLimit: 0,
        modulePreload: false,
        rolldownOptions: { input: join(root, 'app.js'), preserveEntrySignatures: 'strict' },
      },
    });
    const outputs = [result].flat().flatMap(({ output }) => output);
    const chunks = new Map(outputs.map((file) => [file.fileName, file]));
    const entry = outputs.find((file) => file.isEntry);
    const worker = outputs.find((file) => /worker-[^/]*\.js$/.test(file.fileName));
    if (!worker) throw new Error('Vite did not find the worker of the package');
    if (!outputs.some((file) => file.fileName.endsWith('.wasm'))) throw new Error('Vite did not find the wasm file of the package');
    const atStart = new Set([entry.fileName, ...entry.imports, worker.fileName]);
    return [...atStart].map((name) => {
      const file = chunks.get(name);
      return { name: name.replace(/^assets\//, '').replace(/-[\w-]{8}\.js$/, '.js'), gz: gzipped(file.code ?? file.source) };
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The scripts of dist/lib that one of them loads before it runs, itself included. */
function loadedBy(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  const code = readFileSync(join(DIST, 'lib', name), 'utf8');
  for (const [, other] of code.matchAll(/(?:^|[;}\n])(?:import|export)\b[^;"'`]*["'`]\.\/([\w-]+\.js)["'`]/g)) loadedBy(other, found);
  return found;
}

/** The entries beside `memstrata`, each with what it weighs and may weigh. */
function entries() {
  const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const core = loadedBy('index.js');
  return Object.entries(exports).filter(([name, { default: path }]) => name !== '.' && path?.endsWith('.js')).map(([name, { default: path }]) => {
    const own = [...loadedBy(basename(path))].filter((file) => !core.has(file));
    const gz = own.reduce((sum, file) => sum + gzipped(readFileSync(join(DIST, 'lib', file))), 0);
    return { name: name.slice(2), gz, most: (MOST_OF_ENTRY_GZ[name.slice(2)] ?? MOST_OF_OTHERS_GZ) * KIB };
  });
}

const kib = (bytes) => `${(bytes / KIB).toFixed(1)} KiB`;
const sizes = await measure();
say(`  wasm ${kib(sizes.wasm)}, ${kib(sizes.wasmGz)} gzipped (at most ${kib(MOST_WASM_GZ)})`);
say(`  JavaScript ${kib(sizes.jsGz)} gzipped (at most ${kib(MOST_JS_GZ)}): ${sizes.files.map(({ name, gz }) => `${name} ${kib(gz)}`).join(', ')}`);
say(`  embedding table ${kib(sizes.table)}, loaded after opening`);
if (sizes.wasmGz > MOST_WASM_GZ) say('  the wasm file is too large: see which dependency grew, and its default features');
if (sizes.jsGz > MOST_JS_GZ) say('  the JavaScript is too large: see which file grew');
const others = entries();
for (const { name, gz, most } of others) say(`  memstrata/${name.padEnd(12)} ${kib(gz).padStart(10)} gzipped (at most ${kib(most)})${gz > most ? ': too large, see what it has begun to import' : ''}`);
process.exitCode = sizes.wasmGz > MOST_WASM_GZ || sizes.jsGz > MOST_JS_GZ || others.some(({ gz, most }) => gz > most) ? 1 : 0;
