// @vitest-environment happy-dom
/** The adapters under assistant-ui's own local runtime, in React, over the real core. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AssistantRuntimeProvider, useLocalRuntime } from '@assistant-ui/react';
import type { AssistantRuntime, ChatModelAdapter, ThreadHistoryAdapter } from '@assistant-ui/react';
import { act, createElement as h } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, test } from 'vitest';
import type { MemoryOS, OpenOptions } from '../../index.js';
import { closeAll, opened as open } from '../../fixtures/memories.js';
import { scriptedChat } from '../../providers/scripted.js';
import { MemoryStorage } from '../../storage/memory.js';
import { memoryChatAdapter, memoryThreadHistory } from './index.js';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
// The DOM of these tests has `null` for the locks, which no browser has.
Object.defineProperty(navigator, 'locks', { value: undefined });

const wasm = readFileSync(join(import.meta.dirname, '../../wasm/memory_bg.wasm'));
const session = 'thread 1';
const unmounts: (() => void)[] = [];

afterEach(async () => {
  await act(async () => unmounts.splice(0).forEach((unmount) => unmount()));
  await closeAll();
});

const opened = (options: Partial<OpenOptions> = {}) => open({ worker: false, storage: 'memory', assets: { wasm }, ...options });

async function runtime(model: ChatModelAdapter, history: ThreadHistoryAdapter): Promise<AssistantRuntime> {
  let found: AssistantRuntime | undefined;
  const App = () => {
    found = useLocalRuntime(model, { adapters: { history } });
    return h(AssistantRuntimeProvider, { runtime: found, children: null });
  };
  const root = createRoot(document.createElement('div'));
  unmounts.push(() => root.unmount());
  await act(async () => root.render(h(App)));
  return found as unknown as AssistantRuntime;
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await holds()); turns++) {
    if (turns === 2_000) throw new Error(`it never came to hold: ${String(holds)}`);
    await act(async () => new Promise((resolve) => setTimeout(resolve, 0)));
  }
}

const texts = ({ thread }: AssistantRuntime) => thread.getState().messages.map(({ role, content }) => `${role}: ${content.map((part) => ('text' in part ? part.text : part.type)).join()}`);
const exchanges = async (memory: MemoryOS) => (await memory.pages()).map(({ userInput, agentResponse }) => [userInput, agentResponse]).reverse();

async function say(app: AssistantRuntime, text: string): Promise<void> {
  const before = app.thread.getState().messages.length;
  await act(async () => app.thread.append(text));
  await until(() => app.thread.getState().messages.length > before + 1 && !app.thread.getState().isRunning);
}

test('b14_a_thread_is_answered_by_the_memory_and_comes_back_after_a_reopening', async () => {
  const storage = new MemoryStorage();
  const before = await opened({ storage, chat: scriptedChat(['A fine name.', 'Your dog is Rex.']) });
  const app = await runtime(memoryChatAdapter(before, { session }), memoryThreadHistory(before, { session }));
  await say(app, 'My dog is called Rex.');
  await say(app, 'What is my dog called?');
  const said = ['user: My dog is called Rex.', 'assistant: A fine name.', 'user: What is my dog called?', 'assistant: Your dog is Rex.'];
  expect(texts(app)).toEqual(said);
  expect(app.thread.getState().messages.at(-1)?.status).toEqual({ type: 'complete', reason: 'stop' });
  // The runtime appends what it has shown; the memory has it once.
  expect(await exchanges(before)).toEqual([['My dog is called Rex.', 'A fine name.'], ['What is my dog called?', 'Your dog is Rex.']]);
  const ids = app.thread.getState().messages.map(({ id }) => id);
  await before.close();

  const after = await opened({ storage, chat: scriptedChat(['Still Rex.', 'Rex, as ever.']) });
  await after.addMemory({ userInput: 'another thread', agentResponse: 'not this one', session: 'thread 2' });
  const again = await runtime(memoryChatAdapter(after, { session }), memoryThreadHistory(after, { session }));
  await until(() => texts(again).length === 4);
  expect(texts(again)).toEqual(said);
  expect(again.thread.getState().messages.map(({ id }) => id)).toEqual(ids);
  await say(again, 'And now?');
  expect(texts(again).slice(-2)).toEqual(['user: And now?', 'assistant: Still Rex.']);
  // The same question answered anew is the same page.
  const question = again.thread.getState().messages.at(-2)?.id as string;
  await act(async () => again.thread.startRun({ parentId: question }));
  await until(() => texts(again).at(-1) === 'assistant: Rex, as ever.' && !again.thread.getState().isRunning);
  expect((await exchanges(after)).slice(-1)).toEqual([['And now?', 'Rex, as ever.']]);
  expect((await after.stats()).pages).toBe(4);
});

test('without a model the recalled passages are shown, and not stored as an answer', async () => {
  const memory = await opened();
  await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'A fine name.' });
  const history = memoryThreadHistory(memory, { session });
  const app = await runtime(memoryChatAdapter(memory, { session }), history);
  await say(app, 'What is my dog called?');
  const [question, answer] = app.thread.getState().messages;
  expect(texts(app)[1]).toContain('My dog is called Rex.');
  // As the runtime has done: this one waits for its own.
  await history.append({ message: answer as never, parentId: question?.id as string });
  expect((await exchanges(memory))[1]).toEqual(['What is my dog called?', '']);
});

test('case_17_a_cancelled_answer_shows_what_came_and_the_memory_keeps_the_question', async () => {
  const chat = scriptedChat(async ({ abortSignal, onText }) => {
    onText?.('one ');
    await new Promise((resolve) => abortSignal?.addEventListener('abort', resolve));
    return 'two';
  });
  const memory = await opened({ chat });
  const app = await runtime(memoryChatAdapter(memory, { session }), memoryThreadHistory(memory, { session }));
  await act(async () => app.thread.append('Count.'));
  await until(() => texts(app).at(-1) === 'assistant: one ');
  await act(async () => app.thread.cancelRun());
  await until(() => !app.thread.getState().isRunning);
  expect(app.thread.getState().messages.at(-1)?.status).toEqual({ type: 'incomplete', reason: 'cancelled' });
  await until(async () => (await memory.stats()).pages === 1);
  expect(await exchanges(memory)).toEqual([['Count.', '']]);
});

test('a model that fails is shown as failed, and the question is kept', async () => {
  const memory = await opened({ chat: scriptedChat([new Error('no credit')]) });
  const results = memoryChatAdapter(memory).run({ messages: [{ id: 'm1', role: 'user', content: [{ type: 'text', text: 'Hello?' } as never] }], abortSignal: new AbortController().signal });
  await expect(results.next()).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
  expect(await exchanges(memory)).toEqual([['Hello?', '']]);
  expect((await memory.pages())[0]?.clientId).toBe('m1');
});

test('case_11_files_of_a_message_and_of_its_attachments_are_kept_as_references', async () => {
  const memory = await opened({ chat: scriptedChat({ text: 'A dog', finishReason: 'length' }) });
  const message = {
    id: 'm1',
    role: 'user',
    content: [{ type: 'text', text: 'What is this?' }, { type: 'image', image: 'https://example.org/a.png' }],
    attachments: [{ content: [{ type: 'text', text: 'see also' }, { type: 'file', data: 'A'.repeat(5_000), mimeType: 'application/pdf' }] }],
  };
  const run = memoryChatAdapter(memory, { metadata: { app: 'test' } }).run({ messages: [message], abortSignal: new AbortController().signal, unstable_threadId: 'thread 7' });
  const results = [];
  for await (const result of run) results.push(result);
  expect(results.at(-1)).toMatchObject({ content: [{ text: 'A dog' }], status: { type: 'incomplete', reason: 'length' } });
  const [page] = await memory.pages();
  expect(page).toMatchObject({ userInput: 'What is this?\nsee also', session: 'thread 7', metadata: { app: 'test' } });
  expect(page?.metadata.attachments).toEqual([
    { side: 'user', type: 'image', image: 'https://example.org/a.png' },
    { side: 'user', type: 'file', data: 'text of 5000 characters, not kept', mimeType: 'application/pdf' },
  ]);
});

test('a thread of another model is stored as it is appended: answers whole, cancelled ones as the question', async () => {
  const memory = await opened();
  let cut = false;
  const model: ChatModelAdapter = {
    async *run({ messages, abortSignal }) {
      const asked = messages.at(-1)?.content[0] as { text: string };
      yield { content: [{ type: 'text', text: `re: ${asked.text}` }] };
      if (cut) await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
    },
  };
  const app = await runtime(model, memoryThreadHistory(memory, { session, metadata: { app: 'test' } }));
  await say(app, 'one');
  cut = true;
  await act(async () => app.thread.append('two'));
  await until(() => texts(app).at(-1) === 'assistant: re: two');
  await act(async () => app.thread.cancelRun());
  await until(async () => (await memory.stats()).pages === 2);
  expect(await exchanges(memory)).toEqual([['one', 're: one'], ['two', '']]);
  // Answered in the end, it is whole; the page keeps its place in the thread.
  cut = false;
  await act(async () => app.thread.startRun({ parentId: app.thread.getState().messages.at(-2)?.id as string }));
  await until(async () => (await exchanges(memory))[1]?.[1] === 're: two');
  const [page] = await memory.pages();
  expect(page).toMatchObject({ session, metadata: { app: 'test', thread: { parent: app.thread.getState().messages[1]?.id } } });
});

test('an answer that cannot be stored leaves the one before', async () => {
  const memory = await opened();
  const history = memoryThreadHistory(memory, { session });
  const at = (id: string, role: 'user' | 'assistant', text: string, parentId: string | null) => ({ parentId, message: { id, role, content: [{ type: 'text' as const, text }] } as never });
  await history.append(at('u', 'user', 'one', null));
  await history.append(at('a', 'assistant', 'first', 'u'));
  const real = memory.addMemory.bind(memory);
  let full = true;
  Object.defineProperty(memory, 'addMemory', { value: async (turn: { agentResponse: string }) => (full && turn.agentResponse === 'second' ? Promise.reject(new Error('the disk is full')) : real(turn as never)) });
  await expect(history.append(at('b', 'assistant', 'second', 'u'))).rejects.toThrow('full');
  expect(await exchanges(memory)).toEqual([['one', 'first']]);
  full = false;
  await history.append(at('b', 'assistant', 'second', 'u'));
  expect(await exchanges(memory)).toEqual([['one', 'second']]);
});

test('branches keep their parents, and a message of unknown parent follows the one before', async () => {
  const memory = await opened();
  const turn = (id: string, thread?: { parent: string | null; answer: string | null }) => ({ id, session, userInput: id, agentResponse: `re ${id}`, ...(thread && { metadata: { thread } }) });
  await memory.addMany([turn('u1', { parent: null, answer: 'a1' }), turn('u2', { parent: 'a1', answer: 'a2' }), turn('u1 edited', { parent: null, answer: 'b1' }), turn('u3', { parent: 'gone', answer: null }), turn('u4')]);
  const { messages, headId } = await memoryThreadHistory(memory, { session }).load();
  expect(messages.map(({ message, parentId }) => [message.id, parentId])).toEqual([
    ['u1', null], ['a1', 'u1'], ['u2', 'a1'], ['a2', 'u2'], ['u1 edited', null], ['b1', 'u1 edited'], ['u3', 'b1'], ['u3 answer', 'u3'], ['u4', 'u3 answer'], ['u4 answer', 'u4'],
  ]);
  expect(headId).toBe('u4 answer');
});

test('deleting an answer keeps the question, deleting the question takes both', async () => {
  const memory = await opened();
  const history = memoryThreadHistory(memory, { session });
  await memory.addMany(['u1', 'u2'].map((id, at) => ({ id, session, userInput: id, agentResponse: `re ${id}`, timestamp: 1_000 * at })));
  const { messages } = await history.load();
  await history.delete([messages[1] as never]);
  expect((await history.load()).messages.map(({ message }) => message.id)).toEqual(['u1', 'u2', 'u2 answer']);
  await history.delete(messages as never);
  await history.delete(messages as never);
  expect(await exchanges(memory)).toEqual([]);
});

test('the adapters fit assistant-ui’s types', async () => {
  const memory = await opened();
  const model: ChatModelAdapter = memoryChatAdapter(memory);
  const history: ThreadHistoryAdapter = memoryThreadHistory(memory, { session });
  expect([typeof model.run, typeof history.load]).toEqual(['function', 'function']);
});
