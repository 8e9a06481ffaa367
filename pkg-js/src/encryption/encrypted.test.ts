import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isMemoryOSError } from '../errors.js';
import { Disk, leaks, put, quick, words } from '../fixtures/encryption.js';
import type { Stored } from '../fixtures/encryption.js';
import { storageConformance } from '../storage/conformance.js';
import { MemoryStorage } from '../storage/memory.js';
import { encrypted } from './encrypted.js';
import { STORES } from './places.js';

const CANARY = 'the canary sings at dawn';

describe('s14 encrypted(MemoryStorage) conforms', () => {
  for (const { name, run } of storageConformance(() => encrypted(new MemoryStorage(), quick('p')))) test(name, run);
});

/** A store with two users, closed, and its disk. */
async function filled() {
  const disk = new Disk();
  const engine = encrypted(disk, quick('p'));
  await engine.open('m');
  for (const store of STORES) await put(engine, store, 'ada.l/1', `${CANARY} ${store}`);
  await put(engine, 'wal', 'ada.l/2', 'second');
  await put(engine, 'wal', 'eve/1', 'of eve');
  return { disk, engine, again: () => encrypted(disk, quick('p')) };
}

/** Reads all there is, as a memory that opens does: the first error, or what was read. */
async function readAll(engine: ReturnType<typeof encrypted>): Promise<unknown> {
  try {
    await engine.open('m');
    const found = [];
    for (const user of ['ada.l', 'eve']) for (const store of STORES) found.push(...(await engine.read({ store, from: `${user}/`, to: `${user}0` })));
    return found;
  } catch (error) {
    return error;
  } finally {
    await engine.close();
  }
}

function expectTyped(outcome: unknown, codes: string[]): void {
  if (!isMemoryOSError(outcome)) expect.fail(`no typed error: ${inspect(outcome)}`);
  expect(codes).toContain(outcome.code);
  expect(leaks(Buffer.from(inspect(outcome, { depth: 9, showHidden: true })), [CANARY, 'ada.l'])).toBeUndefined();
}

describe('s14 what lies on the disk', () => {
  test('is read back by the key', async () => {
    const { engine, again } = await filled();
    await engine.close();
    expect(await readAll(again())).toHaveLength(6);
  });

  test('holds no text, no key and no id of the memory', async () => {
    const { disk } = await filled();
    const all = await disk.all();
    expect(all).toHaveLength(6 + 2 + 2 + 1);
    for (const { key, value } of all) {
      expect(leaks(value, [CANARY, 'second', 'of eve', 'ada.l/1', 'ada.l', 'eve/'])).toBeUndefined();
      expect(key).toMatch(/^(header|(keys|state)\/[0-9a-f]{32}|[0-9a-f]{32}\/[0-9a-f]{32})$/);
    }
  });

  test('the scan finds what is not encrypted', async () => {
    const disk = new Disk();
    await disk.open('m');
    await put(disk, 'wal', 'k', CANARY);
    expect((await disk.all()).map(({ value }) => leaks(value, [CANARY]))).toEqual([CANARY]);
  });

  test('is another after the same was written again', async () => {
    const { disk, engine } = await filled();
    const before = await disk.all();
    await put(engine, 'wal', 'ada.l/2', 'second');
    const after = new Map((await disk.all()).map(({ key, value }) => [key, Buffer.from(value).toString('hex')]));
    const changed = before.filter(({ key, value }) => after.get(key) !== Buffer.from(value).toString('hex'));
    expect(changed).toHaveLength(2); // the record and the state of ada
  });
});

describe('s14 a store in the wrong hands', () => {
  test('every flipped byte of every stored value is a typed error', { timeout: 120_000 }, async () => {
    const { disk, again } = await filled();
    const all = await disk.all();
    let flipped = 0;
    for (const [at, record] of all.entries()) {
      for (let byte = 0; byte < record.value.length; byte++) {
        const value = record.value.slice();
        value[byte] = (value[byte] as number) ^ (1 << (byte % 8));
        await disk.open('m');
        await disk.put({ ...record, value });
        expectTyped(await readAll(again()), ['STORAGE_CORRUPT', 'VERSION_TOO_NEW']);
        flipped++;
      }
      await disk.open('m');
      await disk.put(all[at] as Stored);
    }
    expect(flipped).toBeGreaterThan(900);
    expect(await readAll(again())).toHaveLength(6);
  });

  test('a record cut short at any length is a typed error', async () => {
    const { disk, again } = await filled();
    const all = await disk.all();
    for (const record of all) {
      for (const length of [0, 1, 12, 28, 29, record.value.length - 1]) {
        await disk.open('m');
        await disk.replace([...all.filter((one) => one !== record), { ...record, value: record.value.slice(0, length) }]);
        expectTyped(await readAll(again()), ['STORAGE_CORRUPT']);
      }
    }
  });

  test('any two records swapped, within a store or across, are a typed error', async () => {
    const { disk, again } = await filled();
    const all = await disk.all();
    for (const one of all) {
      for (const other of all) {
        if (one === other) continue;
        await disk.open('m');
        await disk.replace([...all.filter((record) => record !== one && record !== other), { ...one, value: other.value }, { ...other, value: one.value }]);
        expectTyped(await readAll(again()), ['STORAGE_CORRUPT']);
      }
    }
  });

  test('any one record that is replaced by an older one is a typed error', async () => {
    const { disk, engine, again } = await filled();
    const old = await disk.all();
    for (const store of STORES) await put(engine, store, 'ada.l/1', 'newer');
    await put(engine, 'wal', 'eve/1', 'newer');
    await engine.close();
    await disk.open('m');
    const recent = await disk.all();
    let replayed = 0;
    for (const record of old) {
      if (recent.some(({ key, store, value }) => key === record.key && store === record.store && Buffer.from(value).equals(record.value))) continue;
      await disk.open('m');
      await disk.replace(recent);
      await disk.put(record);
      expectTyped(await readAll(again()), ['STORAGE_CORRUPT']);
      replayed++;
    }
    expect(replayed).toBe(5 + 2); // records and states
  });

  test('any record removed, and a removed one put back, are a typed error', async () => {
    const { disk, engine, again } = await filled();
    const all = await disk.all();
    for (const record of all) {
      await disk.open('m');
      await disk.replace(all.filter((one) => one !== record));
      expectTyped(await readAll(again()), ['STORAGE_CORRUPT']);
    }
    await disk.open('m');
    await disk.replace(all);
    await engine.commit({ puts: [], deletes: [{ store: 'wal', from: 'ada.l/2', to: 'ada.l/2\0' }], durability: 'strict' });
    const rest = await disk.all();
    await disk.put(all.find((record) => !rest.some(({ key, store }) => key === record.key && store === record.store)) as Stored);
    expectTyped(await readAll(again()), ['STORAGE_CORRUPT']);
  });

  test('a record of another database of the same passphrase is a typed error', async () => {
    const [one, other] = [await filled(), await filled()];
    const [mine, theirs] = [await one.disk.all(), await other.disk.all()];
    for (const prefix of ['header', 'keys/', 'state/']) {
      await one.disk.open('m');
      const place = mine.filter(({ key }) => key.startsWith(prefix)) as Stored[];
      const foreign = theirs.filter(({ key }) => key.startsWith(prefix)) as Stored[];
      await one.disk.replace([...mine.filter((record) => !place.includes(record)), ...place.map((record, at) => ({ ...record, value: (foreign[at] as Stored).value }))]);
      expectTyped(await readAll(one.again()), ['STORAGE_CORRUPT']);
    }
  });

  test('a change under an open store is noticed at the next read', async () => {
    const { disk, engine } = await filled();
    const old = await disk.all();
    await put(engine, 'chunk', 'ada.l/1', 'newer');
    const fresh = await disk.all();
    await disk.put(old.find(({ store }) => store === 'chunk') as Stored);
    await expect(words(engine, 'chunk', 'ada.l/1')).rejects.toMatchObject({ code: 'STORAGE_CORRUPT', data: { reason: 'replayed' } });
    await disk.replace(fresh);
    expect(await words(engine, 'chunk', 'ada.l/1')).toBe('newer');
  });

  test('the whole of a user rolled back is noticed while the object lives, and not by a new one', async () => {
    const { disk, engine, again } = await filled();
    const old = await disk.all();
    await put(engine, 'wal', 'ada.l/1', 'newer');
    await engine.close();
    await disk.open('m');
    await disk.replace(old);
    await engine.open('m');
    await expect(words(engine, 'wal', 'ada.l/1')).rejects.toMatchObject({ code: 'STORAGE_CORRUPT', data: { reason: 'rolled-back' } });
    // What is documented as the limit.
    expect(await readAll(again())).toHaveLength(6);
  });
});

describe('s14 a store that is used', () => {
  test('is refused when it holds a memory that is not encrypted', async () => {
    const disk = new Disk();
    await disk.open('m');
    await put(disk, 'chunk', 'k', 'plain');
    await expect(encrypted(disk, quick('p')).open('m')).rejects.toMatchObject({ code: 'STORAGE_CORRUPT', data: { reason: 'no-header' } });
  });

  test('case_33 two users have keys of their own, and neither reads the other', async () => {
    const { disk, engine } = await filled();
    expect(await engine.read({ store: 'wal', from: 'ada.l/', to: 'ada.l0' })).toHaveLength(2);
    expect(await engine.read({ store: 'wal', from: 'eve/', to: 'eve0' })).toHaveLength(1);
    expect(new Set((await disk.all()).map(({ key }) => key).filter((key) => key.startsWith('keys/'))).size).toBe(2);
  });

  test('case_31 a hundred commits and reads at once leave a store that opens', async () => {
    const { engine, again } = await filled();
    await Promise.all(Array.from({ length: 100 }, async (_, at) => {
      await put(engine, 'wal', `${at % 2 ? 'ada.l' : 'eve'}/n${at}`, String(at));
      expect(await words(engine, 'wal', `${at % 2 ? 'ada.l' : 'eve'}/n${at}`)).toBe(String(at));
    }));
    await engine.close();
    expect(await readAll(again())).toHaveLength(106);
  });

  test('a key put twice in a batch has its last value, also after reopening', async () => {
    const { engine, again } = await filled();
    const value = (text: string) => new TextEncoder().encode(text);
    await engine.commit({ puts: [{ store: 'wal', key: 'ada.l/3', value: value('a') }, { store: 'wal', key: 'ada.l/3', value: value('b') }], deletes: [], durability: 'strict' });
    await engine.close();
    const other = again();
    await other.open('m');
    expect(await words(other, 'wal', 'ada.l/3')).toBe('b');
  });

  test.each(['before', 'after'] as const)('case_40 a commit whose outcome is unknown (%s it is carried out) leaves a store that opens', async (when) => {
    const { disk, engine, again } = await filled();
    disk.onCommit = (now) => {
      if (now === when) throw new Error('the disk is gone');
    };
    await expect(put(engine, 'wal', 'ada.l/9', 'ninth')).rejects.toThrow();
    disk.onCommit = () => undefined;
    await put(engine, 'wal', 'ada.l/8', 'eighth');
    await engine.close();
    const other = again();
    await other.open('m');
    expect(await words(other, 'wal', 'ada.l/8')).toBe('eighth');
    expect(await words(other, 'wal', 'ada.l/9')).toBe(when === 'after' ? 'ninth' : undefined);
  });

  test('case_38 a full disk is STORAGE_QUOTA, and what was there is still read', async () => {
    const disk = new MemoryStorage({ quotaBytes: 2_000 });
    const engine = encrypted(disk, quick('p'));
    await engine.open('m');
    await put(engine, 'wal', 'ada.l/1', 'small');
    await expect(put(engine, 'wal', 'ada.l/2', 'x'.repeat(2_000))).rejects.toMatchObject({ code: 'STORAGE_QUOTA' });
    expect(await words(engine, 'wal', 'ada.l/1')).toBe('small');
    await put(engine, 'wal', 'ada.l/2', 'small too');
    expect(await words(engine, 'wal', 'ada.l/2')).toBe('small too');
  });

  test('what another object has written since is seen by the next read', async () => {
    const { engine, again } = await filled();
    const other = again();
    await other.open('m');
    await put(other, 'wal', 'ada.l/3', 'third');
    expect(await engine.read({ store: 'wal', from: 'ada.l/', to: 'ada.l0' })).toHaveLength(3);
  });
});
