/** The public class on the real core, in Node. `npm run build` makes the wasm file that this needs. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { MemoryOS, MemoryOSError } from './index.js';
import { scriptedChat, scriptedEmbedder } from './providers/scripted.js';
import { MemoryStorage } from './storage/memory.js';
import type { MemoryEvent, OpenOptions } from './types.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const open: MemoryOS[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((memory) => memory.close()));
});

async function opened(options: Partial<OpenOptions> = {}): Promise<MemoryOS> {
  const memory = await MemoryOS.open({ name: 'm', userId: 'u', embedder: 'none', now: () => NOW, seed: 7, ...options });
  open.push(memory);
  return memory;
}

const all = (memory: MemoryOS) => memory.pages({ limit: 10_000 });

describe('adding and finding', () => {
  test('a turn is stored, found by its words, and the client’s id is stored once', async () => {
    const memory = await opened();
    const first = await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'A fine name.', id: 'a', metadata: { topic: 'dogs' } });
    expect(first).toEqual({ id: expect.stringMatching(/^page_/) as string, status: 'stored' });
    expect(await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'A fine name.', id: 'a' })).toEqual({ id: first.id, status: 'duplicate' });
    const { hits, context, timing } = await memory.retrieve('What is my dog called?');
    expect(hits[0]).toMatchObject({ pageId: first.id, role: 'user', text: 'My dog is called Rex.', time: NOW, metadata: { topic: 'dogs' } });
    expect(context).toContain('Rex');
    expect(timing?.ms).toBeGreaterThan(0);
  });

  test('an answer that comes later completes its turn once', async () => {
    const memory = await opened();
    const { id } = await memory.addMemory({ userInput: 'Which knot holds a hammock?', agentResponse: '', id: 'q' });
    await memory.completeMemory('q', 'A bowline.');
    await memory.completeMemory(id, 'A bowline.');
    await expect(memory.completeMemory(id, 'A reef knot.')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(memory.completeMemory('x', 'A reef knot.')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(memory.completeMemory(id, '')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await memory.getMemory('q')).toMatchObject({ id, clientId: 'q', agentResponse: 'A bowline.' });
    expect(await memory.getMemory(id)).toEqual(await memory.getMemory('q'));
    expect([await memory.getMemory('x'), (await all(memory)).length]).toEqual([null, 1]);
  });

  test('case_10_halves_of_surrogate_pairs_are_replaced_and_the_batch_goes_on', async () => {
    const memory = await opened();
    await memory.addMany([
      { userInput: 'broken \ud83d half', agentResponse: '\udf0d' },
      { userInput: 'whole 🌍', agentResponse: 'yes' },
    ]);
    expect((await all(memory)).map(({ userInput, agentResponse }) => [userInput, agentResponse])).toEqual([['whole 🌍', 'yes'], ['broken \ufffd half', '\ufffd']]);
  });

  test('case_11_parts_are_joined_and_their_references_kept', async () => {
    const memory = await opened();
    await memory.addMemory({ userInput: [{ type: 'text', text: 'see' }, { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }, { type: 'text', text: 'this' }], agentResponse: 'ok' });
    expect((await all(memory))[0]).toMatchObject({ userInput: 'see\nthis', metadata: { attachments: [{ side: 'user', type: 'image_url', image_url: { url: 'https://example.org/a.png' } }] } });
  });

  test('case_16_empty_sides_and_a_message_of_200000_characters_are_kept', async () => {
    const memory = await opened();
    const long = 'the river runs past the mill. '.repeat(6_667).slice(0, 200_000);
    await memory.addMany([{ userInput: '', agentResponse: 'only an answer' }, { userInput: 'only a question', agentResponse: '' }, { userInput: long, agentResponse: 'noted' }]);
    const pages = await all(memory);
    expect(pages.map(({ userInput }) => userInput.length)).toEqual([200_000, 15, 0]);
    expect(pages[0]?.userInput).toBe(long);
  });

  test('case_20_names_of_object_properties_are_ordinary_text_and_as_keys_are_dropped', async () => {
    const memory = await opened();
    const metadata = JSON.parse('{"__proto__":{"polluted":true},"constructor":"x","toString":"kept","ok":1}') as Record<string, never>;
    for (const word of ['constructor', '__proto__', 'toString']) await memory.addMemory({ userInput: `${word} is a word`, agentResponse: '', metadata, id: word });
    const pages = await all(memory);
    expect(pages.map(({ userInput }) => userInput)).toEqual(['toString is a word', '__proto__ is a word', 'constructor is a word']);
    for (const page of pages) expect(JSON.stringify(page.metadata)).toBe('{"ok":1,"toString":"kept"}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((await memory.retrieve('constructor')).hits[0]?.text).toBe('constructor is a word');
  });

  test('case_31_adds_at_once_are_all_stored_and_counted', async () => {
    const memory = await opened();
    const same = { userInput: 'twice', agentResponse: 'x', id: 'same' };
    const both = await Promise.all([memory.addMemory(same), memory.addMemory(same)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['duplicate', 'stored']);
    await Promise.all(Array.from({ length: 100 }, (_, at) => memory.addMemory({ userInput: `turn ${at}`, agentResponse: 'ok' })));
    const mixed = [memory.retrieve('turn'), memory.stats(), memory.addMemory({ userInput: 'last', agentResponse: '' }), memory.tiers(), memory.flush()];
    await Promise.all(mixed);
    expect(await memory.stats()).toMatchObject({ pages: 102 });
  });

  test('offsets and unknown times arrive as given', async () => {
    const memory = await opened();
    await memory.addMemory({ userInput: 'late', agentResponse: '', timestamp: '2023-05-24T22:30:00-04:00' });
    await memory.addMemory({ userInput: 'undated', agentResponse: '', timestamp: 'one fine day' });
    expect((await all(memory)).map(({ time, offsetMinutes }) => [time, offsetMinutes])).toEqual([[null, 0], [1_684_981_800_000, -240]]);
    expect((await all(memory)).map(({ metadata }) => metadata)).toEqual([{}, {}]);
  });

  test('what is wrong is named before anything is written', async () => {
    const memory = await opened();
    await expect(opened({ config: { shortTermCapacity: 0 } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('config.shortTermCapacity is 0') });
    await expect(opened({ config: { nonsense: 1 } as never })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('nonsense') });
    await expect(memory.addMemory(null as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(memory.addMany([{ userInput: 'a', agentResponse: '' }, { userInput: 5 as never, agentResponse: '' }])).rejects.toThrow('got 5');
    await expect(memory.retrieve('')).rejects.toThrow(/empty/);
    await expect(memory.pages({ limit: 0 })).rejects.toThrow('limit must be a whole number from 1 to 10000, got 0');
    expect(await memory.stats()).toMatchObject({ pages: 0 });
  });
});

describe('answers', () => {
  test('a stream gives the text piece by piece, and the result at its end', async () => {
    const chat = scriptedChat('Your dog is Rex.');
    const memory = await opened({ chat });
    await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'ok' });
    const answer = memory.getResponse('What is my dog called?', { stream: true, style: 'brief' });
    const pieces: string[] = [];
    for await (const piece of answer) pieces.push(piece);
    expect(pieces).toEqual(['Your', ' dog', ' is', ' Rex.']);
    expect(await answer.result).toMatchObject({ text: 'Your dog is Rex.', mode: 'model', finishReason: 'stop' });
    expect((await all(memory))[0]).toMatchObject({ userInput: 'What is my dog called?', agentResponse: 'Your dog is Rex.' });
    expect(JSON.stringify(chat.calls[0]?.messages)).toContain('Rex');
  });

  test('without a model the answer is the recalled passages, in one piece', async () => {
    const memory = await opened({ config: { shortTermCapacity: 1 } });
    await memory.addMany([{ userInput: 'My dog is called Rex.', agentResponse: 'ok' }, { userInput: 'It rains.', agentResponse: 'ok' }]);
    await memory.flush();
    const answer = memory.getResponse('What is my dog called?', { stream: true });
    const { mode, text, recall } = await answer.result;
    const pieces: string[] = [];
    for await (const piece of answer) pieces.push(piece);
    expect(mode).toBe('memory-only');
    expect(pieces.join('')).toBe(text);
    expect(text).toContain('Rex');
    expect(text).toBe(recall.context);
  });

  test('case_17_the_question_is_stored_when_the_answer_is_aborted_or_fails', async () => {
    const controller = new AbortController();
    const cutOff = scriptedChat(() => {
      controller.abort();
      return new Promise<string>(() => undefined);
    });
    const memory = await opened({ chat: cutOff });
    const answer = memory.getResponse('Remember the milk', { stream: true, signal: controller.signal });
    await expect(answer.result).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await all(memory)).map(({ userInput }) => userInput)).toEqual(['Remember the milk']);

    const failing = await opened({ name: 'other', chat: scriptedChat(new MemoryOSError('PROVIDER_FAILED', 'out of order', { data: { status: 503 } })) });
    await expect(failing.getResponse('Remember the bread')).rejects.toMatchObject({ code: 'PROVIDER_FAILED', message: 'out of order', data: { status: 503 } });
    expect((await all(failing)).map(({ userInput }) => userInput)).toEqual(['Remember the bread']);
  });

  test('closing cuts a running answer off', async () => {
    const chat = scriptedChat(() => new Promise<string>(() => undefined));
    const memory = await opened({ chat });
    const answer = memory.getResponse('hello').catch((error: unknown) => error);
    while (chat.calls.length === 0) await new Promise(setImmediate);
    await memory.close();
    expect(await answer).toMatchObject({ code: 'CLOSED' });
  });
});

describe('importing a conversation', () => {
  const turns = Array.from({ length: 100 }, (_, at) => ({ id: `t${at}`, userInput: `question ${at}`, agentResponse: `answer ${at}` }));

  test('goes in batches with progress; what cannot be read is skipped with its reason', async () => {
    const memory = await opened();
    const progress: number[] = [];
    const broken = [...turns.slice(0, 50), { userInput: 5 as never, agentResponse: '' }, turns[0] as (typeof turns)[0], ...turns.slice(50)];
    const result = await memory.importConversation(broken, { onProgress: ({ done, total }) => progress.push(done, total) });
    expect(result).toEqual({ added: 100, duplicates: 1, skipped: [{ index: 50, reason: 'userInput must be a string or a list of parts, got 5' }] });
    expect(progress).toEqual([32, 102, 65, 102, 97, 102, 102, 102]);
    expect(await memory.stats()).toMatchObject({ pages: 100 });
    expect((await all(memory))[0]).toMatchObject({ userInput: 'question 99', time: null });
  });

  test('stops where it is told to, and keeps what it has stored', async () => {
    const memory = await opened();
    const controller = new AbortController();
    const stopping = memory.importConversation(turns, { signal: controller.signal, onProgress: ({ done }) => done >= 64 && controller.abort() });
    await expect(stopping).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await memory.stats()).toMatchObject({ pages: 64 });
  });

  test('takes a stream of turns', async () => {
    const memory = await opened();
    const streamed = async function* () {
      yield* turns.slice(0, 3);
    };
    expect(await memory.importConversation(streamed())).toMatchObject({ added: 3 });
  });
});

describe('files', () => {
  test('a memory moves by file, in every form a file comes in', async () => {
    const memory = await opened();
    await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'ok', id: 'a' });
    const blob = await memory.exportTo();
    const bytes = new Uint8Array(await blob.arrayBuffer());
    const chunks: Uint8Array[] = [];
    expect(await memory.exportTo(new WritableStream({ write: (chunk: Uint8Array) => void chunks.push(chunk) }))).toBe(bytes.length);
    expect(chunks.map(({ length }) => length)).toEqual([bytes.length]);

    const other = await opened({ name: 'other', seed: 8 });
    expect(await other.importFrom(new File([blob], 'memory'))).toEqual({ added: 1, duplicates: 0 });
    for (const source of [bytes, bytes.buffer, blob, blob.stream()]) expect(await other.importFrom(source)).toEqual({ added: 0, duplicates: 1 });
    expect((await other.retrieve('dog')).hits[0]?.text).toBe('My dog is called Rex.');
    await expect(other.importFrom('path' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(other.importFrom(bytes.slice(0, -3))).rejects.toMatchObject({ code: 'STORAGE_CORRUPT' });
  });
});

describe('a store of the caller’s own', () => {
  test('holds the memory across closing and opening, for one owner at a time', async () => {
    const storage = new MemoryStorage();
    const memory = await opened({ storage });
    await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'ok', id: 'a' });
    const other = await opened({ storage, userId: 'somebody else' });
    expect(await other.stats()).toMatchObject({ pages: 0 });
    await memory.close();
    const again = await opened({ storage });
    expect(await again.stats()).toMatchObject({ pages: 1 });
    expect((await again.retrieve('Rex')).hits).toHaveLength(1);
  });

  test('that is full refuses the turn and loses nothing', async () => {
    const storage = new MemoryStorage({ quotaBytes: 4_000 });
    const memory = await opened({ storage });
    await memory.addMemory({ userInput: 'small', agentResponse: '' });
    await expect(memory.addMemory({ userInput: 'x'.repeat(10_000), agentResponse: '' })).rejects.toMatchObject({ code: 'STORAGE_QUOTA' });
    expect((await all(memory)).map(({ userInput }) => userInput)).toEqual(['small']);
  });

  test('an embedder of the caller’s own is asked, and its faults leave keyword search', async () => {
    const embedder = scriptedEmbedder({ dimensions: 32 });
    const memory = await opened({ embedder });
    await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'ok' });
    await memory.flush();
    expect(embedder.calls.flatMap(({ texts }) => texts).join(' ')).toContain('Rex');

    const broken = await opened({ name: 'broken', embedder: { ...embedder, embed: async () => ({ vectors: [] }) } });
    await broken.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'ok' });
    expect((await broken.retrieve('Rex')).hits[0]?.text).toBe('My dog is called Rex.');
  });
});

describe('events and the end', () => {
  test('listeners are told in order, can leave, and do not harm each other', async () => {
    const memory = await opened();
    const seen: string[] = [];
    const reported = globalThis.reportError;
    globalThis.reportError = () => undefined;
    memory.on('page-added', () => {
      throw new Error('a listener’s own fault');
    });
    const leave = memory.on('page-added', ({ pageId }) => seen.push(pageId));
    memory.on('*', ({ type }: MemoryEvent) => seen.push(type));
    const { id } = await memory.addMemory({ userInput: 'a', agentResponse: '' });
    leave();
    await memory.addMemory({ userInput: 'b', agentResponse: '' });
    await memory.close();
    globalThis.reportError = reported;
    expect(seen.filter((item) => [id, 'page-added', 'closed'].includes(item))).toEqual([id, 'page-added', 'page-added', 'closed']);
  });

  test('after closing every call is rejected; closing again and `await using` are fine', async () => {
    const memory = await opened();
    await memory[Symbol.asyncDispose]();
    await memory.close();
    const calls = [memory.addMemory({ userInput: 'a', agentResponse: '' }), memory.retrieve('a'), memory.stats(), memory.flush(), memory.getResponse('a'), memory.clear()];
    for (const outcome of await Promise.allSettled(calls)) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'CLOSED' } });
  });

  test('clearing and forgetting take pages away', async () => {
    const memory = await opened();
    const { id } = await memory.addMemory({ userInput: 'a secret', agentResponse: '' });
    await memory.addMemory({ userInput: 'something else', agentResponse: '' });
    expect(await memory.forget([id, 'page_0000000000000000', 'nonsense'])).toMatchObject({ pages: [id], notFound: ['page_0000000000000000', 'nonsense'] });
    expect(JSON.stringify(await memory.retrieve('secret'))).not.toContain('a secret');
    await memory.clear();
    expect(await memory.stats()).toMatchObject({ pages: 0 });
  });
});

describe('case_45', () => {
  test('case_45_importing_touches_no_global_and_opening_says_what_is_missing', async () => {
    const script = `
      const watched = ['window', 'document', 'navigator', 'location', 'self', 'indexedDB', 'Worker', 'localStorage', 'crypto', 'fetch', 'WebAssembly', 'caches'];
      const touched = [];
      for (const name of watched) {
        const value = globalThis[name];
        Object.defineProperty(globalThis, name, { configurable: true, get: () => (touched.push(name), value), set: () => touched.push('set ' + name) });
      }
      const before = Object.getOwnPropertyNames(globalThis).length;
      await import(process.argv[1] + '/index.js');
      await import(process.argv[1] + '/providers.js');
      await import(process.argv[1] + '/import.js');
      await import(process.argv[1] + '/testing.js');
      await import(process.argv[1] + '/worker.js');
      console.log(JSON.stringify({ touched, added: Object.getOwnPropertyNames(globalThis).length - before }));
    `;
    const lib = fileURLToPath(new URL('../dist/lib', import.meta.url));
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script, lib], { encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual({ touched: [], added: 0 });
    await expect(MemoryOS.open({ name: 'm', userId: 'u', storage: 'indexeddb' })).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: expect.stringContaining('no IndexedDB') as string });
    await expect(MemoryOS.open({ name: 'm', userId: 'u', worker: true })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('no Worker') as string });
  });
});
