/** Run in a project that has the package: in a worker whose every browser global throws when it is looked at, each entry is imported. */
import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const FORBIDDEN = ['window', 'document', 'navigator', 'location', 'indexedDB', 'Worker', 'fetch', 'localStorage', 'caches', 'BroadcastChannel'];

const { exports, peerDependencies = {} } = JSON.parse(readFileSync('node_modules/memstrata/package.json', 'utf8'));
const entries = () => Object.entries(exports)
  .filter(([, entry]) => entry.default?.endsWith('.js'))
  .map(([name]) => `memstrata${name.slice(1)}`);

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.on('message', async ({ imported, peers, error }) => {
    // Made by another copy of the package, and cloned on its way here.
    const { isMemoryOSError } = await import('memstrata');
    if (!isMemoryOSError(error) || error.code !== 'INVALID_ARGUMENT') throw new Error(`not known as an error of the package: ${error.stack}`);
    console.log(JSON.stringify({ imported, peers }));
  });
} else {
  for (const name of FORBIDDEN) Object.defineProperty(globalThis, name, { configurable: true, get: () => { throw new Error(`importing looked at ${name}`); } });
  // The traps are real: without this the rest would prove nothing.
  let trapped = 0;
  for (const name of FORBIDDEN) try { void globalThis[name]; } catch { trapped += 1; }
  if (trapped !== FORBIDDEN.length) throw new Error('a trap does not close');
  const names = entries();
  // An adapter may import what it adapts to, which this project does not have.
  const isPeer = ({ code, message }) => code === 'ERR_MODULE_NOT_FOUND' && Object.keys(peerDependencies).some((peer) => message.includes(`'${peer}'`));
  const peers = [];
  for (const name of names) {
    await import(name).catch((error) => {
      if (!isPeer(error)) throw error;
      peers.push(name);
    });
  }
  const { MemoryOS } = await import('memstrata/slim');
  const error = await MemoryOS.open({}).catch((reason) => reason);
  parentPort.postMessage({ imported: names.length - peers.length, peers: peers.length, error });
}
