/** A service worker that opens a memory. `import()` is forbidden here, so the test bundles it into one file. */
import { MemoryOS } from '../../pkg-js/dist/lib/index.js';

let memory;
const calls = {
  async open(name) {
    memory = await MemoryOS.open({ name, userId: 'tester', embedder: 'none', assets: { wasm: '/pkg-js/dist/wasm/memory_bg.wasm' } });
  },
  role: async () => (await memory.stats()).role,
  add: (id, text) => memory.addMemory({ id, userInput: text, agentResponse: '' }),
};

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => {
  const { method, args } = event.data;
  const answer = async () => {
    try {
      event.ports[0].postMessage({ value: await calls[method](...args) });
    } catch (error) {
      event.ports[0].postMessage({ error: `${error.code}: ${error.message}` });
    }
  };
  event.waitUntil(answer());
});
