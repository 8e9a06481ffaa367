// A panel, driven by the test.
import { connectMemory } from 'memstrata/extension';

window.reconnects = 0;
const memory = connectMemory({ onReconnect: () => (window.reconnects += 1) });
const told = (error) => ({ code: error.code, data: error.data, message: error.message });
const events = [];
memory.on('*', ({ type }) => events.push(type));
let stopped = false;
const calls = [];

Object.assign(window, {
  memory,
  events,
  told,
  /** Adds and asks, one after the other, until it is stopped. */
  async write(name) {
    for (let n = 0; !stopped; n += 1) {
      const from = Date.now();
      const text = `${name}-${n}`;
      const call = n % 3 === 2 ? memory.stats() : memory.addMemory({ userInput: text, agentResponse: '' });
      const outcome = await call.then(() => ({}), told);
      calls.push({ from, to: Date.now(), text: n % 3 === 2 ? null : text, ...outcome });
    }
    window.written = calls;
  },
  stop: () => (stopped = true),
  count: () => calls.length,
  async everything() {
    return (await memory.pages({ limit: 10_000 })).map(({ userInput }) => userInput);
  },
  ready: true,
});
