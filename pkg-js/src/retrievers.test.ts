/** Retrievers of the caller's own on the real core, in Node: on this thread and in a worker's place. `npm run build` makes the wasm file. */
import { afterEach, describe, expect, test } from 'vitest';
import { serve } from './engine/serve.js';
import { ChannelWorker } from './fixtures/channel-worker.js';
import { MemoryOS } from './index.js';
import { scriptedChat } from './providers/scripted.js';
import { reranking, rewriting } from './retrievers/index.js';
import type { OpenOptions, Retriever, RetrieverInput } from './types.js';

const NOW = Date.parse('2024-06-01T12:00:00Z');
const DAY = 86_400_000;
const close: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of close.splice(0)) await end();
});

const TURNS = [
  { userInput: 'I planted tomatoes on the balcony.', agentResponse: '', timestamp: NOW - 90 * DAY, metadata: { topic: 'garden' } },
  { userInput: 'The cat sleeps on the couch.', agentResponse: '', timestamp: NOW - 20 * DAY, metadata: { topic: 'home' } },
  { userInput: 'The tomatoes have holes in their leaves.', agentResponse: 'Look for snails.', timestamp: NOW - 1 * DAY, metadata: { topic: 'garden' } },
];
const TEXTS = ['Look for snails.', 'The tomatoes have holes in their leaves.', 'The cat sleeps on the couch.', 'I planted tomatoes on the balcony.'];

type Place = 'this thread' | 'a worker';
const places: Place[] = ['this thread', 'a worker'];

async function opened(place: Place, options: Partial<OpenOptions> = {}): Promise<MemoryOS> {
  const { port1, port2 } = new MessageChannel();
  if (place === 'a worker') serve(port2, { idle: () => undefined });
  const worker = place === 'a worker' ? () => new ChannelWorker(port1) as unknown as Worker : false;
  const memory = await MemoryOS.open({ name: 'm', userId: 'u', embedder: 'none', storage: 'memory', now: () => NOW, seed: 7, worker, ...options });
  close.push(async () => {
    await memory.close();
    port1.close();
  });
  await memory.addMany(TURNS);
  return memory;
}

/** The latest first; of one page the answer, which came after the question. */
const latest: Retriever = async ({ candidates }) => (await candidates()).map(({ id, time, role }) => ({ id, score: (time ?? 0) + (role === 'assistant' ? 1 : 0) }));

/** What the core finds, the other way round. */
const backwards: Retriever = async ({ search }) => (await search({ strategy: 'keyword', topK: 2 })).map(({ id }, rank) => ({ id, score: rank }));

const texts = ({ hits }: { hits: { text: string }[] }): string[] => hits.map(({ text }) => text);

describe.each(places)('s20_retrievers on %s', (place) => {
  test('rank in place of a strategy; filters, the budget and visits stay the core’s', async () => {
    const memory = await opened(place, { retrievers: { latest, backwards } });
    expect(memory.strategies).toEqual(['auto', 'semantic', 'keyword', 'temporal', 'two_stage', 'latest', 'backwards']);
    const all = await memory.retrieve('anything', { strategy: 'latest' });
    expect(texts(all)).toEqual(TEXTS);
    expect(all.query.strategy).toBe('latest');
    expect(all.hits[0]?.parts).toEqual([{ name: 'retriever', value: expect.closeTo(NOW - DAY, -6) as number }]);
    const filter = { where: { topic: { in: ['garden'] } }, not: { roles: ['assistant' as const] } };
    const some = await memory.retrieve('anything', { strategy: 'latest', filter, topK: 1, budgetTokens: 30 });
    expect(texts(some)).toEqual([TEXTS[1]]);
    expect(some.context).toContain('holes');
    expect(some.context).not.toMatch(/snails|cat/);
    expect(some.contextTokens).toBeLessThanOrEqual(30);
    expect(texts(await memory.retrieve('tomatoes', { strategy: 'backwards' }))).toEqual(texts(await memory.retrieve('tomatoes', { strategy: 'keyword', topK: 2 })).reverse());
    expect((await memory.retrieve('tomatoes')).query.strategy).toBe('auto');
  });

  test('get the question and the candidates as they are', async () => {
    const seen: RetrieverInput[] = [];
    const memory = await opened(place, { retrievers: { spy: (input) => (seen.push(input), []) } });
    const none = await memory.retrieve('你好', { strategy: 'spy', topK: 300 });
    expect([none.hits, none.context, none.passages]).toEqual([[], '', []]);
    expect(seen[0]).toMatchObject({ query: '你好', limit: 300 });
    const [first] = await (seen[0] as RetrieverInput).candidates();
    expect(first).toEqual({
      id: expect.stringMatching(/^page_[0-9a-f]{16}\.user$/) as string, pageId: expect.stringMatching(/^page_/) as string, role: 'user', speaker: 'user', text: TEXTS[3],
      tier: 'short', time: NOW - 90 * DAY, offsetMinutes: expect.any(Number) as number, session: expect.any(String) as string, metadata: { topic: 'garden' },
    });
    await expect((seen[0] as RetrieverInput).search({ strategy: 'spy' as never })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('may name turns that are hidden or unknown, and name one twice', async () => {
    const memory = await opened(place, {
      retrievers: {
        odd: async ({ candidates }) => {
          const [first, second] = await candidates();
          const id = first?.id ?? '';
          return [{ id, score: 1 }, { id: second?.id ?? '', score: 2 }, { id, score: 3 }, { id: 'page_00000000000000aa.user', score: 9 }, { id: 'nonsense', score: 9 }, { id: '', score: 9 }];
        },
        hidden: () => [{ id: hidden, score: 1 }],
      },
    });
    expect(texts(await memory.retrieve('x', { strategy: 'odd' }))).toEqual([TEXTS[3], TEXTS[2]]);
    const hidden = (await memory.retrieve('cat', { strategy: 'keyword' })).hits[0]?.id ?? '';
    expect(texts(await memory.retrieve('x', { strategy: 'hidden' }))).toEqual([TEXTS[2]]);
    expect(texts(await memory.retrieve('x', { strategy: 'hidden', filter: { not: { where: { topic: { in: ['home'] } } } } }))).toEqual([]);
  });

  test('that fail are named, and their error is kept as the cause', async () => {
    const cause = new TypeError('no such thing');
    const memory = await opened(place, {
      retrievers: {
        throws: () => {
          throw cause;
        },
        late: async () => Promise.reject(Object.assign(new Error('too slow'), { name: 'TimeoutError' })),
        nothing: () => undefined as never,
        noScore: async ({ candidates }) => (await candidates()).map(({ id }) => ({ id, score: Number.NaN })),
      },
    });
    const failed = (strategy: string) => memory.retrieve('x', { strategy }).catch((error: unknown) => error);
    expect(await failed('throws')).toMatchObject({ code: 'PROVIDER_FAILED', message: 'the retriever "throws" failed: no such thing', cause });
    expect(await failed('late')).toMatchObject({ code: 'PROVIDER_TIMEOUT', message: 'the retriever "late" failed: too slow' });
    for (const name of ['nothing', 'noScore']) {
      expect(await failed(name)).toMatchObject({ code: 'PROVIDER_BAD_REPLY', message: expect.stringContaining(`the retriever "${name}" failed: it must give a list of { id, score }`) as string });
    }
    expect(await failed('guess')).toMatchObject({
      code: 'INVALID_ARGUMENT', message: 'strategy must be one of auto, semantic, keyword, temporal, two_stage, throws, late, nothing, noScore, got "guess"',
    });
    expect(texts(await memory.retrieve('cat'))[0]).toBe(TEXTS[2]);
  });

  test('case_17_are_cut_off_by_the_signal_and_by_closing', async () => {
    const signals: AbortSignal[] = [];
    const memory = await opened(place, {
      retrievers: { hangs: ({ signal }) => (signals.push(signal), new Promise(() => undefined)) },
    });
    const controller = new AbortController();
    const cancelled = memory.retrieve('x', { strategy: 'hangs', signal: controller.signal }).catch((error: unknown) => error);
    const closed = memory.retrieve('x', { strategy: 'hangs' }).catch((error: unknown) => error);
    while (signals.length < 2) await new Promise(setImmediate);
    controller.abort();
    expect(await cancelled).toMatchObject({ code: 'ABORTED' });
    await memory.close();
    expect(await closed).toMatchObject({ code: 'CLOSED' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

test('s20_names_of_strategies_and_what_is_no_function_are_refused', async () => {
  const open = (retrievers: unknown) => MemoryOS.open({ name: 'm', userId: 'u', embedder: 'none', storage: 'memory', retrievers: retrievers as never });
  await expect(open({ auto: latest })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('"auto"') as string });
  await expect(open({ '': latest })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(open({ mine: 7 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: 'retrievers.mine must be a function, got 7' });
  const memory = await opened('this thread', { retrievers: { latest } });
  for (const strategy of ['constructor', 'toString', '__proto__']) await expect(memory.retrieve('x', { strategy })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

describe('with a model', () => {
  test('reranking puts what the model names first, the rest after it', async () => {
    const chat = scriptedChat('Here: {"order": [2, 9, "1", 2]}');
    const memory = await opened('this thread', { retrievers: { reranked: reranking({ chat, strategy: 'keyword' }) } });
    const [first, second] = texts(await memory.retrieve('tomatoes', { strategy: 'keyword' }));
    expect(texts(await memory.retrieve('tomatoes', { strategy: 'reranked' }))).toEqual([second, first]);
    expect(chat.calls[0]?.messages[1]?.content).toContain('"date":"2024-05-31"');
    expect(chat.calls[0]?.responseSchema?.name).toBe('order');
  });

  test('rewriting searches for the rewordings too', async () => {
    const chat = scriptedChat('{"queries": ["cat couch", 7, " ", "where is the pet", "a", "b"]}');
    const memory = await opened('this thread', { retrievers: { rewritten: rewriting({ chat, strategy: 'keyword' }) } });
    expect(texts(await memory.retrieve('feline', { strategy: 'keyword' }))).toEqual([]);
    expect(texts(await memory.retrieve('feline', { strategy: 'rewritten' }))[0]).toBe(TEXTS[2]);
  });

  test('a model that fails leaves the core’s own order', async () => {
    for (const reply of [new Error('out'), 'no JSON', '{"order": 7}', '{"queries": {}}']) {
      const chat = scriptedChat(reply);
      const retrievers = { reranked: reranking({ chat }), rewritten: rewriting({ chat }) };
      const memory = await opened('this thread', { retrievers });
      const own = texts(await memory.retrieve('tomatoes'));
      for (const strategy of Object.keys(retrievers)) expect(texts(await memory.retrieve('tomatoes', { strategy }))).toEqual(own);
    }
  });

  test('case_17_a_cancelled_search_ends_the_model’s call', async () => {
    const chat = scriptedChat(() => new Promise(() => undefined));
    const memory = await opened('this thread', { retrievers: { rewritten: rewriting({ chat }) } });
    const controller = new AbortController();
    const failed = memory.retrieve('tomatoes', { strategy: 'rewritten', signal: controller.signal }).catch((error: unknown) => error);
    while (chat.calls.length === 0) await new Promise(setImmediate);
    controller.abort();
    expect(await failed).toMatchObject({ code: 'ABORTED' });
  });
});

describe('s07_a_question', () => {
  test('about a time finds what was said then, and shows how it was read', async () => {
    const memory = await opened('this thread');
    const found = await memory.retrieve('What was it yesterday?', { strategy: 'temporal', now: '2024-06-01T12:00:00Z' });
    expect(found.query.ranges).toEqual([{ phrase: 'yesterday', from: '2024-05-31', to: '2024-06-01' }]);
    expect(TEXTS.slice(0, 2)).toContain(texts(found)[0]);
    const earlier = await memory.retrieve('since Sunday', { asOf: NOW - 19 * DAY });
    expect(earlier.query).toMatchObject({ strategy: 'temporal', ranges: [{ from: '2024-05-12', to: null }] });
    expect(texts(earlier)).toEqual([TEXTS[2]]);
    const { recall } = await memory.merge('昨天');
    expect(recall.query.ranges).toMatchObject([{ phrase: '昨天' }]);
  });

  test('is refused with a filter that tests nothing the core knows', async () => {
    const memory = await opened('this thread');
    for (const filter of [{ not: {} }, { where: { a: 5 } }, { where: { a: { like: 'x' } } }, { where: { a: { in: 'x' } } }, { where: { a: { from: true } } }]) {
      await expect(memory.retrieve('x', { filter: filter as never })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect(texts(await memory.retrieve('tomatoes', { filter: { not: { where: { topic: { exists: true } } } } }))).toEqual([]);
  });
});
