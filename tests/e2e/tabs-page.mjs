/** One of many tabs on one memory. Writes note when they were begun and settled, so that a test can say how long a hand-over took. */
import { MemoryOS } from 'memstrata';
import { scriptedChat } from 'memstrata/testing';

let memory;
const events = [];
const written = { acknowledged: [], failed: [], calls: [] };
let stopped = false;

export async function open(name, options = {}) {
  const opening = new AbortController();
  memory = await MemoryOS.open({ name, userId: 'tester', embedder: 'none', signal: opening.signal, ...options });
  // It was for the opening, and must not keep this tab from taking over later.
  opening.abort();
  memory.on('*', (event) => events.push(event));
}

export const close = () => memory.close();
export const role = async () => (await memory.stats()).role;
export const stats = () => memory.stats();
export const seen = (type) => events.filter((event) => event.type === type);
export const add = (id, text) => memory.addMemory({ userInput: text, agentResponse: '', ...(id ? { id } : {}) });
export const retrieve = (query) => memory.retrieve(query, { strategy: 'keyword' });

/** Adds turns, a few at once, and gives how each ended. */
export async function addMany(prefix, count, atOnce = 8) {
  let n = 0;
  const statuses = [];
  const chain = async () => {
    while (n < count) {
      const id = `${prefix}-${n++}`;
      statuses.push((await add(id, `turn ${id}`)).status);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, chain));
  return statuses.filter((status) => status === 'stored').length;
}

/** Adds turns without ids until it is told to stop, and remembers what was acknowledged. Their text tells them apart. */
export function write(prefix, { atOnce = 4, report = false } = {}) {
  Object.assign(written, { acknowledged: [], failed: [], calls: [] });
  stopped = window.written = false;
  let n = 0;
  const chain = async () => {
    while (!stopped) {
      const text = `${prefix}-${n++}`;
      const from = Date.now();
      try {
        await memory.addMemory({ userInput: text, agentResponse: '' });
        written.acknowledged.push(text);
        // Whoever will be killed cannot be asked afterwards.
        if (report) await fetch('/ack', { method: 'POST', body: text });
      } catch (error) {
        written.failed.push({ text, code: error.code, message: error.message, data: error.data });
      }
      written.calls.push({ from, to: Date.now() });
    }
  };
  void Promise.all(Array.from({ length: atOnce }, chain)).then(() => (window.written = true));
}

export function stop() {
  stopped = true;
}

export const outcome = () => written;

/** Begins a call and gives what became of it, with the time at which it was settled. */
export async function timed(name, ...args) {
  const settled = (result) => ({ at: Date.now(), ...result });
  try {
    return settled({ value: await memory[name](...args) });
  } catch (error) {
    return settled({ code: error.code, data: error.data, message: error.message });
  }
}

/** Texts of every page there is. */
export async function everything() {
  const texts = [];
  for (;;) {
    const some = await memory.pages({ offset: texts.length, limit: 1_000 });
    texts.push(...some.map(({ userInput }) => userInput));
    if (some.length < 1_000) return texts;
  }
}

/** Opens with a model that gives one answer to everything. */
export const openWithModel = (name, answer) => open(name, { chat: scriptedChat(() => answer), config: { updatePolicy: 'offline' } });

/** Asks, and gives what was streamed beside what came of it. */
export async function ask(query) {
  const stream = memory.getResponse(query, { stream: true });
  let streamed = '';
  for await (const piece of stream) streamed += piece;
  const { text, mode } = await stream.result;
  return { streamed, text, mode };
}

/** A model that says half of its answer and waits for `window.finish`; `window.asked` counts. */
export function openWithSlowModel(name) {
  window.asked = 0;
  const chat = {
    specificationVersion: 'memstrata-v1', provider: 'test', modelId: 'slow',
    async chat({ onText, abortSignal }) {
      window.asked += 1;
      onText?.('one half, ');
      await new Promise((resolve, reject) => {
        window.finish = resolve;
        abortSignal.addEventListener('abort', () => reject(abortSignal.reason));
      });
      onText?.('other half');
      return { text: 'one half, other half', finishReason: 'stop' };
    },
  };
  return open(name, { chat, config: { updatePolicy: 'offline' } });
}

/** Asks, and takes the question back in the middle of the answer. */
export async function askAndAbort(query) {
  const controller = new AbortController();
  const answer = timed('getResponse', query, { signal: controller.signal });
  while (!window.asked) await new Promise((resolve) => setTimeout(resolve, 5));
  controller.abort();
  return answer;
}

export const exchanges = async () => (await memory.pages()).map(({ userInput, agentResponse }) => [userInput, agentResponse]);

let worker;

/** A worker of this page's own, with the same calls. */
export function startWorker(name) {
  worker = new Worker('/tests/e2e/tabs-worker.mjs', { type: 'module' });
  return inWorker('open', name);
}

let calls = 0;

export function inWorker(method, ...args) {
  const id = ++calls;
  return new Promise((resolve, reject) => {
    const onMessage = ({ data }) => {
      if (data.id !== id) return;
      worker.removeEventListener('message', onMessage);
      if (data.error) reject(new Error(data.error));
      else resolve(data.value);
    };
    worker.addEventListener('message', onMessage);
    worker.postMessage({ id, method, args });
  });
}

/** Asks the service worker, which is registered at the first call. */
export async function inServiceWorker(method, ...args) {
  await navigator.serviceWorker.register('/service-worker.js', { type: 'module' });
  const { active } = await navigator.serviceWorker.ready;
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
  active.postMessage({ method, args }, [port2]);
  const { value, error } = await answer;
  if (error) throw new Error(error);
  return value;
}
