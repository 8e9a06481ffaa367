/**
 * What the examples of the READMEs take as given: a memory, a model, a page. Loaded before each; an example that declares a name
 * itself has its own.
 */
import { MemoryOS, openAICompatible } from 'memstrata';
import { scriptedChat } from 'memstrata/testing';

const memory = await MemoryOS.open({ name: 'stand-in', userId: 'ines', embedder: 'none' });
await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'A fine name.' });
await memory.addFact({ attribute: 'pet', value: 'Rex' });

const turn = { user_input: 'I keep bees.', agent_response: 'Since when?', timestamp: '2025-06-01 10:00:00' };

Object.assign(globalThis, {
  MemoryOS, openAICompatible, memory,
  chat: scriptedChat(({ responseSchema }) => (responseSchema ? '{"order":[1]}' : 'yes')),
  // Files of the MemoryOS Python package.
  shortTerm: [turn], midTerm: { sessions: {}, access_frequency: {} }, longTerm: { user_profiles: {}, knowledge_base: [], assistant_knowledge: [] },
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
