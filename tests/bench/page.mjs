/** The part of the benchmark that runs in the browser, in a page that holds nothing but the package. */
import { MemoryOS } from 'memstrata';
import { embedderReady } from '../lib/memory.mjs';
import { pageOf, questionOf } from './grammar.mjs';

let memory;
let events = [];

/** Milliseconds until an existing or new memory can be used. */
export async function open(name) {
  const start = performance.now();
  memory = await MemoryOS.open({ name, userId: 'bench' });
  const ms = performance.now() - start;
  memory.on('*', (event) => events.push(event.type));
  // The table comes after opening; what is measured later is measured with it.
  await embedderReady(memory);
  return { ms, readyMs: performance.now() - start };
}

export const close = () => memory.close();
export const stats = () => memory.stats();

/** Adds pages `from` up to `end` fast, then lets all work that follows from them finish. */
export async function fill(from, end) {
  const BATCH = 100;
  for (let n = from; n < end; n += BATCH) {
    await memory.addMany(Array.from({ length: Math.min(BATCH, end - n) }, (_, k) => pageOf(n + k)));
  }
  await memory.flush();
}

const WINDOW_TEXTS = 1_000_000; // beyond any page that is filled in

/**
 * Adds pages one by one as a chat would. Every window adds the same texts, under new ids and times, so that bytes at
 * different sizes of the store can be compared. Gives for each add the time to durable and the bytes handed to the
 * store, marked when the log was sealed or pages sank meanwhile: those bytes are not the add's own.
 */
export async function addOneByOne(from, end) {
  const adds = [];
  let before = (await memory.stats()).writtenBytes;
  for (let n = from; n < end; n += 1) {
    events = [];
    const { userInput, agentResponse } = pageOf(WINDOW_TEXTS + n - from);
    const page = { ...pageOf(n), userInput, agentResponse };
    const start = performance.now();
    await memory.addMemory(page);
    const ms = performance.now() - start;
    const after = (await memory.stats()).writtenBytes;
    adds.push({ ms, bytes: after - before, sealed: events.includes('sealed'), sank: events.includes('consolidated') });
    before = after;
  }
  return adds;
}

export async function retrieve(count) {
  const times = [];
  for (let n = 0; n < count; n += 1) {
    const start = performance.now();
    await memory.retrieve(questionOf(n));
    times.push(performance.now() - start);
  }
  return times;
}
