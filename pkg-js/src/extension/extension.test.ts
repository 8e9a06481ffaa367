/// <reference types="chrome" />
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { isMemoryOSError } from '../errors.js';
import { fakeClock } from '../fixtures/clock.js';
import type { FakeClock } from '../fixtures/clock.js';
import { Extension } from '../fixtures/extension.js';
import type { Context } from '../fixtures/extension.js';
import { MemoryOS } from '../memory-os.js';
import { responseStream } from '../stream.js';
import type { AddMemoryInput, GetResponseOptions, MemoryEvent, ResponseResult } from '../types.js';
import type { ChromeOffscreen, Runtime } from './chrome.js';
import { connectMemory } from './connect.js';
import { KEPT_MS } from './kept.js';
import { CONNECT_MS, SETTLE_MS, SILENCE_MS } from './line.js';
import { keepHost } from './offscreen.js';
import { serveMemory } from './serve.js';
import type { ServeOptions } from './serve.js';
import { siteMatcher } from './sites.js';

const PAGE = 'https://news.example/one';
const opened: MemoryOS[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((memory) => memory.close()));
});

/** The turns outlive the hosts that store them. */
class Store {
  readonly turns: { id: string; text: string }[] = [];
  facts = 0;
  asked = 0;
  /** Awaited before an answer is given. */
  before: (call: string) => Promise<void> | void = () => undefined;
  signals: AbortSignal[] = [];

  memory(): MemoryOS {
    const listeners = new Set<(event: MemoryEvent) => void>();
    const add = (text: string, id = `own${this.turns.length}`) => {
      const known = this.turns.findIndex((turn) => turn.id === id);
      if (known >= 0) return { id: `p${known + 1}`, status: 'duplicate' as const };
      this.turns.push({ id, text });
      const pageId = `p${this.turns.length}`;
      for (const listener of listeners) listener({ type: 'page-added', pageId });
      return { id: pageId, status: 'stored' as const };
    };
    const memory = {
      addMemory: async ({ userInput, id }: AddMemoryInput) => {
        const result = add(userInput as string, id);
        await this.before('addMemory');
        return result;
      },
      stats: async () => {
        await this.before('stats');
        return { pages: this.turns.length };
      },
      addFact: async () => {
        this.facts++;
        await this.before('addFact');
        return { id: `f${this.facts}` };
      },
      getResponse: (query: string, { id, signal }: GetResponseOptions) => responseStream(async (onText) => {
        if (signal) this.signals.push(signal);
        add(query, id);
        this.asked++;
        onText('one ');
        await this.before('getResponse');
        onText('two');
        return { text: 'one two', pageId: 'p1', mode: 'model' } as ResponseResult;
      }),
      on: (_: string, listener: (event: MemoryEvent) => void) => (listeners.add(listener), () => void listeners.delete(listener)),
      close: async () => undefined,
    };
    return memory as unknown as MemoryOS;
  }
}

function world(options: ServeOptions = {}) {
  const clock = fakeClock();
  const extension = new Extension();
  const store = new Store();
  const host = (): Context => {
    const context = extension.add({ url: `${extension.home}host.html` });
    void serveMemory(store.memory(), { ...options, runtime: context.runtime }, clock);
    return context;
  };
  const client = (context: Context = extension.add(), more: Parameters<typeof connectMemory>[0] = {}) => connectMemory({ runtime: context.runtime, ...more }, clock);
  return { clock, extension, store, host, client };
}

/** Time passes only while nothing else happens. Gives the outcome, and how long it took. */
async function passing<T>(clock: FakeClock, promise: Promise<T>): Promise<{ value?: T; error?: { code: string; data?: { repeatable?: boolean; id?: string } }; ms: number }> {
  const from = clock.now();
  let settled: { value?: T; error?: never } | undefined;
  promise.then((value) => (settled = { value }), (error: unknown) => (settled = { error } as never));
  while (!settled) {
    for (let turn = 0; turn < 5 && !settled; turn++) await new Promise(setImmediate);
    if (!settled) await clock.next();
  }
  return { ...settled, ms: clock.now() - from };
}

/** A promise that comes when it is let go, and the news that somebody waits for it. */
function gate() {
  let go!: () => void;
  let met!: () => void;
  const reached = new Promise<void>((resolve) => (met = resolve));
  const passed = new Promise<void>((resolve) => (go = resolve));
  return { reached, go: () => go(), wait: () => (met(), passed) };
}

describe('a memory over Ports', () => {
  test('answers, streams and tells events to two panels', async () => {
    const { host, client, clock, store } = world();
    host();
    const [one, two] = [client(), client()];
    const heard: string[] = [];
    two.on('page-added', ({ pageId }) => heard.push(pageId));
    const many = await passing(clock, Promise.all([two.stats(), one.addMemory({ userInput: 'a', agentResponse: '' })]));
    expect(many.value?.[1]).toEqual({ id: 'p1', status: 'stored' });
    const answer = one.getResponse('and?', { stream: true });
    const pieces: string[] = [];
    for await (const piece of answer) pieces.push(piece);
    expect(pieces).toEqual(['one ', 'two']);
    expect((await answer.result).text).toBe('one two');
    expect(heard).toEqual(['p1', 'p2']);
    expect(await two.stats()).toEqual({ pages: 2 });
    expect(store.turns.map(({ text }) => text)).toEqual(['a', 'and?']);
  });

  test('that is served twice carries each call out once', async () => {
    const { host, client, clock, store } = world();
    host();
    host();
    expect((await passing(clock, client().addFact({ attribute: 'a', value: 'b' }))).value).toEqual({ id: 'f1' });
    expect(store.facts).toBe(1);
  });

  test('whose host is not there is asked for, then refused with a remedy', async () => {
    const { client, clock } = world();
    const { error, ms } = await passing(clock, client().stats());
    expect(error).toMatchObject({ code: 'NOT_OPEN', message: expect.stringContaining('serveMemory'), data: { repeatable: true } });
    expect(ms).toBe(CONNECT_MS);
  });

  test('that cannot be opened says why', async () => {
    const { client, clock, extension } = world();
    const context = extension.add();
    const serving = serveMemory({ name: '', userId: 'u' }, { runtime: context.runtime }, clock);
    const [served, asked] = await Promise.allSettled([serving, client().stats()]);
    expect(served).toMatchObject({ status: 'rejected', reason: { code: 'INVALID_ARGUMENT' } });
    expect(asked).toMatchObject({ status: 'rejected', reason: { code: 'INVALID_ARGUMENT', message: expect.stringContaining('name') } });
  });

  test('an error of the memory arrives with code and data', async () => {
    const { host, client, clock, store } = world();
    store.before = () => Promise.reject(Object.assign(new Error('full'), { code: 'STORAGE_QUOTA', data: { bytes: 1 } }));
    host();
    const { error } = await passing(clock, client().stats());
    expect(isMemoryOSError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'STORAGE_QUOTA', message: 'full', data: { bytes: 1 } });
  });

  test('a listener of every event and one of a type are each called once', async () => {
    const { host, client, clock } = world();
    host();
    const memory = client();
    const heard: string[] = [];
    memory.on('*', ({ type }) => heard.push(`* ${type}`));
    const off = memory.on('page-added', ({ type }) => heard.push(type));
    await passing(clock, memory.addMemory({ userInput: 'a', agentResponse: '' }));
    off();
    await memory.addMemory({ userInput: 'b', agentResponse: '' });
    expect(heard).toEqual(['page-added', '* page-added', '* page-added']);
  });
});

describe('b11_the_host_is_lost', () => {
  // A scenario of every kind of call, cut at each message that goes over a Port.
  const cutAt = async (at: number, cut: (host: Context, client: Context) => void) => {
    const { host, client, clock, extension, store } = world();
    let messages = 0;
    let living = host();
    const context = extension.add();
    let cutOnce = false;
    extension.onMessage = () => {
      if (messages++ !== at) return;
      cutOnce = true;
      cut(living, context);
      if (!living.alive) living = host();
    };
    const memory = client(context);
    const named = { userInput: 'named', agentResponse: '', id: 'mine' };
    const calls = [memory.addMemory({ userInput: 'first', agentResponse: '' }), memory.addMemory(named), memory.stats(), memory.addFact({ attribute: 'a', value: 'b' }), memory.getResponse('asked')] as Promise<unknown>[];
    const outcomes = await Promise.all(calls.map((call) => passing(clock, call)));
    return { outcomes, store, cutOnce };
  };

  test('at every message: each call settles within two seconds, and nothing acknowledged is lost or doubled', async () => {
    let cuts = 0;
    for (let at = 0; ; at++) {
      const { outcomes, store, cutOnce } = await cutAt(at, (host) => host.kill());
      if (!cutOnce) break;
      cuts++;
      for (const { ms } of outcomes) expect(ms, `cut at message ${at}`).toBeLessThanOrEqual(2_000);
      const texts = store.turns.map(({ text }) => text);
      expect(new Set(texts).size, `doubled after message ${at}: ${texts.join(', ')}`).toBe(texts.length);
      // Turns and reads are asked again; of the fact it is said that nobody knows.
      expect(outcomes.slice(0, 3).map(({ error }) => error), `cut at message ${at}`).toEqual([undefined, undefined, undefined]);
      expect(outcomes[0]?.value).toMatchObject({ status: 'stored' });
      expect(texts).toEqual(expect.arrayContaining(['first', 'named']));
      const [fact, answer] = outcomes.slice(3);
      if (fact?.error) expect(fact.error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { reason: 'host-lost', repeatable: false } });
      else expect(store.facts).toBe(1);
      if (answer?.error) expect(answer.error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { repeatable: true, id: expect.stringMatching(/^call:/) } });
      else expect(answer?.value).toMatchObject({ text: 'one two' });
    }
    expect(cuts).toBeGreaterThan(10);
  });

  test('only the Port, at every message: every call is answered, and carried out once', async () => {
    let cuts = 0;
    for (let at = 0; ; at++) {
      const { outcomes, store, cutOnce } = await cutAt(at, (_, client) => client.cutPorts());
      if (!cutOnce) break;
      cuts++;
      expect(outcomes.map(({ error }) => error), `cut at message ${at}`).toEqual(Array(5).fill(undefined));
      expect(store.turns.map(({ text }) => text).sort()).toEqual(['asked', 'first', 'named']);
      expect([store.facts, store.asked]).toEqual([1, 1]);
    }
    expect(cuts).toBeGreaterThan(10);
  });

  test('for good: what waits is rejected within two seconds, with what may be made again', async () => {
    const { host, client, clock, store } = world();
    const living = host();
    const memory = client();
    const stuck = gate();
    store.before = stuck.wait;
    const added = memory.addMemory({ userInput: 'a', agentResponse: '' });
    const fact = memory.addFact({ attribute: 'a', value: 'b' });
    const watched = Promise.allSettled([added, fact]);
    await passing(clock, stuck.reached);
    living.kill();
    const outcomes = await Promise.all([passing(clock, added), passing(clock, fact)]);
    for (const { ms } of outcomes) expect(ms).toBeLessThanOrEqual(SETTLE_MS);
    expect(outcomes.map(({ error }) => [error?.code, error?.data?.repeatable])).toEqual([['STORAGE_UNAVAILABLE', true], ['STORAGE_UNAVAILABLE', false]]);
    expect(outcomes[0]?.error?.data?.id).toMatch(/^call:/);
    await watched;
    // And it goes on as soon as there is another.
    store.before = () => undefined;
    host();
    expect((await passing(clock, memory.stats())).value).toEqual({ pages: 1 });
  });

  test('a new host that answers too late does not keep a call waiting', async () => {
    const { host, client, clock, store } = world();
    const living = host();
    const memory = client();
    const stuck = gate();
    store.before = stuck.wait;
    const added = memory.addMemory({ userInput: 'a', agentResponse: '' });
    added.catch(() => undefined);
    await passing(clock, stuck.reached);
    living.kill();
    host();
    const { error, ms } = await passing(clock, added);
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { repeatable: true } });
    expect(ms).toBeLessThanOrEqual(SETTLE_MS);
    expect(store.turns).toHaveLength(1);
  });

  test('without a word: it is taken for stopped after ten seconds', async () => {
    const { host, client, clock, store } = world();
    const living = host();
    const memory = client();
    const stuck = gate();
    store.before = stuck.wait;
    const asked = memory.stats();
    await passing(clock, stuck.reached);
    living.alive = false;
    const { error, ms } = await passing(clock, asked);
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { repeatable: true } });
    expect(ms).toBeLessThanOrEqual(SILENCE_MS + 2_500 + SETTLE_MS);
  });

  test('events go on with the next host, and the panel is told to read anew', async () => {
    const { host, client, clock, extension } = world();
    const living = host();
    const heard: string[] = [];
    let reconnected!: () => void;
    const again = new Promise<void>((resolve) => (reconnected = resolve));
    const memory = client(extension.add(), { onReconnect: () => reconnected() });
    memory.on('*', ({ type }) => heard.push(type));
    await passing(clock, memory.addMemory({ userInput: 'a', agentResponse: '' }));
    living.kill();
    host();
    await passing(clock, again);
    await passing(clock, memory.addMemory({ userInput: 'b', agentResponse: '' }));
    expect(heard).toEqual(['page-added', 'page-added']);
  });

  test('a client that goes for good ends its answer after ten seconds', async () => {
    const { host, client, clock, extension, store } = world();
    host();
    const panel = extension.add();
    const stuck = gate();
    store.before = stuck.wait;
    void client(panel).getResponse('long').catch(() => undefined);
    await passing(clock, stuck.reached);
    panel.kill();
    await new Promise(setImmediate);
    const from = clock.now();
    while (!store.signals[0]?.aborted) await clock.next();
    expect(clock.now() - from).toBeLessThanOrEqual(KEPT_MS);
  });

  test('a content script of an extension that was reloaded is told to reload its page', async () => {
    const { host, client, clock, extension } = world();
    const living = host();
    const script = extension.add();
    const memory = client(script);
    await passing(clock, memory.stats());
    living.kill();
    script.alive = false;
    script.cutPorts();
    const { error } = await passing(clock, memory.stats());
    expect(error).toMatchObject({ code: 'CLOSED', message: expect.stringContaining('reload this page') });
    await expect(memory.stats()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  test('an abort cuts the answer off in the host', async () => {
    const { host, client, clock, store } = world();
    host();
    const stuck = gate();
    store.before = stuck.wait;
    const controller = new AbortController();
    const answer = client().getResponse('long', { signal: controller.signal });
    answer.catch(() => undefined);
    await passing(clock, stuck.reached);
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: 'ABORTED' });
    await new Promise(setImmediate);
    expect(store.signals[0]?.aborted).toBe(true);
  });

  test('a closed client rejects what waits, and later calls', async () => {
    const { client, clock } = world();
    const memory = client();
    const asked = memory.stats();
    memory.close();
    expect((await passing(clock, asked)).error?.code).toBe('CLOSED');
    await expect(memory.stats()).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('who may speak', () => {
  const real = async (options: ServeOptions) => {
    const clock = fakeClock();
    const extension = new Extension();
    const memory = await MemoryOS.open({ name: 'm', userId: 'u', embedder: 'none' });
    opened.push(memory);
    await serveMemory(memory, { ...options, runtime: extension.add().runtime }, clock);
    return { memory, clock, extension, at: (url: string) => connectMemory({ runtime: extension.site(url).runtime }, clock) };
  };

  test('a site that no rule names is refused', async () => {
    const { at, clock, memory } = await real({ allow: [{ sites: 'https://chat.example/*' }] });
    const { error } = await passing(clock, at(PAGE).addMemory({ userInput: 'a', agentResponse: '' }));
    expect(error).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('https://news.example may not call addMemory') });
    expect((await memory.stats()).pages).toBe(0);
  });

  test('a site adds, and it is kept whose it is, whatever it says', async () => {
    const { at, clock, memory } = await real({ allow: [{ sites: 'https://*.example/*' }] });
    const site = at(PAGE);
    const lie = { topic: 'x', origin: 'user', site: 'https://bank.example', url: 'https://bank.example/' };
    await passing(clock, site.addMemory({ userInput: 'said here', agentResponse: '', metadata: lie, id: 'a' }));
    expect((await memory.pages())[0]).toMatchObject({ clientId: 'https://news.example a', metadata: { topic: 'x', origin: 'web', site: 'https://news.example', url: PAGE } });
    expect((await passing(clock, site.retrieve('said'))).error?.code).toBe('FORBIDDEN');
    expect((await passing(clock, site.forget((await memory.pages())[0]?.id as string))).error?.code).toBe('FORBIDDEN');
  });

  test('a site that sees its own finds no turn of another, and no fact', async () => {
    const { at, clock, memory } = await real({ allow: [{ sites: '<all_urls>', calls: ['addMemory', 'retrieve'] }] });
    await memory.addMemory({ userInput: 'My secret lighthouse is red.', agentResponse: '' });
    await memory.addFact({ attribute: 'lighthouse', value: 'red' });
    const [news, other] = [at(PAGE), at('https://other.example/')];
    await passing(clock, news.addMemory({ userInput: 'The lighthouse in the news is white.', agentResponse: '' }));
    for (const filter of [undefined, {}, { metadata: { site: 'https://news.example' } }]) {
      const { value } = await passing(clock, other.retrieve('What colour is the lighthouse?', filter ? { filter } : {}));
      expect([value?.hits, value?.facts, value?.belowCut, value?.context.trim()]).toEqual([[], [], [], '']);
    }
    const own = (await passing(clock, news.retrieve('What colour is the lighthouse?'))).value;
    expect(own?.hits.map(({ text }) => text)).toEqual(['The lighthouse in the news is white.']);
    expect(own?.context).not.toContain('red');
  });

  test('rules are asked at every call, where they are a function', async () => {
    let allowed = true;
    const { at, clock } = await real({ allow: ({ origin }) => (allowed && origin === 'https://news.example' ? {} : undefined) });
    const site = at(PAGE);
    expect((await passing(clock, site.addMemory({ userInput: 'a', agentResponse: '' }))).error).toBeUndefined();
    allowed = false;
    expect((await passing(clock, site.addMemory({ userInput: 'b', agentResponse: '' }))).error?.code).toBe('FORBIDDEN');
  });

  test('a rule that gives more than it says is refused at once', async () => {
    const runtime = new Extension().add().runtime;
    for (const call of ['facts', 'forget', 'getResponse', 'pages'] as const) {
      await expect(serveMemory(new Store().memory(), { runtime, allow: [{ sites: '<all_urls>', calls: [call] }] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('sees: "all"') });
    }
    await expect(serveMemory(new Store().memory(), { runtime, allow: [{ sites: 'news.example' }] })).rejects.toThrow('no match pattern');
  });

  test('another extension, a frame without an origin of its own and an odd address are not heard', async () => {
    const { extension, clock, host, store } = world({ allow: [{ sites: '<all_urls>' }] });
    host();
    const strangers = [{ id: 'another' }, { url: 'about:blank', origin: 'null' }, { url: PAGE, origin: 'null' }, { url: 'data:text/html,x' }, { url: `${extension.home}sandbox.html`, origin: 'null' }, { url: undefined, origin: undefined }];
    for (const sender of strangers) {
      const { error } = await passing(clock, connectMemory({ runtime: extension.add(sender as object).runtime }, clock).addMemory({ userInput: 'a', agentResponse: '' }));
      expect(error?.code, JSON.stringify(sender)).toBe('NOT_OPEN');
    }
    expect(store.turns).toEqual([]);
  });

  test('a model’s words about its own failure do not reach a site', async () => {
    const { extension, clock, host, store } = world({ allow: [{ sites: '<all_urls>', calls: ['getResponse'], sees: 'all' }] });
    store.before = () => Promise.reject(Object.assign(new Error('http://10.0.0.7 says: bad key'), { code: 'PROVIDER_FAILED', data: { status: 401 } }));
    host();
    const { error } = await passing(clock, connectMemory({ runtime: extension.site(PAGE).runtime }, clock).getResponse('a'));
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', message: 'the language model failed', data: undefined });
  });

  test('what comes over a Port is checked again: calls, fields, values and size', async () => {
    const { extension, clock, memory } = await real({ allow: [{ sites: '<all_urls>' }] });
    let calls = 0;
    const raw = (context: Context, method: string, args: unknown[]) => {
      const port = context.runtime.connect({ name: 'memstrata' });
      const answer = new Promise<{ kind: string; error?: { code: string; message: string } }>((resolve) => {
        port.onMessage.addListener((message) => {
          const { kind, host } = message as { kind: string; host: string };
          if (kind === 'ready') port.postMessage({ kind: 'call', to: host, id: 1, method, args, heard: 0 });
          if (kind === 'error' || kind === 'result') resolve(message as never);
        });
      });
      port.postMessage({ kind: 'hello', version: 1, client: `raw ${calls++}`, events: true });
      return passing(clock, answer).then(({ value }) => value?.error?.message ?? value?.kind);
    };
    const own = (method: string, args: unknown[]) => raw(extension.add(), method, args);
    for (const method of ['clear', 'exportTo', 'constructor', '__proto__', 'on', 'close']) expect(await own(method, [])).toContain('cannot be called from outside');
    expect(await own('addMemory', [[]])).toContain('must be an object');
    expect(await own('addMemory', [{ userInput: 5, agentResponse: '' }])).toContain('got 5');
    expect(await own('retrieve', ['a', { signal: {} }])).toContain('unknown field "signal"');
    expect(await own('retrieve', ['a', { topK: 0 }])).toContain('topK must be a whole number');
    expect(await own('stats', ['extra'])).toContain('takes 0 arguments');
    expect(await own('forget', [7])).toContain('got 7');
    expect(await raw(extension.site(PAGE), 'addMemory', [{ userInput: 'x'.repeat(1_000_001), agentResponse: '' }])).toContain('at most 1000000 characters');
    expect((await memory.stats()).pages).toBe(0);
  });

  test('match patterns match as in a manifest', () => {
    const matches = (pattern: string, url: string) => siteMatcher(pattern)(url);
    expect(matches('https://*.example.org/*', 'https://a.b.example.org/x?y=1')).toBe(true);
    expect(matches('https://*.example.org/*', 'https://example.org/')).toBe(true);
    expect(matches('https://*.example.org/*', 'https://badexample.org/')).toBe(false);
    expect(matches('https://example.org/*', 'https://example.org.evil.example/')).toBe(false);
    expect(matches('https://example.org/*', 'http://example.org/')).toBe(false);
    expect(matches('*://example.org/a*', 'http://example.org/abc')).toBe(true);
    expect(matches('https://example.org/a.b', 'https://example.org/aXb')).toBe(false);
    expect(matches('http://127.0.0.1:8080/*', 'http://127.0.0.1:9090/')).toBe(false);
    expect(matches('<all_urls>', 'chrome://settings/')).toBe(false);
  });
});

describe('the keeper of an offscreen document', () => {
  const keeper = () => {
    const { extension, clock, host, client } = world();
    const worker = extension.add({ url: `${extension.home}background.js` });
    let documents = 0;
    let created = 0;
    const chrome: ChromeOffscreen = {
      runtime: Object.assign(worker.runtime, { getContexts: async () => Array(documents).fill({}) as unknown[] }),
      offscreen: {
        async createDocument() {
          created++;
          await new Promise(setImmediate);
          if (documents > 0) throw new Error('Only a single offscreen document may be created.');
          documents++;
          host();
        },
      },
    };
    return { clock, client, kept: keepHost({ url: 'host.html', chrome }), created: () => created };
  };

  test('makes one, however many ask for it', async () => {
    const { clock, client, created, kept } = keeper();
    const answers = await passing(clock, Promise.all([client().stats(), client().stats(), kept.ready()]));
    expect(answers.value?.slice(0, 2)).toEqual([{ pages: 0 }, { pages: 0 }]);
    expect(created()).toBe(1);
    await kept.ready();
    expect(created()).toBe(1);
  });
});

test('the shapes are those of Chrome', () => {
  expectTypeOf<typeof chrome.runtime>().toExtend<Runtime>();
  expectTypeOf<typeof chrome>().toExtend<ChromeOffscreen>();
});
