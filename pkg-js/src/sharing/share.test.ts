import { setMaxListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../engine/engine.js';
import { MemoryOSError } from '../errors.js';
import { Browser } from '../fixtures/tabs.js';
import type { Tab } from '../fixtures/tabs.js';
import { CALLS_IN_FLIGHT } from './link.js';
import { SHARING_VERSION } from './room.js';
import type { Notice } from './room.js';
import { SILENCE_MS } from './share.js';
import { HANDOVER_MS } from './waiting.js';

const turn = (userInput: string, clientId?: string) => ({ userInput, agentResponse: '', epochMs: 0, offsetMinutes: 0, metadata: {}, ...(clientId === undefined ? {} : { clientId }) });
const outcome = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

async function tabs(count: number, options: Parameters<Browser['tab']>[0] = {}) {
  const browser = new Browser();
  const all: Tab[] = [];
  const engines: Engine[] = [];
  for (let n = 0; n < count; n++) {
    const tab = browser.tab(options);
    all.push(tab);
    engines.push(await tab.open());
  }
  const [owner, follower] = engines as [Engine, Engine];
  return { browser, all: all as [Tab, Tab, Tab], engines: engines as [Engine, Engine, Engine], owner, follower, store: browser.store };
}

/** A promise that never comes, and the news that somebody waits for it. */
function stuck() {
  let met!: () => void;
  const reached = new Promise<void>((resolve) => (met = resolve));
  return { reached, wait: () => (met(), new Promise<void>(() => undefined)) };
}

describe('case_35 a second tab', () => {
  test('shares the memory of the first, and opens none of its own', async () => {
    const { all, owner, follower, store } = await tabs(2);
    await owner.call('add', [turn('one')]);
    await follower.call('add', [turn('two')]);
    expect(store.turns.map(({ text }) => text)).toEqual(['one', 'two']);
    expect(store.opened).toHaveLength(1);
    expect(all.map((tab) => tab.role())).toEqual(['owner', 'follower', undefined].slice(0, 2));
    expect(await owner.call('stats', [])).toEqual({ pages: 2, role: 'owner' });
    expect(await follower.call('stats', [])).toEqual({ pages: 2, role: 'follower' });
  });

  test('that is opened at the same time as seven others: one store, nothing lost or doubled', async () => {
    const browser = new Browser();
    const engines = await Promise.all(Array.from({ length: 8 }, () => browser.tab().open()));
    await Promise.all(engines.flatMap((engine, at) => Array.from({ length: 50 }, (_, n) => engine.call('add', [turn(`${at}-${n}`)]))));
    expect(browser.store.opened).toHaveLength(1);
    expect(new Set(browser.store.turns.map(({ text }) => text)).size).toBe(400);
    expect(browser.store.turns).toHaveLength(400);
  });

  test('hears what happens, whoever did it', async () => {
    const { all, follower } = await tabs(3);
    await follower.call('add', [turn('one')]);
    for (const tab of all) expect(tab.events.filter(({ type }) => type === 'page-added')).toEqual([{ type: 'page-added', pageId: 'p1' }]);
  });

  test('gets errors with their code', async () => {
    const { follower, store } = await tabs(2);
    store.beforeCall = () => Promise.reject(Object.assign(new Error('no such page'), { code: 'NOT_FOUND' }));
    await expect(follower.call('forget', [['p9']])).rejects.toMatchObject({ name: 'MemoryOSError', code: 'NOT_FOUND', message: 'no such page' });
  });

  test('waits while the first is still opening, however long that takes', async () => {
    const browser = new Browser();
    let go!: () => void;
    browser.store.opening = new Promise((resolve) => (go = resolve));
    const opening = Promise.all([browser.tab().open(), browser.tab().open()]);
    await browser.pass(20_000);
    go();
    expect(await opening).toHaveLength(2);
    expect(browser.store.opened).toHaveLength(1);
  });

  test('may give up opening', async () => {
    const { browser } = await tabs(1);
    browser.store.opening = new Promise(() => undefined);
    const controller = new AbortController();
    const opening = outcome(new Browser().tab().open(controller.signal));
    controller.abort();
    expect(await opening).toMatchObject({ code: 'ABORTED' });
  });
});

describe('case_36 the owner is killed', () => {
  test('while nobody waits: the next tab opens the store, and the third follows it', async () => {
    const { browser, all, engines, store } = await tabs(3);
    await engines[1].call('add', [turn('one')]);
    all[0].kill();
    await browser.settle();
    expect(all.map((tab) => tab.role())).toEqual(['owner', 'owner', 'follower']);
    await engines[2].call('add', [turn('two')]);
    expect([store.turns.length, store.opened.length]).toEqual([2, 2]);
  });

  test.each(['before it is carried out', 'after it is carried out'] as const)('%s an add is answered by the next owner, once', async (when) => {
    const { browser, all, follower, store } = await tabs(2);
    const { reached, wait } = stuck();
    if (when === 'before it is carried out') store.beforeCall = wait;
    else store.beforeAnswer = wait;
    const adding = follower.call('add', [turn('one')]);
    const named = follower.call('add', [turn('two', 'mine')]);
    await reached;
    await browser.settle();
    store.beforeCall = store.beforeAnswer = () => undefined;
    all[0].kill();
    expect(await adding).toMatchObject({ id: 'p1', status: 'stored' });
    // The core cannot tell the caller's own earlier turn of that id from the one whose answer was lost.
    expect(await named).toMatchObject({ id: 'p2', status: when === 'before it is carried out' ? 'stored' : 'duplicate' });
    expect(store.turns.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  test('a write that the core cannot recognise is not repeated, and the caller is told', async () => {
    const { browser, all, follower, store } = await tabs(2);
    const { reached, wait } = stuck();
    store.beforeAnswer = wait;
    const [adding, forgetting] = [outcome(follower.call('addFact', [{} as never])), outcome(follower.call('forget', [['p1']]))];
    await reached;
    await browser.settle();
    store.beforeAnswer = () => undefined;
    all[0].kill();
    expect(await adding).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { reason: 'owner-lost', method: 'addFact', repeatable: false }, message: expect.stringContaining('look whether it was carried out') as string });
    expect(await forgetting).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { method: 'forget', repeatable: true } });
    expect(store.facts).toBe(1);
  });

  test('and the next cannot open in time: every waiting call is told so, and whether it may be repeated', async () => {
    const { browser, all, follower, store } = await tabs(2);
    const { reached, wait } = stuck();
    store.beforeAnswer = wait;
    const sent = [follower.call('add', [turn('no id')]), follower.call('add', [turn('with an id', 'mine')]), follower.call('pages', [0, 1])].map(outcome);
    await reached;
    await browser.settle();
    let go!: () => void;
    store.opening = new Promise((resolve) => (go = resolve));
    all[0].kill();
    await browser.settle();
    const unsent = outcome(follower.call('addFact', [{} as never]));
    let settled = 0;
    for (const one of [...sent, unsent]) void one.then(() => settled++);
    await browser.pass(HANDOVER_MS - 1);
    expect(settled).toBe(0);
    await browser.pass(1);
    expect(settled).toBe(4);
    expect(HANDOVER_MS).toBeLessThanOrEqual(2_000);
    expect((await Promise.all(sent) as { code: string; data: { repeatable: boolean } }[]).map(({ code, data }) => [code, data.repeatable]))
      .toEqual([['STORAGE_UNAVAILABLE', false], ['STORAGE_UNAVAILABLE', true], ['NOT_OPEN', true]]);
    expect(await unsent).toMatchObject({ code: 'NOT_OPEN', data: { reason: 'hand-over', repeatable: true } });
    // Later calls wait for the store.
    store.beforeAnswer = () => undefined;
    const later = follower.call('stats', []);
    go();
    expect(await later).toMatchObject({ pages: 2, role: 'owner' });
  });

  test('s_b11_fifty_times_in_a_row_while_all_write: nothing acknowledged is lost, nothing is doubled', async () => {
    const browser = new Browser();
    const acknowledged: string[] = [];
    let live = await Promise.all([0, 1, 2].map(async () => {
      const tab = browser.tab();
      return { tab, engine: await tab.open() };
    }));
    let name = 0;
    for (let kill = 0; kill < 50; kill++) {
      const dying = live.find(({ tab }) => tab.role() === 'owner') as (typeof live)[0];
      const writing = live.filter((one) => one !== dying).flatMap(({ engine }) => Array.from({ length: 5 }, async () => {
        const text = `t${name++}`;
        await engine.call('add', [turn(text)]);
        acknowledged.push(text);
      }));
      // At another moment each time.
      for (let step = 0; step < kill % 9; step++) await new Promise(setImmediate);
      dying.tab.kill();
      await Promise.all(writing);
      const tab = browser.tab();
      live = [...live.filter((one) => one !== dying), { tab, engine: await tab.open() }];
    }
    const texts = browser.store.turns.map(({ text }) => text);
    expect(acknowledged).toHaveLength(500);
    expect(texts).toHaveLength(500);
    expect(new Set(texts)).toEqual(new Set(acknowledged));
    expect(browser.store.opened).toHaveLength(51);
  });

  test('a call that kills every engine is given up', async () => {
    const { browser, all, engines, store } = await tabs(3);
    store.beforeCall = (method) => {
      if (method === 'flush') setImmediate(() => all.find((tab) => tab.alive && tab.role() === 'owner')?.kill());
      return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    };
    const fourth = browser.tab();
    const engine = await fourth.open();
    const dangerous = outcome(engine.call('flush', []));
    await browser.settle();
    await browser.settle();
    store.beforeCall = () => undefined;
    expect(await dangerous).toMatchObject({ code: 'NOT_OPEN', data: { method: 'flush', repeatable: true } });
    expect(fourth.alive).toBe(true);
    expect(engines).toHaveLength(3);
  });
});

describe('an owner that closes', () => {
  test('finishes what was asked of it, and the next takes over what came after', async () => {
    const { browser, all, owner, follower, store } = await tabs(2);
    let answer!: () => void;
    store.beforeAnswer = () => new Promise((resolve) => (answer = resolve));
    const first = follower.call('addFact', [{} as never]);
    await browser.settle();
    const closing = owner.close();
    await browser.settle();
    store.beforeAnswer = () => undefined;
    const second = follower.call('addFact', [{} as never]);
    await browser.settle();
    answer();
    expect(await first).toEqual({ id: 'f1' });
    await closing;
    expect(await second).toEqual({ id: 'f2' });
    expect([all[1].role(), store.opened.length]).toEqual(['owner', 2]);
    await expect(owner.call('stats', [])).rejects.toMatchObject({ code: 'CLOSED' });
    await follower.close();
  });

  test('does not wait for ever', async () => {
    const { browser, owner, follower, store } = await tabs(2);
    store.beforeAnswer = () => new Promise(() => undefined);
    const hanging = outcome(follower.call('addFact', [{} as never]));
    await browser.settle();
    const closing = owner.close();
    await browser.pass(1_000);
    await closing;
    expect(await hanging).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { repeatable: false } });
  });

  test('and one that closes just then is passed over', async () => {
    const { browser, all, engines, store } = await tabs(3);
    store.beforeAnswer = () => new Promise(() => undefined);
    const waiting = outcome(engines[1].call('addFact', [{} as never]));
    await browser.settle();
    const closing = engines[1].close();
    all[0].kill();
    await browser.settle();
    expect([all[1].role(), all[2].role(), store.opened.length]).toEqual(['follower', 'owner', 2]);
    await browser.pass(1_000);
    await closing;
    expect(await waiting).toMatchObject({ data: { repeatable: false } });
  });

  test('leaves nothing behind when it was the last', async () => {
    const { browser, owner, follower } = await tabs(2);
    await follower.close();
    await owner.close();
    expect(browser.clock.waiting()).toEqual([]);
    expect(await (await browser.tab().open()).call('stats', [])).toMatchObject({ role: 'owner' });
  });
});

describe('frozen, or put into the back-forward cache', () => {
  test('an owner gives the memory up at once, and follows when it is back', async () => {
    const { browser, all, owner, follower, store } = await tabs(2);
    const { reached, wait } = stuck();
    store.beforeAnswer = wait;
    const own = owner.call('add', [turn('mine', 'id')]);
    const others = follower.call('add', [turn('theirs')]);
    await reached;
    await browser.settle();
    store.beforeAnswer = () => undefined;
    all[0].stops();
    all[0].stops();
    expect(await others).toMatchObject({ status: 'stored' });
    expect(all[1].role()).toBe('owner');
    all[0].goesOn();
    all[0].goesOn();
    expect(await own).toMatchObject({ id: 'p1' });
    expect(all[0].role()).toBe('follower');
    expect(store.turns.map(({ text }) => text)).toEqual(['mine', 'theirs']);
    expect([...all[0].lost, ...all[1].lost]).toEqual([]);
  });

  test('a follower leaves the queue: a tab that cannot run must not be next', async () => {
    const { browser, all, engines } = await tabs(3);
    all[1].stops();
    all[0].kill();
    await browser.settle();
    expect(all[2].role()).toBe('owner');
    all[1].goesOn();
    await engines[1].call('add', [turn('back')]);
    expect(all[1].role()).toBe('follower');
  });
});

describe('an owner that is stopped without a word', () => {
  test('is not overtaken, but nobody waits for it for ever, and it is followed again when it answers', async () => {
    const { browser, all, follower, store } = await tabs(2);
    const { reached, wait } = stuck();
    store.beforeAnswer = wait;
    const waiting = outcome(follower.call('add', [turn('one')]));
    await reached;
    await browser.settle();
    store.beforeAnswer = () => undefined;
    // Stopped: it holds its locks and hears nothing.
    all[0].alive = false;
    await browser.pass(SILENCE_MS + HANDOVER_MS + 2_500);
    expect(await waiting).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { repeatable: false } });
    const later = outcome(follower.call('stats', []));
    await browser.pass(3_500);
    expect(await later).toMatchObject({ code: 'LOCKED', data: { waitsFor: 'silent-owner', repeatable: true } });
    all[0].alive = true;
    await browser.pass(500);
    expect(await follower.call('stats', [])).toMatchObject({ pages: 1, role: 'follower' });
    expect(store.opened).toHaveLength(1);
  });

  test('a slow call of an owner that lives is waited for', async () => {
    const { browser, follower, store } = await tabs(2);
    let answer!: () => void;
    store.beforeAnswer = () => new Promise((resolve) => (answer = resolve));
    const slow = follower.call('flush', []);
    await browser.pass(120_000);
    answer();
    await slow;
  });
});

describe('models and retrievers are the calling tab’s', () => {
  const answering = (name: string) => ({ chat: async () => ({ text: `${name} answers`, finishReason: 'stop' as const }), rank: async () => [{ id: name, score: 1 }] });
  const ask = (engine: Engine, query: string, callId = 'r1') => engine.call('respond', [query, { ...turn(query), callId, budgetTokens: 0 }]);

  async function named(...names: string[]) {
    const browser = new Browser();
    const all = names.map((name) => browser.tab({ handlers: answering(name), changes: { chatModel: name, retrievers: ['mine'] } }));
    const engines: Engine[] = [];
    for (const tab of all) engines.push(await tab.open());
    return { browser, all, engines, store: browser.store };
  }

  test('also where their calls have the same names', async () => {
    const { engines } = await named('a', 'b', 'c');
    expect((await Promise.all(engines.map((engine) => ask(engine, 'q')))).map(({ text }) => text)).toEqual(['a answers', 'b answers', 'c answers']);
    const found = await Promise.all(engines.map((engine) => engine.call('retrieve', ['q', { strategy: 'mine', callId: 'r1' } as never])));
    expect(found.map(({ hits }) => hits[0]?.id)).toEqual(['a', 'b', 'c']);
  });

  test('background work uses the owner’s, and the next owner’s after it', async () => {
    const { browser, all, engines } = await named('a', 'b');
    const work = (tab: Tab | undefined) => tab?.engine?.call('work' as never, [] as never) as unknown as Promise<{ text: string }>;
    expect((await work(all[0])).text).toBe('a answers');
    all[0]?.kill();
    await browser.settle();
    expect((await work(all[1])).text).toBe('b answers');
    expect(engines).toHaveLength(2);
  });

  test('an answer under way survives the owner: the model is asked once, and the next owner stores what it said', async () => {
    const browser = new Browser();
    let asked = 0;
    let say!: (text: string) => void;
    const chat = () => {
      asked++;
      return new Promise<{ text: string; finishReason: 'stop' }>((resolve) => (say = (text) => resolve({ text, finishReason: 'stop' })));
    };
    const first = browser.tab({ handlers: answering('a'), changes: { chatModel: 'a' } });
    await first.open();
    const follower = await browser.tab({ handlers: { chat }, changes: { chatModel: 'b' } }).open();
    const answer = ask(follower, 'q');
    await browser.settle();
    first.kill();
    await browser.settle();
    say('said once');
    expect(await answer).toMatchObject({ text: 'said once' });
    expect(asked).toBe(1);
    expect(browser.store.turns).toMatchObject([{ text: 'q', answer: 'said once' }]);
  });

  test('that fail with an error of another memory are not taken for an owner that is gone', async () => {
    const browser = new Browser();
    await browser.tab().open();
    let asked = 0;
    const chat = async () => {
      asked++;
      throw new MemoryOSError('CLOSED', 'the memory of the model was closed');
    };
    const follower = await browser.tab({ handlers: { chat }, changes: { chatModel: 'b' } }).open();
    await expect(ask(follower, 'q')).rejects.toMatchObject({ code: 'CLOSED', message: 'the memory of the model was closed' });
    expect(asked).toBe(1);
  });

  test('an owner without a model, and without the retriever, opens its engine anew for a tab that has them', async () => {
    const browser = new Browser();
    const first = browser.tab({ handlers: {} });
    const owner = await first.open();
    const second = browser.tab({ handlers: answering('b'), changes: { chatModel: 'b', retrievers: ['mine'] } });
    const follower = await second.open();
    expect((await ask(follower, 'q')).text).toBe('b answers');
    expect((await follower.call('retrieve', ['q', { strategy: 'mine', callId: 'r2' } as never])).hits).toHaveLength(1);
    expect(browser.store.opened.map(({ chatModel, retrievers }) => [chatModel, retrievers])).toEqual([[null, []], ['b', ['mine']]]);
    // Who has no model gets the passages, as ever, and the engine's background work is lent one.
    expect(await ask(owner, 'mine')).toMatchObject({ mode: 'memory-only', text: 'mine' });
    expect(((await first.engine?.call('work' as never, [] as never)) as unknown as { text: string }).text).toBe('b answers');
  });

  test('pause and settings outlive the owner that heard them', async () => {
    const { browser, all, follower, store } = await tabs(2);
    await follower.call('pause', []);
    await follower.call('configure', [{ dailyCalls: 7 }]);
    await browser.settle();
    all[0].kill();
    await browser.settle();
    expect(store.opened.map(({ paused }) => paused)).toEqual([false, true]);
    expect(store.calls.filter((call) => call === 'configure')).toHaveLength(2);
  });
});

describe('between tabs', () => {
  test('a follower has so many calls under way and no more, and a retriever’s own searches do not wait for it', async () => {
    const browser = new Browser();
    await browser.tab().open();
    let follower!: Engine;
    let nested = 0;
    const rank = async () => {
      await follower.call('candidates', [{} as never]);
      nested++;
      return [];
    };
    const tab = browser.tab({ handlers: { rank }, changes: { retrievers: ['mine'] } });
    follower = await tab.open();
    let most = 0;
    let now = 0;
    browser.store.beforeCall = async (method) => {
      if (method !== 'retrieve') return;
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
    };
    browser.store.beforeAnswer = (method) => void (method === 'retrieve' && now--);
    await Promise.all(Array.from({ length: 200 }, (_, at) => follower.call('retrieve', ['q', { strategy: 'mine', callId: `r${at}` } as never])));
    expect([most, nested]).toEqual([CALLS_IN_FLIGHT, 200]);
  });

  test('an abort reaches the owner, and a call that waits for its turn can be taken back', async () => {
    const { browser, follower, store } = await tabs(2);
    store.beforeCall = () => new Promise(() => undefined);
    const controller = new AbortController();
    setMaxListeners(2 * CALLS_IN_FLIGHT, controller.signal);
    const calls = Array.from({ length: CALLS_IN_FLIGHT + 1 }, () => outcome(follower.call('retrieve', ['q', { callId: 'r' } as never], controller.signal)));
    await browser.settle();
    controller.abort();
    for (const call of calls) expect(await call).toMatchObject({ code: 'ABORTED' });
    store.beforeCall = () => undefined;
    expect(await follower.call('stats', [])).toMatchObject({ pages: 0 });
  });

  test('a call that is cancelled already is refused at once, however many are under way', async () => {
    const { browser, follower, store } = await tabs(2);
    store.beforeCall = () => new Promise(() => undefined);
    for (let n = 0; n < CALLS_IN_FLIGHT; n++) void outcome(follower.call('flush', []));
    await browser.settle();
    await expect(follower.call('retrieve', ['q', { callId: 'r' } as never], AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('an engine that is open and does not take the settings is ended', async () => {
    const { browser, all, follower, store } = await tabs(2);
    await follower.call('configure', [{ dailyCalls: 7 }]);
    await browser.settle();
    store.beforeCall = (method) => (method === 'configure' ? Promise.reject(new MemoryOSError('INVALID_ARGUMENT', 'dailyCalls is unknown')) : undefined);
    all[0].kill();
    await browser.settle();
    await expect(follower.call('stats', [])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(store.opened).toHaveLength(2);
    await expect((all[1].engine as Engine).call('stats', [])).rejects.toMatchObject({ code: 'CLOSED' });
  });

  test('a worker that crashes is replaced by its owner, and what was under way is asked of the new one', async () => {
    const { browser, all, owner, follower, store } = await tabs(2);
    const { reached, wait } = stuck();
    store.beforeAnswer = wait;
    const calls = [owner.call('add', [turn('a', 'a')]), follower.call('add', [turn('b')])];
    await reached;
    await browser.settle();
    store.beforeAnswer = () => undefined;
    all[0].crashEngine();
    await Promise.all(calls);
    expect([store.turns.length, store.opened.length, all[0].role(), all[0].lost.length]).toEqual([2, 2, 'owner', 0]);
  });

  test('a worker that crashes again and again ends the memory of its tab, and the next tab takes over', async () => {
    const { browser, all, follower } = await tabs(2);
    for (let n = 0; n < 4; n++) {
      all[0].crashEngine();
      await browser.settle();
    }
    expect(all[0].lost).toEqual(['worker-lost']);
    expect(await follower.call('stats', [])).toMatchObject({ role: 'owner' });
  });

  test('case_39_a_store_that_fails_is_opened_anew_once_and_the_failure_is_told', async () => {
    const { browser, follower, store } = await tabs(2);
    store.beforeCall = () => Promise.reject(new MemoryOSError('STORAGE_UNAVAILABLE', 'UnknownError: internal error'));
    await expect(follower.call('add', [turn('x')])).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: 'UnknownError: internal error' });
    await expect(follower.call('add', [turn('x')])).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await browser.settle();
    expect(store.opened).toHaveLength(2);
    store.beforeCall = () => undefined;
    expect(await follower.call('add', [turn('x')])).toMatchObject({ status: 'stored' });
  });

  test('a store that does not open says so to the tab that opens, and to a tab that takes over', async () => {
    const browser = new Browser();
    const corrupt = new MemoryOSError('STORAGE_CORRUPT', 'chunk 3 fails its checksum');
    browser.store.opening = Promise.reject(corrupt);
    browser.store.opening.catch(() => undefined);
    await expect(browser.tab().open()).rejects.toBe(corrupt);
    browser.store.opening = Promise.resolve();
    const first = browser.tab();
    await first.open();
    const second = browser.tab();
    const follower = await second.open();
    browser.store.opening = Promise.reject(corrupt);
    browser.store.opening.catch(() => undefined);
    first.kill();
    await browser.settle();
    await expect(follower.call('stats', [])).rejects.toMatchObject({ code: 'STORAGE_CORRUPT' });
    expect(second.lost).toEqual(['worker-lost']);
  });
});

describe('case_37 versions', () => {
  /** A tab of another version, as far as it is heard. */
  function stranger(browser: Browser) {
    const tab = browser.tab();
    const heard: Notice[] = [];
    const channel = browser.channels(tab)(`memstrata:${JSON.stringify(['indexeddb, shared', 'm', 'u', 'a'])}`);
    channel.addEventListener('message', ({ data }) => heard.push(data as Notice));
    return { tab, heard, say: (notice: Notice) => channel.postMessage(notice) };
  }

  test('an old owner lets go for a newer tab, finishes what it has, and says what to do', async () => {
    const { browser, all, owner, follower, store } = await tabs(2);
    const { heard, say } = stranger(browser);
    const writing = owner.call('add', [turn('last')]);
    say({ kind: 'who', version: SHARING_VERSION + 1 });
    expect(await writing).toMatchObject({ status: 'stored' });
    await browser.settle();
    expect(all[0].lost).toEqual(['newer-version']);
    await expect(owner.call('stats', [])).rejects.toMatchObject({ code: 'VERSION_TOO_NEW', message: expect.stringContaining('reload this page') as string });
    expect(heard.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['closing', 'gone']));
    expect(store.turns).toHaveLength(1);
    // The next in the queue is as old, and lets go as soon as it is asked.
    say({ kind: 'who', version: SHARING_VERSION + 1 });
    await browser.settle();
    await expect(follower.call('stats', [])).rejects.toMatchObject({ code: 'VERSION_TOO_NEW' });
  });

  test('an old tab does not join a newer owner', async () => {
    const browser = new Browser();
    const { tab, say } = stranger(browser);
    void browser.locks.of(tab).request(`memstrata:${JSON.stringify(['indexeddb, shared', 'm', 'u', 'a'])}`, {}, () => new Promise(() => undefined));
    const opening = outcome(browser.tab().open());
    await browser.settle();
    say({ kind: 'owner', version: SHARING_VERSION + 1, epoch: 'x', open: true, mood: { paused: false, settings: {} } });
    expect(await opening).toMatchObject({ code: 'VERSION_TOO_NEW' });
  });

  test('an older owner that does not let go is named', async () => {
    const browser = new Browser();
    const { tab, say } = stranger(browser);
    void browser.locks.of(tab).request(`memstrata:${JSON.stringify(['indexeddb, shared', 'm', 'u', 'a'])}`, {}, () => new Promise(() => undefined));
    const opening = outcome(browser.tab().open());
    await browser.settle();
    say({ kind: 'owner', version: SHARING_VERSION - 1, epoch: 'x', open: true, mood: { paused: false, settings: {} } });
    await browser.settle();
    await browser.pass(4_000);
    expect(await opening).toMatchObject({ code: 'LOCKED', data: { waitsFor: 'older-version' }, message: expect.stringContaining('older version') as string });
  });
});
