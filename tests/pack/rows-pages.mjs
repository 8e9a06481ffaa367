/** Pages without a bundler, and a service worker. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../e2e/server.mjs';
import { appOf, htmlOf, usePage } from './page.mjs';

/** Where the installed package has its entries, for `base/memstrata/`. */
function importMap(dir, base) {
  const { exports } = JSON.parse(readFileSync(join(dir, 'node_modules/memstrata/package.json'), 'utf8'));
  const scripts = Object.entries(exports).filter(([, entry]) => entry.default?.endsWith('.js'));
  const imports = Object.fromEntries(scripts.map(([name, entry]) => [`memstrata${name.slice(1)}`, `${base}/memstrata/${entry.default.slice(2)}`]));
  return `<script type="importmap">${JSON.stringify({ imports })}</script>`;
}

async function onServers(servers, work) {
  try {
    return await work();
  } finally {
    for (const server of servers) await server.close();
  }
}

async function staticPage({ project, browser }) {
  const dir = project('static', { 'app.js': appOf('memstrata') });
  const site = await serve({ mounts: { '/': dir }, pages: { '/': htmlOf('/app.js', importMap(dir, '/node_modules')) } });
  return onServers([site], () => usePage(browser, site.url));
}

/** All of the package comes from another origin, as from a CDN: module workers of another origin are refused, and start through a blob. */
async function otherOrigin({ project, browser }) {
  const dir = project('cdn', { 'app.js': appOf('memstrata') });
  const cdn = await serve({ mounts: { '/': join(dir, 'node_modules') }, headers: { 'access-control-allow-origin': '*' } });
  const site = await serve({ mounts: { '/app.js': join(dir, 'app.js'), '/use.mjs': join(dir, 'use.mjs') }, pages: { '/': htmlOf('/app.js', importMap(dir, cdn.url)) } });
  return onServers([site, cdn], async () => {
    const result = await usePage(browser, site.url);
    const own = result.asked.filter((url) => url.startsWith(`${site.url}/`) && !/\/(app\.js|use\.mjs)?$/.test(url));
    if (own.length > 0) throw new Error(`the page's own origin was asked for ${own.join(', ')}`);
    return result;
  });
}

/** Nothing is served but the one file, so that a second would be missed. */
const inlineOnly = (dir) => ({ '/inline.js': join(dir, 'node_modules/memstrata/dist/lib/inline.js'), '/use.mjs': join(dir, 'use.mjs'), '/app.js': join(dir, 'app.js'), '/worker.js': join(dir, 'worker.js') });

async function inlinePage({ project, browser }) {
  const dir = project('inline', { 'app.js': appOf('/inline.js', "{ embedder: 'none' }") });
  const site = await serve({ mounts: inlineOnly(dir), pages: { '/': htmlOf('/app.js') } });
  return onServers([site], async () => {
    const result = await usePage(browser, site.url);
    const more = result.asked.filter((url) => url.startsWith('http') && !/\/(app\.js|use\.mjs|inline\.js)?$/.test(url));
    if (more.length > 0) throw new Error(`more than one file was asked for: ${more.join(', ')}`);
    return result;
  });
}

const SERVICE_WORKER = `import { MemoryOS } from './inline.js';
import { use } from './use.mjs';
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('message', (event) => event.waitUntil(use(MemoryOS, event.data, { embedder: 'none' }).then(
  (result) => event.ports[0].postMessage(result),
  (error) => event.ports[0].postMessage({ failed: \`\${error.code ?? error.name}: \${error.message}\` }),
)));
`;
const REGISTERING = `const { active, installing, waiting } = await navigator.serviceWorker.register('/worker.js', { type: 'module' });
const worker = active ?? installing ?? waiting;
window.use = (first) => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => resolve(data);
  worker.postMessage(first, [port2]);
});
window.ready = true;
`;

async function serviceWorker({ project, browser }) {
  const dir = project('service-worker', { 'app.js': REGISTERING, 'worker.js': SERVICE_WORKER });
  const site = await serve({ mounts: inlineOnly(dir), pages: { '/': htmlOf('/app.js') } });
  return onServers([site], async () => ({ ...(await usePage(browser, site.url)), thread: 'service worker' }));
}

export const pages = [
  { name: 'static', quick: true, entry: 'memstrata', run: staticPage, expect: { thread: 'worker', vectors: true } },
  { name: 'cdn', quick: true, entry: 'memstrata', run: otherOrigin, expect: { thread: 'worker', vectors: true } },
  { name: 'inline', quick: true, entry: 'memstrata/inline', run: inlinePage, expect: { thread: 'worker', vectors: false } },
  { name: 'service-worker', quick: true, entry: 'memstrata/inline', run: serviceWorker, expect: { thread: 'service worker', vectors: false } },
];
