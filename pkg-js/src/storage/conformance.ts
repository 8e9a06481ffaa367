/**
 * What every storage engine must do; `tests/conformance/mod.rs` is the same list for the engines that Rust tests.
 * Run each test against a fresh engine, with any test runner:
 * `for (const { name, run } of storageConformance(() => new MyStorage())) test(name, run)`.
 */
import type { StorageEngine, StoreName, WriteBatch } from './types.js';

/** One test, for any runner; `run` rejects with what is wrong. */
export interface ConformanceTest {
  name: string;
  run(): Promise<void>;
}

/** `make` gives an engine that has not been opened; each call an independent one, or one whose databases are named apart. */
export function storageConformance(make: () => StorageEngine | Promise<StorageEngine>): ConformanceTest[] {
  let number = 0;
  const test = (name: string, body: (engine: StorageEngine, database: string) => Promise<void>): ConformanceTest => ({
    name,
    async run() {
      const engine = await make();
      const database = `conformance-${++number}`;
      await engine.open(database);
      try {
        await body(engine, database);
      } finally {
        await engine.close();
      }
    },
  });

  return [
    test('a fresh store is empty', async (engine) => {
      for (const store of STORES) equal(await keys(engine, store), []);
    }),

    test('entries come back in order of their keys, by code unit', async (engine) => {
      await engine.commit(puts('wal', { b: [2], a: [1], B: [3], 'a/1': [4], '~': [5], '0': [6] }));
      equal(await keys(engine, 'wal'), ['0', 'B', 'a', 'a/1', 'b', '~']);
    }),

    test('ranges hold their first key and not their last', async (engine) => {
      await engine.commit(puts('chunk', { a: [1], b: [2], c: [3], d: [4] }));
      equal(await keys(engine, 'chunk', 'b', 'd'), ['b', 'c']);
      equal(await keys(engine, 'chunk', 'aa', 'cc'), ['b', 'c']);
      equal(await keys(engine, 'chunk', 'c', 'c\0'), ['c']);
    }),

    test('empty ranges read nothing and delete nothing', async (engine) => {
      await engine.commit(puts('wal', { a: [1], b: [2] }));
      for (const [from, to] of [['b', 'b'], ['b', 'a'], ['aa', 'ab']] as const) {
        equal(await keys(engine, 'wal', from, to), []);
        await engine.commit({ ...puts('wal', { c: [3] }), deletes: [{ store: 'wal', from, to }] });
      }
      equal(await keys(engine, 'wal'), ['a', 'b', 'c']);
    }),

    test('stores do not see each other', async (engine) => {
      await engine.commit(puts('manifest', { k: [1] }));
      await engine.commit(puts('blob', { k: [2] }));
      equal(await values(engine, 'manifest'), [[1]]);
      equal(await values(engine, 'blob'), [[2]]);
      equal(await keys(engine, 'wal'), []);
    }),

    test('a put replaces the value of its key', async (engine) => {
      await engine.commit(puts('wal', { k: [1, 1, 1] }));
      await engine.commit(puts('wal', { k: [2] }));
      equal(await values(engine, 'wal'), [[2]]);
    }),

    test('deletes come before the puts of their batch', async (engine) => {
      await engine.commit(puts('wal', { a: [1], b: [2], c: [3] }));
      await engine.commit({ ...puts('wal', { b: [9] }), deletes: [{ store: 'wal', from: 'a', to: 'c' }] });
      equal(await keys(engine, 'wal'), ['b', 'c']);
      equal(await values(engine, 'wal'), [[9], [3]]);
    }),

    test('a batch over several stores is carried out whole', async (engine) => {
      await engine.commit(puts('wal', { '1': [1], '2': [2] }));
      await engine.commit({
        puts: [...puts('chunk', { c: [7] }).puts, ...puts('manifest', { m: [8] }).puts],
        deletes: [{ store: 'wal', from: '1', to: '3' }],
        durability: 'strict',
      });
      equal(await keys(engine, 'wal'), []);
      equal(await values(engine, 'chunk'), [[7]]);
      equal(await values(engine, 'manifest'), [[8]]);
    }),

    test('a batch that cannot be carried out changes nothing', async (engine) => {
      await engine.commit(puts('wal', { a: [1] }));
      const broken = { ...puts('wal', { b: [2] }), deletes: [{ store: 'wal', from: 'a', to: 'b' }] } as WriteBatch;
      broken.puts.push({ store: 'no such store' as StoreName, key: 'c', value: new Uint8Array([3]) });
      let refused = false;
      await engine.commit(broken).catch(() => (refused = true));
      equal(refused, true);
      equal(await keys(engine, 'wal'), ['a']);
    }),

    test('an empty batch and an empty value are allowed', async (engine) => {
      await engine.commit({ puts: [], deletes: [], durability: 'relaxed' });
      await engine.commit(puts('blob', { empty: [] }));
      equal(await values(engine, 'blob'), [[]]);
    }),

    test('only what a view shows is stored', async (engine) => {
      const buffer = new Uint8Array([9, 9, 1, 2, 9]).buffer;
      await engine.commit({ puts: [{ store: 'chunk', key: 'k', value: new Uint8Array(buffer, 2, 2) }], deletes: [], durability: 'relaxed' });
      equal(await values(engine, 'chunk'), [[1, 2]]);
    }),

    test('bytes are the store’s own once committed, and the reader’s once read', async (engine) => {
      const value = new Uint8Array([1, 2, 3]);
      await engine.commit({ puts: [{ store: 'chunk', key: 'k', value }], deletes: [], durability: 'relaxed' });
      value.fill(0);
      const [first] = await engine.read({ store: 'chunk', from: 'k', to: 'l' });
      first?.value.fill(7);
      equal(await values(engine, 'chunk'), [[1, 2, 3]]);
    }),

    test('a chunk of a mebibyte comes back byte for byte', async (engine) => {
      const value = Uint8Array.from({ length: 1 << 20 }, (_, at) => (at * 31) & 255);
      await engine.commit({ puts: [{ store: 'chunk', key: 'big', value }], deletes: [], durability: 'strict' });
      const [entry] = await engine.read({ store: 'chunk', from: 'big', to: 'bih' });
      equal(entry?.value.length, value.length);
      equal(entry?.value.every((byte, at) => byte === value[at]), true);
    }),

    test('a hundred commits at once all arrive', async (engine) => {
      const names = Array.from({ length: 100 }, (_, at) => String(at).padStart(3, '0'));
      await Promise.all(names.map((key, at) => engine.commit(puts('wal', { [key]: [at] }))));
      equal(await keys(engine, 'wal'), names);
    }),

    test('keys of other scopes are untouched', async (engine) => {
      await engine.commit(puts('wal', { 'ada/0': [1], 'ada/f': [2], 'eve/0': [3], 'eve/f': [4] }));
      await engine.commit({ puts: [], deletes: [{ store: 'wal', from: 'ada/', to: 'ada0' }], durability: 'relaxed' });
      equal(await keys(engine, 'wal'), ['eve/0', 'eve/f']);
    }),

    test('what was committed is there after closing and opening again', async (engine, database) => {
      await engine.commit({ ...puts('wal', { a: [1] }), durability: 'strict' });
      await engine.commit({ ...puts('wal', { b: [2] }), durability: 'relaxed' });
      await engine.close();
      await engine.open(database);
      equal(await values(engine, 'wal'), [[1], [2]]);
    }),

    test('databases of other names are other databases', async (engine, database) => {
      await engine.commit(puts('wal', { a: [1] }));
      await engine.close();
      await engine.open(`${database}/../'": 名`);
      equal(await keys(engine, 'wal'), []);
      await engine.close();
      await engine.open(database);
      equal(await keys(engine, 'wal'), ['a']);
    }),

    test('after closing, reads and commits are rejected', async (engine, database) => {
      await engine.close();
      let rejected = 0;
      await engine.read({ store: 'wal', from: '', to: '~' }).catch(() => rejected++);
      await engine.commit(puts('wal', { a: [1] })).catch(() => rejected++);
      equal(rejected, 2);
      await engine.open(database);
    }),
  ];
}

const STORES: readonly StoreName[] = ['wal', 'chunk', 'manifest', 'blob'];

function puts(store: StoreName, entries: Record<string, number[]>): WriteBatch {
  return {
    puts: Object.entries(entries).map(([key, bytes]) => ({ store, key, value: Uint8Array.from(bytes) })),
    deletes: [],
    durability: 'relaxed',
  };
}

async function keys(engine: StorageEngine, store: StoreName, from = '', to = '\u007f'): Promise<string[]> {
  return (await engine.read({ store, from, to })).map((entry) => entry.key);
}

async function values(engine: StorageEngine, store: StoreName): Promise<number[][]> {
  return (await engine.read({ store, from: '', to: '\u007f' })).map((entry) => [...entry.value]);
}

function equal(actual: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`storage conformance: expected ${right}, got ${left}`);
}
