/** Whose model does the work of an engine, and engines that end while they wait for it. */
import { describe, expect, test } from 'vitest';
import type { Engine } from '../engine/engine.js';
import { Browser } from '../fixtures/tabs.js';
import type { Tab } from '../fixtures/tabs.js';
import { MemoryOSError } from '../errors.js';
import { SHARING_VERSION } from './room.js';

type Options = NonNullable<Parameters<Browser['tab']>[0]>;
type Models = NonNullable<Options['handlers']>;

/** A job of the tab's engine. What becomes of it, the core keeps account of. */
const work = (tab: Tab, kind: 'chat' | 'embed' = 'chat') => (tab.engine as Engine).call('work' as never, [kind] as never).catch((error: unknown) => error);

/** Models that never answer, and whether they have been told that nobody waits any longer. */
function slow() {
  const cut: string[] = [];
  const hang = (kind: string) => (_: unknown, signal: AbortSignal) => new Promise<never>(() => signal.addEventListener('abort', () => cut.push(kind)));
  return { cut, handlers: { chat: hang('chat'), embed: hang('embed') } as Models };
}

const withModel = (handlers: Models, retrievers: string[] = []): Options => ({ handlers, changes: { chatModel: 'p/m', retrievers } });

async function opened(...options: Options[]) {
  const browser = new Browser();
  const tabs: Tab[] = [];
  const engines: Engine[] = [];
  for (const one of options) {
    const tab = browser.tab(one);
    tabs.push(tab);
    engines.push(await tab.open());
  }
  await browser.settle();
  return { browser, tabs: tabs as [Tab, Tab], engines: engines as [Engine, Engine], store: browser.store };
}

test.each(['chat', 'embed'] as const)('an engine that is opened anew does not wait for its job’s call of %s, and no call waits for it', async (kind) => {
  const { cut, handlers } = slow();
  const { browser, tabs, engines, store } = await opened(withModel(handlers));
  const job = work(tabs[0], kind);
  const second = await browser.tab({ changes: { retrievers: ['mine'] } }).open();
  await browser.settle();
  expect([await engines[0].call('pages', [0, 1]), await second.call('pages', [0, 1])]).toEqual([[], []]);
  expect([cut, store.opened.length]).toEqual([[kind], 2]);
  // The core takes this code for the end of its engine, and the job for one that was never begun.
  expect(await job).toMatchObject({ code: 'CLOSED' });
});

test('an owner closes at once while its job asks the model of another tab, which is told, and takes over', async () => {
  const { cut, handlers } = slow();
  const { browser, tabs, engines, store } = await opened({}, withModel(handlers));
  void work(tabs[0]);
  await browser.settle();
  await engines[0].close();
  expect(await engines[1].call('stats', [])).toMatchObject({ role: 'owner' });
  expect([cut, store.opened.length]).toEqual([['chat'], 3]);
});

test('what somebody has asked for, as with `flush`, may use its model while the owner finishes its calls', async () => {
  let say!: () => void;
  const { browser, engines } = await opened(withModel({ chat: () => new Promise((resolve) => (say = () => resolve({ text: 'done', finishReason: 'stop' }))) }));
  const asked = engines[0].call('work' as never, ['chat'] as never);
  await browser.settle();
  const closing = engines[0].close();
  await browser.settle();
  say();
  expect(await asked).toMatchObject({ text: 'done' });
  await closing;
});

test('an engine that is ended where it stands lets go of the model too', async () => {
  const { cut, handlers } = slow();
  const { browser, tabs } = await opened(withModel(handlers));
  void work(tabs[0]);
  await browser.settle();
  tabs[0].stops();
  await browser.settle();
  expect(cut).toEqual(['chat']);
});

test('case_37_an_old_tab_in_the_middle_of_a_model_call_lets_go_at_once_and_says_so_once', async () => {
  const { cut, handlers } = slow();
  const { browser, tabs } = await opened(withModel(handlers));
  void work(tabs[0]);
  const heard: string[] = [];
  const hall = browser.channels(browser.tab())(`memstrata:${JSON.stringify(['indexeddb, shared', 'm', 'u', 'a'])}`);
  hall.addEventListener('message', ({ data }) => heard.push((data as { kind: string }).kind));
  // Asked again and again, as a newer tab does.
  for (let n = 0; n < 3; n++) hall.postMessage({ kind: 'who', version: SHARING_VERSION + 1 });
  await browser.settle();
  expect([tabs[0].lost, cut]).toEqual([['newer-version'], ['chat']]);
  expect(heard.filter((kind) => kind === 'closing')).toHaveLength(1);
});

describe('a model that a tab has lent', () => {
  const says = (text: string): Models => ({ chat: async () => ({ text, finishReason: 'stop' }) });
  const lends = (model: string): Options => ({ handlers: says(model), changes: { chatModel: model } });
  const models = (browser: Browser) => browser.store.opened.map(({ chatModel }) => chatModel);

  test.each(['closes', 'is killed'] as const)('goes when that tab %s: the engine is opened anew without one', async (how) => {
    const { browser, tabs, engines } = await opened({}, lends('p/m'));
    expect(await work(tabs[0])).toMatchObject({ text: 'p/m' });
    if (how === 'closes') await engines[1].close();
    else tabs[1].kill();
    await browser.settle();
    expect(models(browser)).toEqual([null, 'p/m', null]);
    expect(await engines[0].call('stats', [])).toMatchObject({ role: 'owner' });
  });

  test('is followed by the next tab’s, under its own name', async () => {
    const { browser, tabs, engines } = await opened({}, lends('p/a'), lends('p/b'), lends('p/b'));
    for (const engine of engines.slice(1, 3)) {
      await engine.close();
      await browser.settle();
      expect(await work(tabs[0])).toMatchObject({ text: 'p/b' });
    }
    expect(models(browser)).toEqual([null, 'p/a', 'p/b']);
  });

  test('is not needed where the owner has one of its own', async () => {
    const { browser, engines } = await opened(lends('p/own'), lends('p/m'));
    await engines[1].close();
    await browser.settle();
    expect(models(browser)).toEqual(['p/own']);
  });

  test('that fails because its tab closes is not taken for the end of the store', async () => {
    const closing = { chat: () => Promise.reject(new MemoryOSError('CLOSED', 'the memory was closed')) };
    const { tabs } = await opened({}, withModel(closing));
    expect(await work(tabs[0])).toMatchObject({ code: 'PROVIDER_FAILED', message: 'the tab whose language model did the background work is gone' });
  });
});
