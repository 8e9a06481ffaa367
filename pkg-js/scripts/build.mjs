/**
 * Builds dist/: the crate to wasm, its glue, the TypeScript. What is fresh is left alone. Alone it weighs the result too.
 *   npm --prefix pkg-js run build
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CARGO_TARGET, DIST, PACKAGE, ROOT, wasmBindgenBin, wasmBindgenVersion } from './places.mjs';
import { shortenImports } from './glue.mjs';
import { nameByOrder } from './order.mjs';
import { fingerprint, main, mustRun, step } from './steps.mjs';
import { setup } from './setup.mjs';

/** Built files stand beside the sources too, so that tests of the sources meet the real core. */
const GLUE = join(PACKAGE, 'src', 'wasm');
const WASM_FILES = ['memory.js', 'memory_bg.wasm'];
const TARGET = 'wasm32-unknown-unknown';

/** What rustc turns on for this target, and what .cargo/config.toml adds; wasm-opt must not use less. */
const WASM_FEATURES = ['simd', 'bulk-memory', 'nontrapping-float-to-int', 'sign-ext', 'mutable-globals', 'reference-types', 'multivalue'];

/**
 * Inlining makes the file larger than it makes it faster: what is hot is inlined by the compiler already. Data that is cut wherever
 * it is zero is smaller, but not once it is compressed. The first kilobyte of memory is the far end of the stack, so an address and
 * a constant may be added up by the instruction that reads there.
 */
const FOR_SIZE = [
  '-Os', '--one-caller-inline-max-function-size=1', '--always-inline-max-function-size=1', '--skip-pass=memory-packing',
  '--low-memory-unused', '--optimize-added-constants-propagate',
];

export async function build({ toolchain }) {
  await step('wasm', () => buildWasm(toolchain));
  await step('TypeScript', buildTypeScript);
}

async function buildWasm(toolchain) {
  const inputs = ['src', 'Cargo.toml', 'Cargo.lock', '.cargo/config.toml', 'pkg-js/scripts/glue.mjs', 'pkg-js/scripts/order.mjs', 'pkg-js/scripts/wasm-bytes.mjs'].map((name) => join(ROOT, name));
  const wanted = fingerprint(inputs, [toolchain.join(' '), wasmBindgenVersion(), ...WASM_FEATURES]);
  const stamp = join(GLUE, '.built');
  if (WASM_FILES.every((name) => existsSync(join(GLUE, name))) && readIfThere(stamp) === wanted) return 'unchanged';
  rmSync(stamp, { force: true });

  const out = join(CARGO_TARGET, 'memstrata-glue');
  await compile(toolchain, [], out, 'memory');
  const [optimised, named, ordered] = ['optimised.wasm', 'named.wasm', 'ordered.wasm'].map((name) => join(out, name));
  await optimise(join(out, 'memory_bg.wasm'), optimised);
  writeFileSync(named, nameByOrder(readFileSync(optimised)));
  await wasmOpt(named, ['--reorder-functions-by-name', '--strip-debug'], ordered);
  const short = shortenImports(readFileSync(ordered), readFileSync(join(out, 'memory.js'), 'utf8'));
  writeFileSync(join(GLUE, 'memory.js'), short.glue);
  writeFileSync(join(GLUE, 'memory_bg.wasm'), short.wasm);
  writeFileSync(stamp, wanted);
  return `${statSync(join(out, 'memory_bg.wasm')).size} to ${short.wasm.length} bytes by wasm-opt`;
}

/**
 * The search over vectors alone, for the benchmark: the same crate in the same profile, through the same optimiser.
 * @returns the folder with vector_bench.mjs and vector_bench.wasm
 */
export async function buildVectorBench({ toolchain }) {
  const out = join(CARGO_TARGET, 'memstrata-vector-bench');
  await step('wasm of the search over vectors', async () => {
    await compile(toolchain, ['--features', 'vector-bench'], out, 'vector_bench');
    await optimise(join(out, 'vector_bench_bg.wasm'), join(out, 'vector_bench.wasm'));
    renameSync(join(out, 'vector_bench.js'), join(out, 'vector_bench.mjs'));
  });
  return out;
}

async function compile(toolchain, features, out, name) {
  await mustRun('cargo', [...toolchain, 'build', '--lib', '--release', '--target', TARGET, ...features], { cwd: ROOT, remedy: 'mend what the compiler says above' });
  const binary = join(CARGO_TARGET, TARGET, 'release', 'memstrata.wasm');
  // The package names its wasm file itself, in an expression that bundlers understand; the types are written by hand.
  const flags = ['--target', 'web', '--out-dir', out, '--out-name', name, '--no-typescript', '--omit-default-module-path'];
  await mustRun(join(wasmBindgenBin(), 'wasm-bindgen'), [binary, ...flags]);
}

const optimise = (from, to) => wasmOpt(from, [...FOR_SIZE, '--strip-debug', '--strip-producers'], to);

async function wasmOpt(from, passes, to) {
  const features = WASM_FEATURES.map((name) => `--enable-${name}`);
  await mustRun(process.execPath, [join(PACKAGE, 'node_modules', 'binaryen', 'bin', 'wasm-opt'), from, ...passes, ...features, '-o', to]);
}

async function buildTypeScript() {
  const inputs = ['src', 'scripts/bundle.mjs', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.node.json', 'package.json', 'package-lock.json'].map((name) => join(PACKAGE, name));
  const wanted = fingerprint(inputs);
  const stamp = join(DIST, '.built');
  if (existsSync(join(DIST, 'lib', 'index.js')) && readIfThere(stamp) === wanted) return 'unchanged';
  // Files of sources that are gone must not be published.
  rmSync(DIST, { recursive: true, force: true });
  for (const project of ['tsconfig.build.json', 'tsconfig.node.json']) {
    await mustRun(process.execPath, [join(PACKAGE, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project], { cwd: PACKAGE, remedy: 'mend what the compiler says above' });
  }
  await mustRun(process.execPath, [join(PACKAGE, 'scripts', 'bundle.mjs')], { cwd: PACKAGE });
  mkdirSync(join(DIST, 'wasm'), { recursive: true });
  copyFileSync(join(GLUE, 'memory_bg.wasm'), join(DIST, 'wasm', 'memory_bg.wasm'));
  // The licence lies at the root of the repository, which is not published.
  copyFileSync(join(ROOT, 'LICENSE'), join(DIST, 'LICENSE'));
  writeFileSync(stamp, wanted);
  return undefined;
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main(async () => {
    await build(await setup());
    // A program of its own: it needs Vite, which is there only after the set-up.
    await step('sizes', () => mustRun(process.execPath, [join(PACKAGE, 'scripts', 'size.mjs')], { remedy: 'see what grew in the list above' }));
  });
}
