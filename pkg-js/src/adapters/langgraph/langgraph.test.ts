/** One table of behaviours, run over LangGraph's own in-memory store and over ours: both must do what it says. */
import { AsyncBatchedStore, InMemoryStore } from '@langchain/langgraph-checkpoint';
import type { BaseStore, Item, Operation, SearchItem } from '@langchain/langgraph-checkpoint';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { closeAll, opened } from '../../fixtures/memories.js';
import { scriptedEmbedder } from '../../providers/scripted.js';
import { MemoryStorage } from '../../storage/memory.js';
import { MemstrataStore } from './index.js';

afterEach(closeAll);

const words = scriptedEmbedder();
const embed = async (texts: string[]) => (await words.embed({ texts, kind: 'passage' })).vectors.map((vector) => [...vector]);
const embeddings = { embedDocuments: embed, embedQuery: async (text: string) => (await embed([text]))[0] ?? [] };

const stores: [string, (fields?: string[]) => Promise<BaseStore>][] = [
  ['InMemoryStore', async (fields) => new InMemoryStore({ index: { dims: 64, embeddings: embeddings as never, ...(fields && { fields }) } })],
  ['MemstrataStore', async (fields) => new MemstrataStore(await opened(), fields && { fields })],
];

const keys = (items: Item[]) => items.map(({ namespace, key }) => `${namespace.join('/')}/${key}`);

interface Behaviour {
  name: string;
  fields?: string[];
  run: (store: BaseStore) => Promise<unknown>;
  gives: unknown;
}

async function filled(store: BaseStore): Promise<void> {
  await store.put(['docs', 'en'], 'a', { title: 'boats on the river', n: 1, status: 'open' });
  await store.put(['docs', 'en'], 'b', { title: 'trains in the mountains', n: 2, status: 'closed' });
  await store.put(['docs', 'fr'], 'c', { title: 'bread and cheese', n: 10, status: 'open' });
  await store.put(['docsets'], 'd', { title: 'not under docs', n: 3 });
}

const search = (name: string, prefix: string[], options: Parameters<BaseStore['search']>[1], gives: string[]): Behaviour => ({
  name,
  run: async (store) => {
    await filled(store);
    return keys(await store.search(prefix, options));
  },
  gives,
});

const filter = (tests: object, gives: string[]) => search(`filters ${JSON.stringify(tests)}`, ['docs'], { filter: tests as never }, gives);
const refused = (name: string, run: Behaviour['run']): Behaviour => ({ name: `refuses ${name}`, run: (store) => run(store).then(() => 'taken', () => 'refused'), gives: 'refused' });

const namespaces = (name: string, options: Parameters<BaseStore['listNamespaces']>[0], gives: string[]): Behaviour => ({
  name: `lists namespaces ${name}`,
  run: async (store) => {
    for (const path of ['a/b/c', 'a/b/d', 'a/e/c', 'f/b/c', 'f']) await store.put(path.split('/'), 'k', { x: 1 });
    return (await store.listNamespaces(options)).map((path) => path.join('/'));
  },
  gives,
});

const behaviours: Behaviour[] = [
  { name: 'gives null for what is not there', run: (store) => store.get(['x'], 'y'), gives: null },
  {
    name: 'gets what was put',
    run: async (store) => {
      await store.put(['users', '1'], 'prefs', { theme: 'dark', deep: { list: [1, null, 'x'] }, toString: 'kept' });
      const { createdAt, updatedAt, ...item } = (await store.get(['users', '1'], 'prefs')) as Item;
      return [item, createdAt instanceof Date && updatedAt instanceof Date && createdAt.getTime() === updatedAt.getTime()];
    },
    gives: [{ namespace: ['users', '1'], key: 'prefs', value: { theme: 'dark', deep: { list: [1, null, 'x'] }, toString: 'kept' } }, true],
  },
  {
    name: 'an update replaces the value, keeps the time of creation and the place in the order',
    run: async (store) => {
      vi.useFakeTimers({ toFake: ['Date'], now: 1_000 });
      try {
        await store.put(['n'], 'a', { v: 1, gone: true });
        await store.put(['n'], 'b', { v: 1 });
        vi.setSystemTime(5_000);
        await store.put(['n'], 'a', { v: 2 });
        const found = await store.search(['n']);
        return found.map(({ key, value, createdAt, updatedAt }) => [key, value, createdAt.getTime(), updatedAt.getTime()]);
      } finally {
        vi.useRealTimers();
      }
    },
    gives: [['a', { v: 2 }, 1_000, 5_000], ['b', { v: 1 }, 1_000, 1_000]],
  },
  {
    name: 'keys of two namespaces are apart',
    run: async (store) => {
      await store.put(['a'], 'k', { v: 1 });
      await store.put(['a', 'k'], 'k', { v: 2 });
      await store.put(['b'], 'k', { v: 3 });
      await store.delete(['a'], 'k');
      return Promise.all([['a'], ['a', 'k'], ['b']].map(async (path) => (await store.get(path, 'k'))?.value.v));
    },
    gives: [undefined, 2, 3],
  },
  {
    name: 'deletes, also what is not there, and puts again',
    run: async (store) => {
      await store.delete(['n'], 'k');
      await store.put(['n'], 'k', { v: 1 });
      await store.delete(['n'], 'k');
      const between = await store.get(['n'], 'k');
      await store.put(['n'], 'k', { v: 2 });
      return [between, (await store.get(['n'], 'k'))?.value];
    },
    gives: [null, { v: 2 }],
  },
  search('searches under a prefix by labels, not letters', ['docs'], {}, ['docs/en/a', 'docs/en/b', 'docs/fr/c']),
  search('an empty prefix is everything', [], {}, ['docs/en/a', 'docs/en/b', 'docs/fr/c', 'docsets/d']),
  search('a prefix that nothing has gives nothing', ['nowhere'], { query: 'boats' }, []),
  search('pages by limit and offset', [], { limit: 2, offset: 1 }, ['docs/en/b', 'docs/fr/c']),
  filter({ status: 'open' }, ['docs/en/a', 'docs/fr/c']),
  filter({ status: { $eq: 'open' } }, ['docs/en/a', 'docs/fr/c']),
  filter({ status: { $ne: 'open' } }, ['docs/en/b']),
  filter({ n: { $gt: 1 } }, ['docs/en/b', 'docs/fr/c']),
  filter({ n: { $gte: 2, $lt: 10 } }, ['docs/en/b']),
  filter({ n: { $lte: 1 } }, ['docs/en/a']),
  filter({ n: { $in: [1, 10] } }, ['docs/en/a', 'docs/fr/c']),
  filter({ n: { $nin: [1, 10] } }, ['docs/en/b']),
  filter({ n: 1, status: 'closed' }, []),
  filter({ absent: 1 }, []),
  filter({ absent: { $ne: 1 } }, ['docs/en/a', 'docs/en/b', 'docs/fr/c']),
  filter({ status: { nested: 'open' } }, []),
  {
    name: 'a query brings the nearest first, with a score, and the filter applies before',
    run: async (store) => {
      await filled(store);
      const best = (await store.search(['docs'], { query: 'trains mountains', limit: 1 })) as SearchItem[];
      const open = (await store.search(['docs'], { query: 'trains mountains', filter: { status: 'open' } })) as SearchItem[];
      return [keys(best), typeof best[0]?.score, keys(open).sort()];
    },
    gives: [['docs/en/b'], 'number', ['docs/en/a', 'docs/fr/c']],
  },
  {
    name: 'an empty query ranks nothing',
    run: async (store) => {
      await filled(store);
      const found = (await store.search(['docs'], { query: '' })) as SearchItem[];
      return [keys(found), found.map(({ score }) => score)];
    },
    gives: [['docs/en/a', 'docs/en/b', 'docs/fr/c'], [undefined, undefined, undefined]],
  },
  {
    name: 'what is put with index false has no score, and is there all the same',
    run: async (store) => {
      await store.put(['n'], 'hidden', { text: 'green parrots' }, false);
      await store.put(['n'], 'shown', { text: 'green parrots and more' });
      const found = (await store.search(['n'], { query: 'green parrots' })) as SearchItem[];
      return found.map(({ key, score }) => [key, typeof score]);
    },
    gives: [['shown', 'number'], ['hidden', 'undefined']],
  },
  {
    name: 'only the given fields are searched, by the store or by the item',
    fields: ['title'],
    run: async (store) => {
      await store.put(['n'], 'by title', { title: 'parrots', body: 'engines' });
      await store.put(['n'], 'by body', { title: 'weather', body: 'parrots', chapters: [{ text: 'quinces' }] }, ['chapters[*].text']);
      const best = async (query: string) => (await store.search(['n'], { query, limit: 1 }))[0]?.key;
      return [await best('parrots'), await best('quinces')];
    },
    gives: ['by title', 'by body'],
  },
  {
    name: 'an update is found by its new words',
    run: async (store) => {
      await store.put(['n'], 'a', { text: 'violins and cellos' });
      await store.put(['n'], 'b', { text: 'hammers' });
      await store.put(['n'], 'a', { text: 'nails' });
      await store.put(['n'], 'c', { text: 'violins' });
      const found = (await store.search(['n'], { query: 'violins', limit: 1 })) as SearchItem[];
      return [found[0]?.key, (await store.search(['n'])).length];
    },
    gives: ['c', 3],
  },
  namespaces('all', {}, ['a/b/c', 'a/b/d', 'a/e/c', 'f', 'f/b/c']),
  namespaces('by prefix', { prefix: ['a', 'b'] }, ['a/b/c', 'a/b/d']),
  namespaces('by suffix', { suffix: ['c'] }, ['a/b/c', 'a/e/c', 'f/b/c']),
  namespaces('by wildcard', { prefix: ['*', 'b'] }, ['a/b/c', 'a/b/d', 'f/b/c']),
  namespaces('by both', { prefix: ['a'], suffix: ['*', 'c'] }, ['a/b/c', 'a/e/c']),
  namespaces('cut at a depth', { maxDepth: 2 }, ['a/b', 'a/e', 'f', 'f/b']),
  namespaces('by limit and offset', { limit: 2, offset: 1 }, ['a/b/d', 'a/e/c']),
  {
    name: 'a batch reads what was before it, and the last of two writes counts',
    run: async (store) => {
      await store.put(['n'], 'a', { v: 1 });
      const operations: Operation[] = [
        { namespace: ['n'], key: 'a' },
        { namespace: ['n'], key: 'a', value: { v: 2 } },
        { namespace: ['n'], key: 'b', value: { v: 1 } },
        { namespace: ['n'], key: 'a', value: { v: 3 } },
        { namespacePrefix: ['n'] },
        { namespace: ['n'], key: 'b' },
        { matchConditions: [{ matchType: 'prefix', path: ['n'] }], limit: 5, offset: 0 } as Operation,
      ];
      const results = (await store.batch(operations)) as unknown[];
      const [before, , , , found, missing, listed] = results;
      // InMemoryStore gives the item itself, which the later write changes: only its presence can be compared.
      return [(before as Item).key, keys(found as Item[]), missing, listed, (await store.get(['n'], 'a'))?.value, (await store.get(['n'], 'b'))?.value];
    },
    gives: ['a', ['n/a'], null, [['n']], { v: 3 }, { v: 1 }],
  },
  refused('an empty namespace', (store) => store.put([], 'k', { v: 1 })),
  refused('an empty label', (store) => store.put(['a', ''], 'k', { v: 1 })),
  refused('a label with a period', (store) => store.put(['a.b'], 'k', { v: 1 })),
  refused('a label with a colon', (store) => store.put(['a:b'], 'k', { v: 1 })),
  refused('a label that is no string', (store) => store.put([1 as never], 'k', { v: 1 })),
  refused('the reserved root', (store) => store.put(['langgraph'], 'k', { v: 1 })),
  refused('to get from an empty namespace', (store) => store.get([], 'k')),
];

describe.each(stores)('b14 %s', (_name, make) => {
  test.each(behaviours)('$name', async ({ fields, run, gives }) => {
    expect(await run(await make(fields))).toEqual(gives);
  });
});

describe('what LangGraph’s own store has not', () => {
  test('items survive a reopening, in their order, with their times', async () => {
    const storage = new MemoryStorage();
    const before = await opened({ storage });
    const store = new MemstrataStore(before, { now: () => 7_000 });
    await filled(store as BaseStore);
    await store.put(['docs', 'en'], 'a', { title: 'ships' });
    const items = await store.search([]);
    await before.close();
    const after = new MemstrataStore(await opened({ storage }));
    expect(await after.search([])).toEqual(items);
    expect(keys(await after.search(['docs'], { query: 'cheese', limit: 1 }))).toEqual(['docs/fr/c']);
    expect((await after.get(['docs', 'en'], 'a'))?.createdAt).toEqual(new Date(7_000));
  });

  test('a crash between the new value and the end of the old one loses neither, and is cleared away', async () => {
    const storage = new MemoryStorage();
    const before = await opened({ storage });
    const store = new MemstrataStore(before);
    await store.put(['n'], 'a', { v: 1 });
    Object.defineProperty(before, 'forget', { value: () => Promise.reject(new Error('crash')) });
    await expect(store.put(['n'], 'a', { v: 2 })).rejects.toThrow('crash');
    await before.close();
    const memory = await opened({ storage });
    expect((await memory.stats()).pages).toBe(2);
    const after = new MemstrataStore(memory);
    expect((await after.search(['n'])).map(({ value }) => value)).toEqual([{ v: 2 }]);
    expect((await memory.stats()).pages).toBe(1);
  });

  test('what is forgotten, cleared, imported or put by another store is seen', async () => {
    const memory = await opened();
    const [one, two] = [new MemstrataStore(memory), new MemstrataStore(memory)];
    expect(await one.search([])).toEqual([]);
    await two.put(['n'], 'a', { v: 1 });
    await two.put(['n'], 'b', { v: 2 });
    await memory.addMemory({ userInput: 'hello', agentResponse: 'not an item' });
    expect(keys(await one.search([]))).toEqual(['n/a', 'n/b']);
    const file = await memory.exportTo();
    await memory.forget((await memory.pages()).map(({ id }) => id)[1] as string);
    expect(keys(await one.search([]))).toEqual(['n/a']);
    await memory.clear();
    expect(await one.search([])).toEqual([]);
    await memory.importFrom(file);
    expect(keys(await one.search([]))).toEqual(['n/a', 'n/b']);
    one.stop();
    await two.delete(['n'], 'a');
    expect(keys(await one.search([]))).toEqual(['n/b']);
  });

  test('stores of two names and the memory’s own turns are apart', async () => {
    const memory = await opened();
    await memory.addMemory({ userInput: 'parrots are loud', agentResponse: '' });
    const [one, two] = [new MemstrataStore(memory), new MemstrataStore(memory, { name: 'other' })];
    await one.put(['n'], 'k', { text: 'parrots' });
    await two.put(['n'], 'k', { text: 'parrots too' });
    expect((await one.search([], { query: 'parrots' })).map(({ value }) => value)).toEqual([{ text: 'parrots' }]);
    expect((await two.search([], { query: 'parrots' })).map(({ value }) => value)).toEqual([{ text: 'parrots too' }]);
  });

  test('a text that is one block of memory is kept, whatever else the batch holds', async () => {
    const store = new MemstrataStore(await opened());
    const text = '<memory 12345678>squid at the harbour</memory 12345678>';
    await store.batch([{ namespace: ['n'], key: 'other', value: { text: 'bees' } }, { namespace: ['n'], key: 'k', value: { text } }]);
    expect((await store.get(['n'], 'k'))?.value).toEqual({ text });
    expect((await store.search(['n'], { query: 'squid' }))[0]?.key).toBe('k');
  });

  test('values are copies, and what JSON cannot hold is refused before anything is written', async () => {
    const store = new MemstrataStore(await opened());
    const value = { list: [1] };
    await store.put(['n'], 'k', value);
    value.list.push(2);
    ((await store.get(['n'], 'k')) as Item).value.list.push(3);
    expect((await store.get(['n'], 'k'))?.value).toEqual({ list: [1] });
    const circle: { self?: unknown } = {};
    circle.self = circle;
    for (const bad of [circle, 'text', [1], undefined]) {
      await expect(store.batch([{ namespace: ['n'], key: 'other', value: { v: 1 } }, { namespace: ['n'], key: 'k', value: bad as never }])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    await expect(store.put(['n'], 'k', { a: 1 }, ['{a,b}'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(keys(await store.search([]))).toEqual(['n/k']);
  });

  test('case_20_names_of_object_properties_are_ordinary_keys_and_a_prototype_is_never_set', async () => {
    const store = new MemstrataStore(await opened());
    await store.put(['constructor'], '__proto__', JSON.parse('{"toString":"kept","constructor":1,"deep":{"__proto__":{"polluted":true}}}') as object);
    expect(JSON.stringify((await store.get(['constructor'], '__proto__'))?.value)).toBe('{"toString":"kept","constructor":1,"deep":{}}');
    expect(keys(await store.search([], { filter: { hasOwnProperty: { $ne: 'x' } } }))).toEqual(['constructor/__proto__']);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('case_31_writes_at_once_are_all_kept', async () => {
    const store = new MemstrataStore(await opened());
    await Promise.all(Array.from({ length: 40 }, (_, at) => store.put(['n'], `k${at % 20}`, { at })));
    expect((await store.search(['n'], { limit: 100 })).map(({ value }) => value.at)).toEqual(Array.from({ length: 20 }, (_, at) => at + 20));
  });

  test('LangGraph’s batching wrapper takes it', async () => {
    const wrapper = new AsyncBatchedStore(new MemstrataStore(await opened()));
    wrapper.start();
    await wrapper.put(['n'], 'k', { v: 1 });
    expect((await wrapper.get(['n'], 'k'))?.value).toEqual({ v: 1 });
    await wrapper.stop();
  });
});
