/** Applications that a bundler makes. */
import { build as esbuild } from 'esbuild';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build as viteBuild, createServer, preview } from 'vite';
import webpack from 'webpack';
import { serve } from '../e2e/server.mjs';
import { appOf, htmlOf, usePage } from './page.mjs';

/** Nothing but the page's own files, and an empty icon; `wasm` lets it compile WebAssembly. */
const policy = (wasm) => ({ 'content-security-policy': `default-src 'self'; img-src data:; script-src 'self'${wasm ? " 'wasm-unsafe-eval'" : ''}` });

async function served(browser, dir, options = {}) {
  const server = await serve({ mounts: { '/': dir }, headers: options.headers });
  try {
    return await usePage(browser, `${server.url}/index.html`, options);
  } finally {
    await server.close();
  }
}

const viteProject = ({ project }, name, entry, options) => project(name, { 'index.html': htmlOf('/app.js'), 'app.js': appOf(entry, options) });
const vite = (root, more = {}) => ({ root, configFile: false, logLevel: 'error', cacheDir: join(root, '.vite'), ...more });

async function viteDev(context, name, entry, options, more) {
  const server = await createServer(vite(viteProject(context, name, entry, options), { server: { port: 0, host: '127.0.0.1' }, ...more }));
  try {
    await server.listen();
    return await usePage(context.browser, `http://127.0.0.1:${server.httpServer.address().port}/`);
  } finally {
    await server.close();
  }
}

/** The development server bundles dependencies in advance, unless it is told not to. */
async function prebundled(context, name, entry, options) {
  const result = await viteDev(context, name, entry, options);
  if (!result.asked.some((url) => url.includes(`/deps/${entry.replace('/', '_')}.js`))) throw new Error(`Vite did not bundle it in advance: ${result.asked.join(', ')}`);
  return result;
}

async function vitePreview(context) {
  const root = viteProject(context, 'vite-build', 'memstrata');
  await viteBuild(vite(root, { worker: { format: 'es' } }));
  const server = await preview(vite(root, { preview: { port: 0, host: '127.0.0.1' } }));
  try {
    return await usePage(context.browser, `http://127.0.0.1:${server.httpServer.address().port}/`);
  } finally {
    await server.close();
  }
}

/** A page under a policy that allows nothing but its own files. */
async function underPolicy(context, name, entry, options, { allow, wasm = true } = {}) {
  const root = viteProject(context, name, entry, options);
  await viteBuild(vite(root, { worker: { format: 'es' }, build: { modulePreload: false } }));
  return served(context.browser, join(root, 'dist'), { headers: policy(wasm), allow });
}

/** Without leave for WebAssembly: an error that names the remedy. */
async function policyForbids(context) {
  const said = await underPolicy(context, 'csp-forbids', 'memstrata', KEYWORDS, { wasm: false, allow: [/Content Security Policy/] }).then(() => 'it opened', (error) => error.message);
  if (!/^FORBIDDEN: .*add 'wasm-unsafe-eval' to script-src$/.test(said)) throw new Error(said);
  return { note: 'FORBIDDEN, as it should be' };
}

export function runWebpack(config) {
  return new Promise((resolve, reject) => {
    const compiler = webpack({ mode: 'production', performance: { hints: false }, ...config });
    compiler.run((error, stats) => compiler.close(() => {
      if (error) reject(error);
      else if (stats.hasErrors() || stats.hasWarnings()) reject(new Error(stats.toString({ all: false, errors: true, warnings: true })));
      else resolve();
    }));
  });
}

async function webpackPage(context) {
  const root = context.project('webpack', { 'app.js': appOf('memstrata'), 'index.html': htmlOf('/dist/app.js') });
  await runWebpack({ context: root, entry: './app.js', output: { path: join(root, 'dist'), filename: 'app.js', publicPath: '/dist/' } });
  return served(context.browser, root);
}

const esbuildOf = (root, more) => esbuild({ absWorkingDir: root, entryPoints: ['app.js'], bundle: true, format: 'esm', outdir: 'dist', logLevel: 'silent', ...more });

/** esbuild leaves addresses of files alone: the application imports the files, and says where they are. */
async function esbuildAssets(context) {
  const imports = "import wasm from 'memstrata/memory.wasm';\nimport table from 'memstrata/table';";
  const root = context.project('esbuild', { 'app.js': appOf('memstrata', "{ assets: { wasm, table, worker: '/dist/worker.js' } }", imports), 'worker.js': "import 'memstrata/worker';\n", 'index.html': htmlOf('/dist/app.js') });
  await esbuildOf(root, { entryPoints: ['app.js', 'worker.js'], splitting: true, publicPath: '/dist/', loader: { '.wasm': 'file', '.safetensors': 'file' } });
  return served(context.browser, root);
}

async function esbuildSlim(context) {
  const root = context.project('esbuild-slim', { 'app.js': appOf('memstrata/slim', "{ embedder: 'none', assets: { wasm } }", "import wasm from 'memstrata/memory.wasm';"), 'index.html': htmlOf('/dist/app.js') });
  await esbuildOf(root, { loader: { '.wasm': 'binary' } });
  return served(context.browser, root);
}

async function esbuildInline(context) {
  const root = context.project('esbuild-inline', { 'app.js': appOf('memstrata/inline', "{ embedder: 'none' }"), 'index.html': htmlOf('/dist/app.js') });
  await esbuildOf(root);
  mkdirSync(join(root, 'site'));
  for (const name of ['index.html', 'dist']) cpSync(join(root, name), join(root, 'site', name), { recursive: true });
  return served(context.browser, join(root, 'site'));
}

const KEYWORDS = "{ embedder: 'none' }";

export const bundlers = [
  { name: 'vite-dev', entry: 'memstrata', run: (context) => prebundled(context, 'vite-dev', 'memstrata', '{}'), expect: { thread: 'worker', vectors: true } },
  { name: 'vite-dev-excluded', entry: 'memstrata', run: (context) => viteDev(context, 'vite-dev-excluded', 'memstrata', '{}', { optimizeDeps: { exclude: ['memstrata'] } }), expect: { thread: 'worker', vectors: true } },
  { name: 'vite-dev-inline', entry: 'memstrata/inline', run: (context) => prebundled(context, 'vite-dev-inline', 'memstrata/inline', KEYWORDS), expect: { thread: 'worker', vectors: false } },
  { name: 'vite-build', quick: true, entry: 'memstrata', run: vitePreview, expect: { thread: 'worker', vectors: true } },
  { name: 'webpack', entry: 'memstrata', run: webpackPage, expect: { thread: 'worker', vectors: true } },
  { name: 'esbuild', entry: 'memstrata', run: esbuildAssets, expect: { thread: 'worker', vectors: true } },
  { name: 'esbuild-slim', entry: 'memstrata/slim', run: esbuildSlim, expect: { thread: 'page', vectors: false } },
  { name: 'esbuild-inline', entry: 'memstrata/inline', run: esbuildInline, expect: { thread: 'worker', vectors: false } },
  { name: 'csp', quick: true, entry: 'memstrata', run: (context) => underPolicy(context, 'csp', 'memstrata', '{}'), expect: { thread: 'worker', vectors: true } },
  { name: 'csp-forbids', entry: 'memstrata', run: policyForbids, expect: {} },
  {
    // The policy forbids a worker out of a blob, and the browser says so in the console.
    name: 'csp-inline', entry: 'memstrata/inline', run: (context) => underPolicy(context, 'csp-inline', 'memstrata/inline', KEYWORDS, { allow: [/Creating a worker from 'blob:/] }), expect: { thread: 'page', vectors: false },
  },
];
