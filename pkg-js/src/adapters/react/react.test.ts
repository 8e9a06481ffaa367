// @vitest-environment happy-dom
/** The hooks in a real React, strict mode on, over the real core. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { act, createElement as h, StrictMode } from 'react';
import type { ReactNode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryOS } from '../../index.js';
import type { OpenOptions } from '../../index.js';
import { scriptedChat } from '../../providers/scripted.js';
import { MemoryStorage } from '../../storage/memory.js';
import { MemoryProvider, useFacts, useMemory, useMemoryResponse, useMemoryStats, useRetrieve, useTiers } from './index.js';
import type { UseMemory, UseMemoryResponse, UseRetrieve } from './index.js';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

// The DOM of these tests has `null` for the locks, which no browser has.
Object.defineProperty(navigator, 'locks', { value: undefined });

const wasm = readFileSync(join(import.meta.dirname, '../../wasm/memory_bg.wasm'));
const opened: MemoryOS[] = [];
const roots: { unmount(): void }[] = [];
let options: OpenOptions;
let names = 0;

beforeEach(() => {
  // Each test has a memory of its own: leases outlive a test by a task.
  options = { name: `m${++names}`, userId: 'u', embedder: 'none', storage: new MemoryStorage(), worker: false, assets: { wasm }, seed: 7 };
  const open = MemoryOS.open.bind(MemoryOS);
  vi.spyOn(MemoryOS, 'open').mockImplementation(async (wanted) => {
    const memory = await open(wanted);
    opened.push(memory);
    return memory;
  });
});

afterEach(async () => {
  await act(async () => roots.splice(0).forEach((root) => root.unmount()));
  await Promise.all(opened.splice(0).map((memory) => memory.close()));
  vi.restoreAllMocks();
});

const opens = () => vi.mocked(MemoryOS.open).mock.calls.length;
const tasks = (count = 3) => act(async () => {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setTimeout(resolve, 0));
});
async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    if (turns === 2_000) throw new Error(`it never came to hold: ${String(holds)}`);
    await tasks(1);
  }
}

function Show<T>({ use, to }: { use: () => T; to: T[] }): null {
  to.push(use());
  return null;
}

/** Mounts a component that uses a hook, below a provider. Gives what the hook gave, render by render. */
async function mounted<T>(use: () => T, props: { options: OpenOptions } | { memory: MemoryOS } = { options }) {
  const seen: T[] = [];
  const root = createRoot(document.createElement('div'));
  roots.push(root);
  const render = (child: ReactNode) => act(async () => root.render(h(StrictMode, null, child)));
  const show = (hook: () => T, given: object) => render(h(MemoryProvider, given, h(Show<T>, { use: hook, to: seen })));
  await show(use, props);
  return { seen, last: () => seen.at(-1) as T, show, unmount: () => act(async () => root.unmount()) };
}

async function ready(): Promise<MemoryOS> {
  const { last } = await mounted(useMemory);
  await until(() => last().status === 'ready');
  return last().memory as MemoryOS;
}

describe('the provider', () => {
  test('b14_strict_mode_mounts_twice_and_opens_one_memory_which_closes_after_unmounting_for_good', async () => {
    const { seen, last, show, unmount } = await mounted(useMemory);
    expect(seen[0]).toMatchObject({ status: 'opening', memory: undefined });
    await until(() => last().status === 'ready');
    await tasks();
    expect(opens()).toBe(1);
    const memory = last().memory as MemoryOS;
    await memory.addMemory({ userInput: 'still open', agentResponse: '' });
    // Options written in place are new at every render, and open nothing.
    await show(useMemory, { options: { ...options } });
    expect(last().memory).toBe(memory);
    await unmount();
    await expect.poll(() => memory.stats().then(() => 'open', ({ code }: { code: string }) => code)).toBe('CLOSED');
  });

  test('two providers of one memory share it, and the last one closes it', async () => {
    const one = await mounted(useMemory);
    const two = await mounted(useMemory);
    await until(() => one.last().status === 'ready' && two.last().status === 'ready');
    expect(one.last().memory).toBe(two.last().memory);
    expect(opens()).toBe(1);
    await one.unmount();
    await tasks();
    await expect((two.last().memory as MemoryOS).stats()).resolves.toMatchObject({ pages: 0 });
  });

  test('mounting again while the memory closes waits for it, and finds what was stored', async () => {
    const first = await mounted(useMemory);
    await until(() => first.last().status === 'ready');
    await (first.last().memory as MemoryOS).addMemory({ userInput: 'kept', agentResponse: '' });
    await first.unmount();
    await tasks(1);
    const second = await mounted(useMemory);
    await until(() => second.last().status === 'ready');
    expect(opens()).toBe(2);
    expect((await (second.last().memory as MemoryOS).pages()).map(({ userInput }) => userInput)).toEqual(['kept']);
  });

  test('another user is another memory', async () => {
    const { last, seen, show } = await mounted(useMemory);
    await until(() => last().status === 'ready');
    const first = last().memory;
    const before = seen.length;
    await show(useMemory, { options: { ...options, userId: 'other' } });
    expect(seen[before]).toMatchObject({ status: 'opening', memory: undefined });
    await until(() => last().status === 'ready');
    expect(last().memory).not.toBe(first);
    expect(last().memory?.userId).toBe('other');
  });

  test('a failure is said with its code, and reopening tries again', async () => {
    vi.mocked(MemoryOS.open).mockRejectedValueOnce(new Error('no room'));
    const { last } = await mounted<UseMemory>(useMemory);
    await until(() => last().status === 'failed');
    expect(last().error).toMatchObject({ code: 'INTERNAL', message: 'no room' });
    await act(async () => last().reopen());
    await until(() => last().status === 'ready');
    await act(async () => (last().memory as MemoryOS).close());
    expect(last()).toMatchObject({ status: 'failed', error: { code: 'CLOSED' } });
    await act(async () => last().reopen());
    await until(() => last().status === 'ready');
  });

  test('a memory of yours is used and not closed', async () => {
    const memory = await MemoryOS.open(options);
    const { last, unmount } = await mounted(useMemory, { memory });
    expect(last().memory).toBe(memory);
    await unmount();
    await tasks();
    await expect(memory.stats()).resolves.toMatchObject({ pages: 0 });
  });

  test('a server renders it as opening and opens nothing; the page takes it from there', async () => {
    const Page = () => {
      const { status } = useMemory();
      const { data } = useMemoryStats();
      return h('p', null, `${status} ${data?.pages ?? 'no'} pages`);
    };
    const app = h(StrictMode, null, h(MemoryProvider, { options }, h(Page)));
    const html = renderToString(app);
    expect(html).toBe('<p>opening no pages</p>');
    expect(opens()).toBe(0);
    const box = document.createElement('div');
    box.innerHTML = html;
    const wrong = vi.spyOn(console, 'error');
    await act(async () => void roots.push(hydrateRoot(box, app)));
    await until(() => box.textContent === 'ready 0 pages');
    expect(wrong).not.toHaveBeenCalled();
  });

  test('hooks without a provider, and a provider without a memory, say so', () => {
    const Alone = () => h('p', null, useMemory().status);
    expect(() => renderToString(h(Alone))).toThrow('MemoryProvider');
    expect(() => renderToString(h(MemoryProvider, {}))).toThrow('either options or a memory');
  });
});

describe('live hooks', () => {
  test('stats, tiers and facts follow the memory, with few readings for many events', async () => {
    const memory = await ready();
    const readings = vi.spyOn(memory, 'stats');
    const use = () => [useMemoryStats().data?.pages, useTiers().data?.shortTerm.length, useFacts({ subject: 'user' }).data?.length, useFacts({ subject: 'assistant' }).data?.length];
    const { last, seen, unmount } = await mounted(use, { memory });
    await until(() => last().every((count) => count === 0));
    await act(async () => {
      await memory.addMany(Array.from({ length: 9 }, (_, at) => ({ userInput: `turn ${at}`, agentResponse: '' })));
      await memory.addFact({ attribute: 'pet', value: 'Rex' });
    });
    await until(() => last().join() === '9,9,1,0');
    expect(readings.mock.calls.length).toBeLessThan(9);
    await unmount();
    const rendered = seen.length;
    readings.mockClear();
    await memory.addMemory({ userInput: 'unseen', agentResponse: '' });
    await tasks();
    expect(seen).toHaveLength(rendered);
    expect(readings).not.toHaveBeenCalled();
  });

  test('a reading that fails says so and keeps what was there', async () => {
    const memory = await ready();
    const { last } = await mounted(useMemoryStats, { memory });
    await until(() => last().data !== undefined);
    vi.spyOn(memory, 'stats').mockRejectedValueOnce(new Error('worker gone'));
    await act(async () => void (await memory.addMemory({ userInput: 'x', agentResponse: '' })));
    await until(() => last().error !== undefined);
    expect(last()).toMatchObject({ data: { pages: 0 }, error: { message: 'worker gone' } });
  });
});

describe('useRetrieve', () => {
  test('stale answers are dropped, and the search before is aborted', async () => {
    const memory = await ready();
    await memory.addMany([{ userInput: 'My dog is called Rex.', agentResponse: '' }, { userInput: 'My cat is called Tom.', agentResponse: '' }]);
    const signals: AbortSignal[] = [];
    const answers: (() => void)[] = [];
    const real = memory.retrieve.bind(memory);
    vi.spyOn(memory, 'retrieve').mockImplementation(async (query, { signal, ...rest } = {}) => {
      signals.push(signal as AbortSignal);
      // Answers come when the test says, and also after an abort: as a worker's may.
      await new Promise<void>((resolve) => answers.push(resolve));
      return real(query, rest);
    });
    const asking = (query: string) => () => useRetrieve(query, { topK: 1 });
    const { last, seen, show } = await mounted<UseRetrieve>(asking('dog'), { memory });
    await show(asking('cat'), { memory });
    expect(last()).toEqual({ result: undefined, error: undefined, pending: true });
    // Strict mode asks twice at first.
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
    await act(async () => answers.reverse().forEach((answer) => answer()));
    await until(() => !last().pending);
    await tasks();
    expect(last().result?.hits.map(({ text }) => text)).toEqual(['My cat is called Tom.']);
    expect(seen.every(({ result }) => !result || result.hits[0]?.text.includes('cat'))).toBe(true);
    // The same question in another object is no new search.
    await show(asking('cat'), { memory });
    expect(signals).toHaveLength(3);
    await show(asking(' '), { memory });
    expect(last()).toEqual({ result: undefined, error: undefined, pending: false });
  });

  test('an error is given, and the next question goes on', async () => {
    const memory = await ready();
    const { last, show } = await mounted<UseRetrieve>(() => useRetrieve('dog', { topK: 0 }), { memory });
    await until(() => !last().pending);
    expect(last().error).toMatchObject({ code: 'INVALID_ARGUMENT' });
    await show(() => useRetrieve('dog', { topK: 2 }), { memory });
    await until(() => !last().pending);
    expect(last()).toMatchObject({ error: undefined, result: { hits: [] } });
  });
});

describe('useMemoryResponse', () => {
  const texts = ({ messages }: UseMemoryResponse) => messages.map(({ role, text }) => `${role}: ${text}`);

  test('an answer streams into the messages, and the exchange is stored', async () => {
    let go: () => void = () => undefined;
    const open = vi.mocked(MemoryOS.open).getMockImplementation() as typeof MemoryOS.open;
    vi.mocked(MemoryOS.open).mockImplementationOnce(async (wanted) => {
      await new Promise<void>((resolve) => (go = resolve));
      return open(wanted);
    });
    const { last, seen } = await mounted(() => ({ memory: useMemory().memory, ...useMemoryResponse({ style: 'brief' }) }), { options: { ...options, chat: scriptedChat('Your dog is Rex.') } });
    await act(() => last().ask('too early'));
    expect(last()).toMatchObject({ error: { code: 'NOT_OPEN' }, memory: undefined });
    go();
    await until(() => last().memory !== undefined);
    await act(() => last().ask('What is my dog called?'));
    expect(texts(last()).slice(2)).toEqual(['user: What is my dog called?', 'assistant: Your dog is Rex.']);
    expect(last().result).toMatchObject({ mode: 'model', finishReason: 'stop' });
    expect(seen.some(({ messages }) => messages.at(-1)?.text === '')).toBe(true);
    expect((await (last().memory as MemoryOS).pages()).map(({ agentResponse }) => agentResponse)).toEqual(['Your dog is Rex.']);
    expect(new Set(last().messages.map(({ id }) => id)).size).toBe(4);
  });

  test('case_17_a_new_question_and_unmounting_stop_the_answer_and_the_question_stays', async () => {
    const waiting: (() => void)[] = [];
    const aborted: boolean[] = [];
    const chat = scriptedChat(async ({ abortSignal, onText }) => {
      onText?.('one ');
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        abortSignal?.addEventListener('abort', () => resolve());
      });
      aborted.push(abortSignal?.aborted === true);
      return 'two';
    });
    const memory = await MemoryOS.open({ ...options, chat });
    const { last, unmount } = await mounted(useMemoryResponse, { memory });
    let first: Promise<void> | undefined;
    await act(async () => void (first = last().ask('first')));
    await until(() => texts(last())[1] === 'assistant: one ');
    await act(async () => void last().ask('second'));
    await act(async () => first);
    await until(() => waiting.length === 2);
    expect(last().status).toBe('answering');
    expect(aborted).toEqual([true]);
    await act(async () => last().stop());
    await until(() => last().status === 'idle');
    await act(async () => void last().ask('third'));
    await until(() => waiting.length === 3);
    await unmount();
    await vi.waitFor(() => expect(aborted).toEqual([true, true, true]));
    await vi.waitFor(async () => expect((await memory.pages()).map(({ userInput, agentResponse }) => [userInput, agentResponse])).toEqual([['third', ''], ['second', ''], ['first', '']]));
  });

  test('a failing model is said, and asking again goes on', async () => {
    const { last } = await mounted(() => ({ memory: useMemory().memory, ...useMemoryResponse() }), { options: { ...options, chat: scriptedChat([new Error('no credit'), 'Here.']) } });
    await until(() => last().memory !== undefined);
    await act(() => last().ask('one'));
    expect(last()).toMatchObject({ status: 'failed', error: { code: 'PROVIDER_FAILED' } });
    await act(() => last().ask('two'));
    expect(last()).toMatchObject({ status: 'idle', error: undefined });
    expect(texts(last()).at(-1)).toBe('assistant: Here.');
  });
});
