/** The part of the package's tests that runs in the browser: a page that holds nothing but the package. */
import { MemoryOS, openAICompatible } from 'memstrata';
import { pageOf } from '../bench/grammar.mjs';
import { embedderReady } from '../lib/memory.mjs';

let memory;

export async function open(name, { tableReady = false, ...options } = {}) {
  memory = await MemoryOS.open({ name, userId: 'tester', ...options });
  if (tableReady) await embedderReady(memory);
}

export const close = () => memory.close();
export const flush = () => memory.flush();
export const stats = () => memory.stats();
export const add = (input) => memory.addMemory(input);
export const addMany = (inputs) => memory.addMany(inputs);
export const addAll = (inputs) => Promise.all(inputs.map((input) => memory.addMemory(input)));
export const retrieve = (query, options) => memory.retrieve(query, options);

/** Every page there is, from the listing and from the tiers; the two must agree. */
export async function everything() {
  const listed = [];
  for (;;) {
    const some = await memory.pages({ offset: listed.length, limit: 500 });
    listed.push(...some);
    if (some.length < 500) break;
  }
  const tiers = await memory.tiers();
  const inTiers = [...tiers.shortTerm.map((page) => page.id), ...[...tiers.midTerm, ...tiers.archive].flatMap((segment) => segment.pages)];
  return { listed: listed.map(({ id, clientId, tier, waiting }) => ({ id, clientId, tier, waiting })), inTiers };
}

const post = (path, body) => fetch(path, { method: 'POST', body: JSON.stringify(body) });

/** Adds pages in four transactions; the server hears when, after the last, the first page sinks while others still wait. */
export async function addUntilSinking(count) {
  for (let n = 0; n < count; n += count / 4) await memory.addMany(Array.from({ length: count / 4 }, (_, k) => pageOf(n + k)));
  const stop = memory.on('consolidated', async () => {
    stop();
    await post('/sinking', { waiting: (await memory.stats()).shortTerm.waiting });
  });
}

/** Adds pages without end, a few at once as a page with tools would, and acknowledges each that was said to be durable. */
export async function addForEver(from) {
  let n = from;
  const chain = async () => {
    for (;;) {
      const page = pageOf(n++);
      await post('/attempt', page.id);
      await memory.addMemory(page);
      await post('/ack', page.id);
    }
  };
  await Promise.all([chain(), chain(), chain()]);
}

/** Asks a model over HTTP; gives the text as it streamed, the result, or the error's code. */
export async function chat(options, text) {
  const model = openAICompatible({ apiKey: 'test-key', model: 'test', ...options });
  const pieces = [];
  try {
    const result = await model.chat({ messages: [{ role: 'user', content: text }], onText: (delta) => pieces.push(delta) });
    return { streamed: pieces.join(''), ...result };
  } catch (error) {
    return { streamed: pieces.join(''), error: { code: error.code, message: error.message } };
  }
}

/** The same model behind a memory: the answer is streamed, and what was said is stored. */
export async function respond(options, query) {
  const model = openAICompatible({ apiKey: 'test-key', model: 'test', ...options });
  const own = await MemoryOS.open({ name: `respond-${performance.now()}`, userId: 'tester', chat: model, embedder: 'none' });
  try {
    const stream = own.getResponse(query, { stream: true });
    let streamed = '';
    for await (const piece of stream) streamed += piece;
    const { text, mode } = await stream.result;
    const [page] = await own.pages({ limit: 1 });
    return { streamed, text, mode, stored: page };
  } finally {
    await own.close();
  }
}
