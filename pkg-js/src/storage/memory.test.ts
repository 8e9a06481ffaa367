import { describe, expect, test } from 'vitest';
import { attach, storeIdentity } from './attach.js';
import { storageConformance } from './conformance.js';
import { MemoryStorage } from './memory.js';
import type { StorageEngine } from './types.js';

describe('MemoryStorage conforms', () => {
  for (const { name, run } of storageConformance(() => new MemoryStorage())) test(name, run);
});

describe('the conformance tests can fail', () => {
  const broken: [string, Partial<StorageEngine>][] = [
    ['that loses what it is given', { commit: async () => undefined }],
    ['that returns nothing', { read: async () => [] }],
    ['that never refuses', { close: async () => undefined }],
  ];
  test.each(broken)('for an engine %s', async (_name, parts) => {
    const outcomes = await Promise.allSettled(storageConformance(() => {
      const sound = new MemoryStorage();
      return { kind: 'broken', open: (n) => sound.open(n), read: (r) => sound.read(r), commit: (b) => sound.commit(b), close: () => sound.close(), ...parts };
    }).map(({ run }) => run()));
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
  });
});

test('a full store refuses the whole batch with STORAGE_QUOTA and goes on reading', async () => {
  const store = new MemoryStorage({ quotaBytes: 10 });
  await store.open('m');
  const put = (key: string, length: number) => store.commit({ puts: [{ store: 'wal', key, value: new Uint8Array(length) }], deletes: [], durability: 'strict' });
  await put('a', 8);
  await expect(put('b', 8)).rejects.toMatchObject({ code: 'STORAGE_QUOTA' });
  expect(await store.read({ store: 'wal', from: '', to: '~' })).toHaveLength(1);
});

test('a store is opened for the first memory and closed after the last', async () => {
  const store = new MemoryStorage();
  const detachOne = await attach(store, 'm');
  const detachTwo = await attach(store, 'm');
  await expect(attach(store, 'other')).rejects.toMatchObject({ code: 'LOCKED' });
  await detachOne();
  await expect(store.read({ store: 'wal', from: '', to: '~' })).resolves.toEqual([]);
  await detachTwo();
  await expect(store.read({ store: 'wal', from: '', to: '~' })).rejects.toMatchObject({ code: 'CLOSED' });
  await (await attach(store, 'other'))();
});

test('two in-memory stores are never one, two objects of another kind may be', () => {
  const [one, two] = [new MemoryStorage(), new MemoryStorage()];
  expect(storeIdentity(one)).toBe(storeIdentity(one));
  expect(storeIdentity(one)).not.toBe(storeIdentity(two));
});
