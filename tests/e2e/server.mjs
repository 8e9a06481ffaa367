/**
 * A small static server for the browser tests: folders under prefixes, pages from strings, and routes. It knows
 * nothing of the package but where its files are.
 */
import { createServer } from 'node:http';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const TYPES = {
  '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.map': 'application/json',
  '.mjs': 'text/javascript', '.svg': 'image/svg+xml', '.txt': 'text/plain', '.wasm': 'application/wasm', '.webmanifest': 'application/manifest+json',
};

/** The file a request means, or `undefined`; never one outside the folder. */
function fileOf(mounts, path) {
  const prefix = Object.keys(mounts).filter((p) => path.startsWith(p)).sort((a, b) => b.length - a.length)[0];
  if (prefix === undefined) return undefined;
  const file = normalize(join(mounts[prefix], decodeURIComponent(path.slice(prefix.length))));
  if (!`${file}${sep}`.startsWith(normalize(mounts[prefix] + sep))) return undefined;
  if (!existsSync(file)) return undefined;
  return statSync(file).isDirectory() ? (existsSync(join(file, 'index.html')) ? join(file, 'index.html') : undefined) : file;
}

export async function bodyOf(request) {
  let body = '';
  request.setEncoding('utf8');
  for await (const piece of request) body += piece;
  return body;
}

/**
 * @param {{mounts?: Record<string, string>, pages?: Record<string, string>, routes?: Record<string, (request, response) => unknown>, headers?: Record<string, string>}} what
 *   `mounts`: URL prefix to folder; `pages`: path to HTML; `routes`: "METHOD /path" or "/path" to a handler; `headers`: sent with every page and file.
 */
export async function serve({ mounts = {}, pages = {}, routes = {}, headers = {} }) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname;
    const route = routes[`${request.method} ${path}`] ?? routes[path];
    try {
      if (route) return await route(request, response);
      if (pages[path] !== undefined) return response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(pages[path]);
      const file = fileOf(mounts, path);
      if (!file) return response.writeHead(404, { 'content-type': 'text/plain' }).end(`no ${path}`);
      const type = TYPES[extname(file)] ?? 'application/octet-stream';
      response.writeHead(200, { ...headers, 'content-type': /^text|json/.test(type) ? `${type}; charset=utf-8` : type, 'cache-control': 'no-store' });
      return createReadStream(file).pipe(response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      return response.end(String(error));
    }
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Where the package's modules are when there is no bundler. Nothing else is mapped: they import nothing by a bare name. */
function importMap() {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'pkg-js/package.json'), 'utf8'));
  const modules = Object.entries(exports).filter(([, entry]) => entry.default?.endsWith('.js'));
  return { imports: Object.fromEntries(modules.map(([name, entry]) => [`memstrata${name.slice(1)}`, `/pkg-js/${entry.default.slice(2)}`])) };
}

/** A page with nothing but the package and one module of tests; `window.ready` is set when that module has run. */
export function packagePage(script, { title = 'memstrata' } = {}) {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify(importMap())}</script>
<script type="module">import * as page from '${script}'; Object.assign(window, { page, ready: true });</script></html>`;
}

/** Serves the built package and the folders of these tests; `script` is a module of the tests, such as `/tests/bench/page.mjs`. */
export function servePackage(script, { routes = {} } = {}) {
  return serve({
    mounts: { '/pkg-js/': join(ROOT, 'pkg-js'), '/tests/': join(ROOT, 'tests') },
    pages: { '/': packagePage(script) },
    routes,
  });
}
