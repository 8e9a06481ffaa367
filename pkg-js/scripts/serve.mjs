/** A static server for one folder, on this machine only. */
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { Failure } from './steps.mjs';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8', '.map': 'application/json', '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.png': 'image/png',
  '.ico': 'image/x-icon', '.webmanifest': 'application/manifest+json', '.woff2': 'font/woff2', '.txt': 'text/plain; charset=utf-8',
};

/** Resolves with the address once it listens; runs until the process ends. */
export function serveFolder(folder, port) {
  const server = createServer((request, response) => {
    const found = locate(folder, request.url ?? '/');
    if (!found || !['GET', 'HEAD'].includes(request.method ?? '')) {
      response.writeHead(found ? 405 : 404, { 'content-type': 'text/plain' }).end(found ? 'only GET' : 'not found');
      return;
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(found.path)] ?? 'application/octet-stream',
      'content-length': found.size,
      // A rebuilt page must be seen at the next reload.
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    });
    if (request.method === 'HEAD') response.end();
    else createReadStream(found.path).on('error', () => response.destroy()).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(error.code === 'EADDRINUSE' ? new Failure(`port ${port} is taken`, 'set PORT to another one, or leave it unset for a free one') : error));
    server.listen(port, '127.0.0.1', () => resolve(`http://localhost:${server.address().port}/`));
  });
}

/** The file an address names; never one outside the folder. */
export function locate(folder, url) {
  let name;
  try {
    name = normalize(decodeURIComponent(url.split(/[?#]/, 1)[0]));
  } catch {
    return undefined;
  }
  if (name.split(sep).includes('..') || name.includes('\0')) return undefined;
  for (const path of [join(folder, name), join(folder, name, 'index.html')]) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile()) return { path, size: stats.size };
  }
  return undefined;
}
