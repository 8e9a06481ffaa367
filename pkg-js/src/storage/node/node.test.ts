import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundled } from '../../fixtures/bundle.js';
import { ALIVE, keyOf, valueOf } from '../../fixtures/numbered.js';
import { MemoryOS } from '../../memory-os.js';
import { storageConformance } from '../conformance.js';
import { NodeStorage } from './index.js';

let root: string;
let serial = 0;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'memstrata-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const folder = (): string => join(root, `store-${++serial}`);
const batch = (key: string) => ({ puts: [{ store: 'wal' as const, key, value: new Uint8Array([1, 2, 3]) }], deletes: [], durability: 'strict' as const });

describe('NodeStorage conforms', () => {
  for (const { name, run } of storageConformance(() => new NodeStorage({ directory: folder() }))) test(name, run);
});

test('o22_a_memory_in_files_is_there_when_it_is_opened_again', async () => {
  const directory = folder();
  const open = () => MemoryOS.open({ name: 'notes', userId: 'ada', embedder: 'none', storage: new NodeStorage({ directory }) });
  const memory = await open();
  const { id } = await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'A fine name.' });
  await memory.close();
  const again = await open();
  expect((await again.pages()).map((page) => page.id)).toEqual([id]);
  expect((await again.retrieve('dog')).context).toContain('Rex');
  await again.forget(id);
  await again.close();
  for (const name of readdirSync(directory)) expect(readFileSync(join(directory, name), 'latin1')).not.toContain('Rex');
});

test.skipIf(process.platform === 'win32')('files_are_readable_by_their_owner_alone', async () => {
  const directory = folder();
  const store = new NodeStorage({ directory });
  await store.open('m');
  await store.commit(batch('a'));
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(readdirSync(directory).map((name) => name.replace(/^m-[0-9a-f]{24}/, 'm')).sort()).toEqual(['m.log', 'm.log.lock', 'm.log.reserve']);
  for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o777, name).toBe(0o600);
  await store.close();
});

test('a_folder_that_is_none_is_named', async () => {
  expect(() => new NodeStorage({ directory: '' })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  const file = join(root, 'file');
  writeFileSync(file, '');
  await expect(new NodeStorage({ directory: file }).open('m')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: expect.stringContaining(file) });
});

describe('case_34_two_owners', () => {
  const lockOf = (directory: string): string => join(directory, readdirSync(directory).find((name) => name.endsWith('.lock')) as string);

  test('a_second_one_is_refused_and_told_who_holds_it_until_the_first_lets_go', async () => {
    const directory = folder();
    const [first, second] = [new NodeStorage({ directory }), new NodeStorage({ directory, lockWaitMs: 0 })];
    await first.open('m');
    await expect(second.open('m')).rejects.toMatchObject({ code: 'LOCKED', message: expect.stringContaining(`process ${process.pid}`) });
    await second.open('other');
    await first.close();
    await second.close();
    await second.open('m');
    await second.close();
  });

  test('the_lock_of_a_process_that_is_gone_is_taken_over_at_once', async () => {
    const directory = folder();
    const store = new NodeStorage({ directory, lockWaitMs: 0 });
    await store.open('m');
    const owner = JSON.parse(readFileSync(lockOf(directory), 'utf8')) as Record<string, unknown>;
    const path = lockOf(directory);
    await store.close();
    const gone = spawn(process.execPath, ['-e', '']);
    await once(gone, 'exit');
    for (const left of [{ ...owner, pid: gone.pid }, { ...owner, start: '1' }]) {
      writeFileSync(path, JSON.stringify(left));
      await store.open('m');
      await store.close();
    }
  });

  test('the_lock_of_another_machine_and_one_that_cannot_be_read_are_taken_over_after_a_minute_of_silence', async () => {
    const directory = folder();
    const store = new NodeStorage({ directory, lockWaitMs: 0 });
    await store.open('m');
    const path = lockOf(directory);
    const owner = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    await store.close();
    for (const left of [JSON.stringify({ ...owner, host: 'elsewhere' }), '{"pid":']) {
      writeFileSync(path, left);
      await expect(store.open('m')).rejects.toMatchObject({ code: 'LOCKED' });
      const before = new Date(Date.now() - 61_000);
      utimesSync(path, before, before);
      await store.open('m');
      await store.close();
    }
  });

  test('who_lost_the_lock_writes_nothing_more_and_leaves_the_other_its_lock', async () => {
    const directory = folder();
    const store = new NodeStorage({ directory });
    await store.open('m');
    await store.commit(batch('a'));
    const other = JSON.stringify({ ...JSON.parse(readFileSync(lockOf(directory), 'utf8')) as object, token: 'another' });
    writeFileSync(lockOf(directory), other);
    await expect(store.commit(batch('b'))).rejects.toMatchObject({ code: 'LOCKED' });
    await store.close();
    expect(readFileSync(lockOf(directory), 'utf8')).toBe(other);
  });
});

test('case_40_a_process_that_is_killed_thirty_times_keeps_every_acknowledged_batch_and_tears_none', async () => {
  const seed = Date.now() >>> 0;
  console.log(`seed ${seed}`);
  let state = seed;
  const random = (): number => ((state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32);
  const script = await bundled('fixtures/writing-process.ts', join(root, 'writing'));
  const directory = folder();
  let next = 0;
  for (let kill = 0; kill < 30; kill++) {
    const child = spawn(process.execPath, [script, directory, String(next)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(child, 'exit');
    const wait = Math.floor(random() * 60);
    let acknowledged = -1;
    let heard = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged = Number(line);
      if (heard++ === wait) child.kill('SIGKILL');
    }
    expect((await exit)[1]).toBe('SIGKILL');
    const store = new NodeStorage({ directory, reserveBytes: 0 });
    await store.open('killed');
    const [last] = await store.read({ store: 'manifest', from: 'last', to: 'lasu' });
    const number = Number(new TextDecoder().decode(last?.value));
    expect(number, `kill ${kill}`).toBeGreaterThanOrEqual(acknowledged);
    expect(number).toBeLessThanOrEqual(acknowledged + 1);
    for (const name of ['wal', 'chunk'] as const) {
      const found = await store.read({ store: name, from: '', to: '~' });
      const numbers = Array.from({ length: Math.min(ALIVE, number + 1) }, (_, at) => number - Math.min(ALIVE, number + 1) + 1 + at);
      expect(found.map(({ key }) => key)).toEqual(numbers.map(keyOf));
      found.forEach(({ value }, at) => expect(value).toEqual(valueOf(numbers[at] as number)));
    }
    await store.close();
    next = number + 1;
  }
  expect(next).toBeGreaterThan(300);
});
