/** Memories of the real core in encrypted stores. `npm run build` makes the wasm file that this needs. */
import { afterEach, describe, expect, test } from 'vitest';
import { closeAll, NOW, opened } from '../fixtures/memories.js';
import { Disk, leaks, quick } from '../fixtures/encryption.js';
import type { Stored } from '../fixtures/encryption.js';
import type { MemoryOS } from '../memory-os.js';
import { MemoryStorage } from '../storage/memory.js';
import { encrypted } from './encrypted.js';
import { exportEncrypted, importEncrypted } from './file.js';
import { migrate } from './migrate.js';
import type { MigrationProgress } from './migrate.js';
import { spaceName } from './user.js';
import { fromRecoveryCode } from './unlock-key.js';

afterEach(closeAll);

const USER = 'ines.moreau@mail.example';
const ASSISTANT = 'assistant-of-ines';
const CANARY = 'marzipan lighthouse';

const turn = (at: number) => ({ userInput: `Turn ${at}: my neighbour ${NAMES[at % NAMES.length]} keeps ${at % 17} goats`, agentResponse: `Noted, ${at}.`, id: `t${at}`, timestamp: NOW - (2_000 - at) * 60_000 });
const NAMES = ['Anselm', 'Berta', 'Cosima', 'Dario', 'Edda', 'Florin', 'Greta'];

async function thousand(storage: NonNullable<Parameters<typeof opened>[0]>['storage'] & object): Promise<MemoryOS> {
  // Paused: which pages sink together is then no matter of time, and the two memories are the same to the id.
  const memory = await opened({ storage, config: { updatePolicy: 'offline' }, paused: true });
  for (let at = 0; at < 1_000; at += 50) await memory.addMany(Array.from({ length: 50 }, (_, n) => turn(at + n)));
  await memory.flush();
  await memory.close();
  return opened({ storage, config: { updatePolicy: 'offline' } });
}

describe('s14 a memory in an encrypted store', () => {
  test('of 1,000 turns, closed and opened again, finds what the plain one finds', async () => {
    const plain = await thousand(new MemoryStorage());
    const sealed = await thousand(encrypted(new MemoryStorage(), quick('p')));
    expect((await sealed.stats()).pages).toBe(1_000);
    for (const question of ['Who keeps 13 goats?', 'What did Edda do?', 'turn 871', 'Cosima and Dario', 'nothing of this']) {
      const [ours, theirs] = [await sealed.retrieve(question), await plain.retrieve(question)];
      expect(ours.context).toBe(theirs.context);
      expect(ours.hits).toEqual(theirs.hits);
    }
    expect((await sealed.retrieve('Who keeps 13 goats?')).hits.length).toBeGreaterThan(0);
    expect(await sealed.pages({ limit: 1_000 })).toEqual(await plain.pages({ limit: 1_000 }));
  }, 120_000);

  test('leaves no word, no id and no name on the disk, in any of the states of its store', async () => {
    const disk = new Disk();
    const texts = [CANARY, USER, ASSISTANT, 'favourite city', 'Lisbon', 'canary-session', await spaceName(USER, ASSISTANT)];
    let scanned = 0;
    disk.onCommit = (_when, batch) => {
      for (const { key, value } of batch.puts) {
        scanned++;
        expect(leaks(Buffer.concat([Buffer.from(key), value]), texts)).toBeUndefined();
      }
    };
    const memory = await opened({ storage: encrypted(disk, quick('p')), userId: USER, assistantId: ASSISTANT });
    await memory.addMemory({ userInput: `The ${CANARY} is mine.`, agentResponse: 'Yours.', session: 'canary-session' });
    await memory.addFact({ attribute: 'favourite city', value: 'Lisbon' });
    await memory.flush();
    await memory.retrieve(CANARY);
    await memory.close();
    expect(scanned).toBeGreaterThan(8);
  });

  test('has the key space that this package reckons for its user', async () => {
    const plain = new Disk();
    for (const [userId, assistantId] of [[USER, ASSISTANT], ['你好', 'a/b']] as const) await (await opened({ storage: plain, userId, assistantId })).addMemory({ userInput: 'a', agentResponse: 'b' });
    const names = new Set((await plain.all()).map(({ key }) => key.split('/')[0]));
    expect(names).toEqual(new Set([await spaceName(USER, ASSISTANT), await spaceName('你好', 'a/b')]));
  });

  test('a wrong passphrase opens no memory, and leaves it as it was', async () => {
    const disk = new Disk();
    const memory = await opened({ storage: encrypted(disk, quick('right')) });
    await memory.addMemory({ userInput: CANARY, agentResponse: '' });
    await memory.close();
    await disk.open('m');
    const before = await disk.all();
    await expect(opened({ storage: encrypted(disk, quick('wrong')) })).rejects.toMatchObject({ code: 'FORBIDDEN', data: { reason: 'wrong-passphrase' } });
    await disk.open('m');
    expect(await disk.all()).toEqual(before);
    expect((await (await opened({ storage: encrypted(disk, quick('right')) })).retrieve(CANARY)).hits).toHaveLength(1);
  });

  test('a damaged record is STORAGE_CORRUPT to the memory, without its text', async () => {
    const disk = new Disk();
    const memory = await opened({ storage: encrypted(disk, quick('p')) });
    await memory.addMemory({ userInput: CANARY, agentResponse: '' });
    await memory.close();
    await disk.open('m');
    const record = (await disk.all()).find(({ store }) => store === 'wal') as Stored;
    record.value[40] = (record.value[40] as number) ^ 1;
    await disk.put(record);
    const error = await opened({ storage: encrypted(disk, quick('p')) }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'STORAGE_CORRUPT', message: expect.not.stringContaining(CANARY) });
  });
});

describe('s14 b06 shredding', () => {
  /** Two users in one store, closed. */
  async function twoUsers() {
    const disk = new Disk();
    const storage = encrypted(disk, quick('p'));
    for (const userId of [USER, 'eve']) {
      const memory = await opened({ storage, userId });
      await memory.addMemory({ userInput: `${CANARY} of ${userId}`, agentResponse: '' });
      await memory.close();
    }
    await storage.unlock('m');
    const code = await storage.addRecoveryCode();
    return { disk, storage, code };
  }

  test('one user is gone, also to the recovery code and with all bytes put back; the other stays', async () => {
    const { disk, storage, code } = await twoUsers();
    const before = await disk.all();
    expect(await storage.shred(USER)).toBe(true);
    expect(await storage.shred(USER)).toBe(false);
    await storage.close();

    await disk.open('m');
    const after = await disk.all();
    const destroyed = before.filter(({ store, key }) => !after.some((one) => one.store === store && one.key === key));
    expect(destroyed.filter(({ key }) => key.startsWith('keys/'))).toHaveLength(1);
    // Every byte but the wrapped key, as an undeleting disk would have it.
    await disk.put(...destroyed.filter(({ key }) => !key.startsWith('keys/')));
    for (const key of [quick('p'), fromRecoveryCode(code)]) {
      const engine = encrypted(disk, key);
      await expect(opened({ storage: engine, userId: USER })).rejects.toMatchObject({ code: 'STORAGE_CORRUPT', message: expect.stringContaining('key is gone') });
      const eve = await opened({ storage: engine, userId: 'eve' });
      expect((await eve.retrieve(CANARY)).hits).toHaveLength(1);
      await eve.close();
    }
  });

  test('the user may begin anew, with nothing of the old', async () => {
    const { disk, storage } = await twoUsers();
    await storage.shred(USER);
    await storage.close();
    const memory = await opened({ storage: encrypted(disk, quick('p')), userId: USER });
    expect((await memory.stats()).pages).toBe(0);
    await memory.addMemory({ userInput: 'anew', agentResponse: '' });
    expect((await memory.retrieve(CANARY)).hits.map(({ text }) => text).join()).not.toContain(CANARY);
  });

  test('with the wrapped key put back too, the object that shredded it does not believe it', async () => {
    const { disk, storage } = await twoUsers();
    const before = await disk.all();
    await storage.read({ store: 'wal', from: `${await spaceName(USER, 'default')}/`, to: `${await spaceName(USER, 'default')}0` });
    await storage.shred(USER);
    await disk.replace(before);
    await expect(opened({ storage, userId: USER })).rejects.toMatchObject({ code: 'STORAGE_CORRUPT', message: expect.stringContaining('by older ones') });
    await storage.close();
  });

  test('a memory that is open is not shredded under its owner', async () => {
    const storage = encrypted(new Disk(), quick('p'));
    const memory = await opened({ storage, userId: USER });
    await memory.addMemory({ userInput: CANARY, agentResponse: '' });
    await expect(storage.shred(USER)).rejects.toMatchObject({ code: 'LOCKED' });
    expect((await memory.retrieve(CANARY)).hits).toHaveLength(1);
    await expect(storage.shred('')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('s14 migration', () => {
  async function source(storage = new MemoryStorage() as NonNullable<Parameters<typeof opened>[0]>['storage'] & object): Promise<MemoryOS> {
    const memory = await opened({ storage, config: { updatePolicy: 'offline' } });
    await memory.addMany(Array.from({ length: 40 }, (_, at) => turn(at)));
    await memory.addFact({ attribute: 'home city', value: 'Lisbon' });
    return memory;
  }
  const seen = async (memory: MemoryOS) => ({
    pages: (await memory.pages()).map(({ id, userInput }) => [id, userInput]),
    facts: (await memory.facts()).map(({ id, value }) => [id, value]),
    found: (await memory.retrieve('Who keeps 13 goats?')).hits.map(({ text }) => text),
  });

  test('there and back again gives the same memory, and says how far it is', async () => {
    const plain = await source();
    const sealed = await opened({ storage: encrypted(new Disk(), quick('p')) });
    const back = await opened({ storage: new MemoryStorage() });
    const before = await seen(plain);
    const progress: MigrationProgress[] = [];
    expect(await migrate(plain, sealed, { onProgress: (one) => progress.push(one), clearSource: true })).toEqual({ pages: 40, facts: 1, duplicates: 0, cleared: true });
    expect(progress).toEqual([
      { step: 'export', done: 0, total: 40 },
      { step: 'import', done: 0, total: 40 },
      { step: 'compare', done: 0, total: 40 },
      { step: 'compare', done: 40, total: 40 },
      { step: 'clear', done: 40, total: 40 },
    ]);
    expect((await plain.stats()).pages).toBe(0);
    expect(await seen(sealed)).toEqual(before);
    expect(await migrate(sealed, back)).toMatchObject({ cleared: false });
    expect(await seen(back)).toEqual(before);
    expect(await seen(sealed)).toEqual(before);
  });

  test('case_40 killed at any write, the old one is whole, and a second call completes it', async () => {
    let killed = 0;
    for (let at = 1; at < 50; at++) {
      const [plainDisk, sealedDisk] = [new Disk(), new Disk()];
      const plain = await source(plainDisk);
      await plain.flush();
      const before = await seen(plain);
      const storage = encrypted(sealedDisk, quick('p'));
      const sealed = await opened({ storage, paused: true });
      let writes = 0;
      sealedDisk.onCommit = (when) => {
        if (when === 'before' && ++writes === at) throw new Error('killed');
      };
      const outcome = await migrate(plain, sealed, { clearSource: true }).then(() => 'done', () => 'killed');
      sealedDisk.onCommit = () => undefined;
      if (outcome === 'done') break;
      killed++;
      expect(await seen(plain)).toEqual(before);
      await sealed.close();
      const again = await opened({ storage: encrypted(sealedDisk, quick('p')) });
      expect((await again.stats()).pages).toBe(0);
      expect(await migrate(plain, again, { clearSource: true })).toMatchObject({ pages: 40, cleared: true });
      expect(await seen(again)).toEqual(before);
      await closeAll();
    }
    expect(killed).toBeGreaterThan(0);
  });

  test('clears nothing when the other memory lacks a page, or has another text for it', async () => {
    const plain = await source();
    const empty = await opened({ storage: new MemoryStorage() });
    const forgetful = Object.assign(Object.create(empty) as MemoryOS, { importFrom: async () => ({ added: 0, duplicates: 0 }), pages: async () => [], facts: async () => [] });
    await expect(migrate(plain, forgetful, { clearSource: true })).rejects.toMatchObject({ code: 'STORAGE_CORRUPT' });
    const lying = Object.assign(Object.create(empty) as MemoryOS, { importFrom: async () => ({ added: 0, duplicates: 0 }), pages: async () => (await plain.pages()).map((page) => ({ ...page, userInput: 'else' })), facts: () => plain.facts() });
    await expect(migrate(plain, lying, { clearSource: true })).rejects.toMatchObject({ code: 'STORAGE_CORRUPT' });
    expect((await plain.stats()).pages).toBe(40);
  });

  test('clears nothing when the memory was written to meanwhile, or the signal fires', async () => {
    const plain = await source();
    const sealed = await opened({ storage: encrypted(new Disk(), quick('p')) });
    // The word comes when all is compared, before anything is cleared.
    const late = Object.assign(Object.create(sealed) as MemoryOS, {
      importFrom: (file: Blob) => sealed.importFrom(file),
      pages: (options: object) => sealed.pages(options),
      facts: async (options: object) => {
        await plain.addMemory({ userInput: 'a late word', agentResponse: '' });
        return sealed.facts(options);
      },
    });
    await expect(migrate(plain, late, { clearSource: true })).rejects.toMatchObject({ code: 'ABORTED', data: { reason: 'source-changed' } });
    expect((await plain.stats()).pages).toBe(41);
    const stop = new AbortController();
    await expect(migrate(plain, sealed, { clearSource: true, signal: stop.signal, onProgress: ({ step }) => step === 'compare' && stop.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await plain.stats()).pages).toBe(41);
  });
});

describe('s14 an encrypted file', () => {
  test('holds the memory, opens by its passphrase alone, and shows nothing', async () => {
    const memory = await opened({ userId: USER });
    await memory.addMemory({ userInput: `The ${CANARY} is mine.`, agentResponse: 'Yours.' });
    const file = await exportEncrypted(memory, 'open sesame');
    const bytes = new Uint8Array(await file.arrayBuffer());
    expect(leaks(new Uint8Array(await (await memory.exportTo()).arrayBuffer()), [CANARY])).toBe(CANARY);
    expect(leaks(bytes, [CANARY, USER, 'open sesame', 'is mine'])).toBeUndefined();

    const other = await opened({ userId: 'u2' });
    await expect(importEncrypted(other, file, 'open barley')).rejects.toMatchObject({ code: 'FORBIDDEN', data: { reason: 'wrong-passphrase' } });
    expect((await other.stats()).pages).toBe(0);
    expect(await importEncrypted(other, file.stream(), 'open sesame')).toEqual({ added: 1, duplicates: 0 });
    expect(await importEncrypted(other, bytes, 'open sesame')).toEqual({ added: 0, duplicates: 1 });
    expect((await other.retrieve(CANARY)).hits).toHaveLength(1);
  });

  test('that is damaged or cut short anywhere brings nothing in', { timeout: 120_000 }, async () => {
    const memory = await opened();
    await memory.addMemory({ userInput: CANARY, agentResponse: '' });
    const bytes = new Uint8Array(await (await exportEncrypted(memory, 'p')).arrayBuffer());
    const other = await opened({ userId: 'u2' });
    const header = 8 + 4 + 1 + 8;
    // Of the body a few places, as each of them costs an Argon2id; of the header every byte that is no JSON, and some that are.
    const places = [...Array(header).keys(), header + 3, header + 90, bytes.length - 1, bytes.length - 40];
    for (const at of places) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] as number) ^ 4;
      await expect(importEncrypted(other, damaged, 'p')).rejects.toMatchObject({ code: expect.stringMatching(/^(STORAGE_CORRUPT|VERSION_TOO_NEW|INVALID_ARGUMENT)$/) });
    }
    for (const length of [0, 7, 8, 11, 12, 60, bytes.length - 1]) {
      await expect(importEncrypted(other, bytes.slice(0, length), 'p')).rejects.toMatchObject({ code: expect.stringMatching(/^(STORAGE_CORRUPT|INVALID_ARGUMENT)$/) });
    }
    expect((await other.stats()).pages).toBe(0);
    await expect(importEncrypted(other, bytes, 'q')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});
