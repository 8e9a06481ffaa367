// The memory in the service worker itself, where it is lost whenever Chrome stops the worker.
import { serveMemory } from 'memstrata/extension';

/** Answers the second time it is asked, after any number of stops. */
const chat = {
  specificationVersion: 'memstrata-v1',
  provider: 'test',
  modelId: 'slow',
  async chat({ onText, abortSignal }) {
    const { asked = 0 } = await chrome.storage.local.get('asked');
    await chrome.storage.local.set({ asked: asked + 1 });
    onText?.('one half, ');
    if (asked === 0) await new Promise((_, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason)));
    onText?.('other half');
    return { text: 'one half, other half', finishReason: 'stop' };
  },
};

// Not awaited: a service worker has no top-level await.
void serveMemory(
  { name: 'worker', userId: 'u', embedder: 'none', chat, config: { updatePolicy: 'offline' }, assets: { wasm: chrome.runtime.getURL('memory.wasm'), table: false } },
  { allow: [{ sites: 'http://127.0.0.1/allowed*', calls: ['addMemory', 'retrieve'] }] },
);
