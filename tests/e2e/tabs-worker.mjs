/** A worker that opens a memory itself. Import maps are not for workers, so the package is named by its file. */
import { MemoryOS } from '/pkg-js/dist/lib/index.js';

let memory;
const calls = {
  async open(name) {
    memory = await MemoryOS.open({ name, userId: 'tester', embedder: 'none' });
  },
  role: async () => (await memory.stats()).role,
  add: (id, text) => memory.addMemory({ id, userInput: text, agentResponse: '' }),
  everything: async () => (await memory.pages({ limit: 1_000 })).map(({ userInput }) => userInput),
};

self.addEventListener('message', async ({ data: { id, method, args } }) => {
  try {
    self.postMessage({ id, value: await calls[method](...args) });
  } catch (error) {
    self.postMessage({ id, error: `${error.code}: ${error.message}` });
  }
});
