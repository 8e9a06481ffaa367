/** Calls that are under way while the owner's engine is opened anew, for a tab that needs more of it. */
import { expect, test } from 'vitest';
import { MemoryOSError } from '../errors.js';
import { Browser } from '../fixtures/tabs.js';

const turn = (userInput: string) => ({ userInput, agentResponse: '', epochMs: 0, offsetMinutes: 0, metadata: {} });
const retriever = (name: string) => ({ changes: { retrievers: [name] } });
/** Longer than an engine that is to be opened anew finishes its calls. */
const RENEWED_MS = 1_001;

test('the owner tab’s own answer is kept: its model is asked once, and the turn is stored once', async () => {
  const browser = new Browser();
  let asked = 0;
  let say!: () => void;
  const chat = () => {
    asked++;
    return new Promise<{ text: string; finishReason: 'stop' }>((resolve) => (say = () => resolve({ text: 'the answer', finishReason: 'stop' })));
  };
  const owner = await browser.tab({ handlers: { chat }, changes: { chatModel: 'p/m' } }).open();
  const answer = owner.call('respond', ['q', { ...turn('q'), callId: 'r1', budgetTokens: 0 }]);
  await browser.settle();
  await browser.tab(retriever('mine')).open();
  await browser.pass(RENEWED_MS);
  say();
  expect(await answer).toMatchObject({ text: 'the answer' });
  expect([asked, browser.store.opened.length]).toEqual([1, 2]);
  expect(browser.store.turns).toMatchObject([{ text: 'q', answer: 'the answer' }]);
});

test('the owner tab’s own turns without an id are stored once, and come back as stored', async () => {
  const browser = new Browser();
  const owner = await browser.tab().open();
  browser.store.beforeAnswer = () => new Promise(() => undefined);
  const calls = [owner.call('add', [turn('a')]), owner.call('addMany', [[turn('b'), turn('c')]])];
  await browser.settle();
  browser.store.beforeAnswer = () => undefined;
  await browser.tab(retriever('mine')).open();
  await browser.pass(RENEWED_MS);
  expect(await Promise.all(calls)).toEqual([{ id: 'p1', status: 'stored' }, [{ id: 'p2', status: 'stored' }, { id: 'p3', status: 'stored' }]]);
  expect(browser.store.turns.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
});

test('a write that the core cannot recognise is not said to have lost its tab, when only the engine is another', async () => {
  const browser = new Browser();
  const owner = await browser.tab().open();
  browser.store.beforeAnswer = () => new Promise(() => undefined);
  const adding = owner.call('addFact', [{} as never]).catch((error: unknown) => error as MemoryOSError);
  await browser.settle();
  browser.store.beforeAnswer = () => undefined;
  await browser.tab(retriever('mine')).open();
  await browser.pass(RENEWED_MS);
  expect(await adding).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { reason: 'owner-lost', method: 'addFact', repeatable: false } });
  expect((await adding as MemoryOSError).message).toBe('the engine of the memory ended before it answered addFact (its tab is gone, or it was opened anew), so its outcome is unknown: look whether it was carried out before you call it again');
});
