/**
 * What the examples of the READMEs take as given: a memory, a model, a page. Loaded before each; an example that declares a name
 * itself has its own.
 */
import { MemoryOS, openAICompatible } from 'memstrata';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { scriptedChat } from 'memstrata/testing';

const memory = await MemoryOS.open({ name: 'stand-in', userId: 'ines', embedder: 'none' });
await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'A fine name.' });
await memory.addFact({ attribute: 'pet', value: 'Rex' });

const turn = { user_input: 'I keep bees.', agent_response: 'Since when?', timestamp: '2025-06-01 10:00:00' };

/** A model of the AI SDK that says this. */
function spoken(text) {
  const chunks = [{ type: 'stream-start', warnings: [] }, { type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: text }, { type: 'text-end', id: '1' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } }];
  return new MockLanguageModelV4({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) });
}

/** An extension's `chrome`, all of it in one realm. */
function extension() {
  const event = () => {
    const listeners = new Set();
    return { listeners, addListener: (listener) => listeners.add(listener), removeListener: (listener) => listeners.delete(listener) };
  };
  const onConnect = event();
  const url = 'chrome-extension://id/panel.html';
  const portPair = (name) => {
    const [a, b] = [0, 1].map(() => ({ name, sender: { id: 'id', url, origin: 'chrome-extension://id' }, onMessage: event(), onDisconnect: event() }));
    for (const [own, other] of [[a, b], [b, a]]) {
      own.postMessage = (message) => queueMicrotask(() => other.onMessage.listeners.forEach((listener) => listener(structuredClone(message))));
      own.disconnect = () => other.onDisconnect.listeners.forEach((listener) => listener());
    }
    return [a, b];
  };
  return {
    runtime: {
      id: 'id', onConnect, onMessage: event(), getURL: (path) => `chrome-extension://id/${path}`, getContexts: async () => [{}], sendMessage: async () => undefined,
      connect({ name }) {
        const [near, far] = portPair(name);
        queueMicrotask(() => onConnect.listeners.forEach((listener) => listener(far)));
        return near;
      },
    },
    offscreen: { createDocument: async () => undefined },
  };
}

Object.assign(globalThis, {
  MemoryOS, openAICompatible, memory,
  chat: scriptedChat(({ responseSchema }) => (responseSchema ? '{"order":[1]}' : 'yes')),
  // Files of the MemoryOS Python package.
  shortTerm: [turn], midTerm: { sessions: {}, access_frequency: {} }, longTerm: { user_profiles: {}, knowledge_base: [], assistant_knowledge: [] },
  // A file to import, and where an export goes.
  file: JSON.stringify([{ userInput: 'I keep bees.', agentResponse: 'Since when?' }]), sink: new WritableStream(), another: memory,
  yourModel: spoken('Rex.'), messages: [{ role: 'user', content: 'Who is Rex?' }],
  builder: { compile: ({ store }) => store },
  chrome: extension(),
  onProgress: () => {}, signal: new AbortController().signal, showAnew: () => {},
  document: { body: { append: (text) => process.stdout.write(text) } },
});

// The examples' model server; nothing else may be reached.
const answers = {
  '/v1/chat/completions': () => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Rex.' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
  '/v1/embeddings': ({ input }) => JSON.stringify({ data: input.map((_, index) => ({ index, embedding: Array.from({ length: 768 }, (_, i) => Math.cos(i)) })) }),
};
globalThis.fetch = async (address, { body }) => {
  const { origin, pathname } = new URL(address);
  if (origin !== 'http://localhost:11434' || !answers[pathname]) throw new TypeError(`no example asks ${address}`);
  const type = pathname.endsWith('completions') ? 'text/event-stream' : 'application/json';
  return new Response(answers[pathname](JSON.parse(body)), { headers: { 'content-type': type } });
};
