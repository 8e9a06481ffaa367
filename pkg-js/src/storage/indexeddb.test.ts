import { IDBFactory, IDBKeyRange as FakeKeyRange } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { encrypted } from '../encryption/encrypted.js';
import { put, quick, words } from '../fixtures/encryption.js';
import { storageConformance } from './conformance.js';
import { indexedDBStorage } from './indexeddb.js';

let factory: IDBFactory;
beforeEach(() => {
  factory = new IDBFactory();
  vi.stubGlobal('indexedDB', factory);
  vi.stubGlobal('IDBKeyRange', FakeKeyRange);
});
afterEach(() => vi.unstubAllGlobals());

describe('indexedDBStorage conforms', () => {
  for (const { name, run } of storageConformance(() => indexedDBStorage())) test(name, run);
});

describe('s14 encrypted(indexedDBStorage) conforms', () => {
  for (const { name, run } of storageConformance(() => encrypted(indexedDBStorage(), quick('p')))) test(name, run);
});

test('its databases are named apart from the core’s, and its lock too', async () => {
  const engine = indexedDBStorage();
  await engine.open('m');
  await indexedDBStorage({ name: 'vault' }).open('m');
  expect((await factory.databases()).map(({ name }) => name).sort()).toEqual(['memstrata-store:m', 'vault:m']);
  expect([engine.kind, indexedDBStorage({ name: 'vault' }).kind]).toEqual(['indexeddb:memstrata-store', 'indexeddb:vault']);
});

test('case_38 a full disk is STORAGE_QUOTA, nothing is half written, and reading goes on', async () => {
  const engine = indexedDBStorage();
  await engine.open('m');
  await put(engine, 'wal', 'a', 'kept');
  const full = vi.spyOn(Object.getPrototypeOf(await storeOf()), 'put').mockImplementation(() => {
    throw new DOMException('no room', 'QuotaExceededError');
  });
  await expect(engine.commit({ puts: [{ store: 'wal', key: 'b', value: Uint8Array.of(1) }], deletes: [{ store: 'wal', from: 'a', to: 'b' }], durability: 'strict' })).rejects.toMatchObject({ code: 'STORAGE_QUOTA' });
  full.mockRestore();
  expect(await words(engine, 'wal', 'a')).toBe('kept');
});

test('case_39 a database that was closed from outside is opened once more', async () => {
  const engine = indexedDBStorage();
  await engine.open('m');
  await put(engine, 'wal', 'a', 'kept');
  const seen: IDBDatabase[] = [];
  const begin = vi.spyOn(Object.getPrototypeOf(await database()), 'transaction').mockImplementationOnce(function (this: IDBDatabase) {
    seen.push(this);
    throw new DOMException('the database is closing', 'InvalidStateError');
  });
  expect(await words(engine, 'wal', 'a')).toBe('kept');
  expect(seen).toHaveLength(1);
  begin.mockImplementation(() => {
    throw new DOMException('the database is closing', 'InvalidStateError');
  });
  await expect(put(engine, 'wal', 'a', 'lost')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  begin.mockRestore();
});

test('a later layout is VERSION_TOO_NEW', async () => {
  await new Promise<void>((resolve) => (factory.open('memstrata-store:m', 2).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result.close())));
  await expect(indexedDBStorage().open('m')).rejects.toMatchObject({ code: 'VERSION_TOO_NEW' });
});

test('without IndexedDB it is STORAGE_UNAVAILABLE', async () => {
  vi.stubGlobal('indexedDB', undefined);
  await expect(indexedDBStorage().open('m')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
});

function database(): Promise<IDBDatabase> {
  return new Promise((resolve) => {
    const request = factory.open('other', 1);
    request.onupgradeneeded = () => void request.result.createObjectStore('s');
    request.onsuccess = () => resolve(request.result);
  });
}

async function storeOf(): Promise<IDBObjectStore> {
  return (await database()).transaction('s', 'readwrite').objectStore('s');
}
