import { describe, expect, test } from 'vitest';
import { FaultyDisk, Stopped } from '../../fixtures/faulty-disk.js';
import type { Faults } from '../../fixtures/faulty-disk.js';
import { storageConformance } from '../conformance.js';
import type { StoreName, WriteBatch } from '../types.js';
import { fileName } from './name.js';
import { LogStorage } from './store.js';

const OPTIONS = { reserveBytes: 0 };
const put = (key: string, bytes: number | Uint8Array, store: StoreName = 'wal'): WriteBatch => ({
  puts: [{ store, key, value: typeof bytes === 'number' ? new Uint8Array(bytes).fill(key.charCodeAt(0)) : bytes }], deletes: [], durability: 'strict',
});
const remove = (from: string, to: string, store: StoreName = 'wal'): WriteBatch => ({ puts: [], deletes: [{ store, from, to }], durability: 'strict' });

async function opened(disk: FaultyDisk, options: ConstructorParameters<typeof LogStorage>[1] = OPTIONS): Promise<LogStorage> {
  const store = new LogStorage(disk, options);
  await store.open('m');
  return store;
}

/** Keys and bytes of everything, as one comparable text. */
async function everything(store: LogStorage): Promise<string> {
  const found: unknown[] = [];
  for (const name of ['wal', 'chunk', 'manifest', 'blob'] as const) {
    for (const { key, value } of await store.read({ store: name, from: '', to: '\u007f' })) found.push([name, key, [...value]]);
  }
  return JSON.stringify(found);
}

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => ((state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0) / 2 ** 32;
}

describe('a log conforms', () => {
  for (const { name, run } of storageConformance(() => new LogStorage(new FaultyDisk(), OPTIONS))) test(name, run);
});

describe('a log that is compacted after every batch and written a few bytes at a time conforms', () => {
  for (const { name, run } of storageConformance(() => new LogStorage(new FaultyDisk({ writeBytes: 9_973 }), { ...OPTIONS, compactFromBytes: 0 }))) test(name, run);
});

/** Puts, replacements and deletes over several stores; the second value each is what the next step must not lose. */
const SCRIPT: WriteBatch[] = [
  put('a', 5),
  { puts: [...put('b', 3).puts, ...put('c', 4, 'chunk').puts, ...put('m', 2, 'manifest').puts], deletes: [], durability: 'relaxed' },
  put('a', 9),
  { puts: put('d', 1).puts, deletes: [{ store: 'wal', from: 'a', to: 'b' }, { store: 'chunk', from: '', to: 'z' }], durability: 'strict' },
  put('m', 3, 'manifest'),
  remove('b', 'c'),
];

/** What the store holds after each batch of the script, the first before any. */
async function states(): Promise<string[]> {
  const store = await opened(new FaultyDisk());
  const seen = [await everything(store)];
  for (const batch of SCRIPT) {
    await store.commit(batch);
    seen.push(await everything(store));
  }
  return seen;
}

/** Runs the script on a disk that stops; gives how many batches were acknowledged. */
async function run(disk: FaultyDisk, options: { compactFromBytes?: number }): Promise<number> {
  let acknowledged = 0;
  try {
    const store = await opened(disk, { ...OPTIONS, ...options });
    for (const batch of SCRIPT) {
      await store.commit(batch);
      acknowledged++;
    }
    await store.close();
  } catch (error) {
    let cause: unknown = error;
    while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
    if (!(cause instanceof Stopped)) throw error;
  }
  return acknowledged;
}

describe('case_40_the_machine_stops', () => {
  const ways: [string, { compactFromBytes?: number }, Faults][] = [
    ['without compaction', {}, {}],
    ['with a compaction after every batch', { compactFromBytes: 0 }, {}],
    ['with compactions that rename in two steps', { compactFromBytes: 0 }, { renamesInTwo: true }],
  ];
  for (const [title, options, faults] of ways) {
    test(`case_40_at_every_byte_and_operation_${title.replaceAll(' ', '_')}_what_was_acknowledged_is_there_and_no_batch_is_torn`, async () => {
      const expected = await states();
      const whole = new FaultyDisk(faults);
      expect(await run(whole, options)).toBe(SCRIPT.length);
      const seed = Date.now() >>> 0;
      console.log(`seed ${seed}`);
      const random = seeded(seed);
      for (let steps = 0; steps < whole.stepsTaken; steps++) {
        const disk = new FaultyDisk({ ...faults, steps });
        const acknowledged = await run(disk, options);
        // The process alone dies; all that was not flushed is lost; pieces of it are.
        for (const loses of [() => false, () => true, () => random() < 0.5]) {
          const store = await opened(disk.restarted({}, loses), { ...OPTIONS, ...options });
          const found = await everything(store);
          const at = expected.lastIndexOf(found);
          expect(at, `stopped after ${steps} steps with ${acknowledged} acknowledged: ${found}`).toBeGreaterThanOrEqual(acknowledged);
          expect(at).toBeLessThanOrEqual(acknowledged + 1);
          // And it is of use again.
          await store.commit(put('z', 1));
          await store.close();
          await store.open('m');
          expect(await everything(store)).toContain('"z"');
          await store.close();
        }
      }
    });
  }

  test('case_40_a_stop_while_a_torn_end_is_being_cut_off_loses_nothing', async () => {
    const expected = await states();
    const torn = new FaultyDisk();
    const store = await opened(torn);
    for (const batch of SCRIPT) await store.commit(batch);
    const content = [...torn.files.values()][0] as { bytes: Uint8Array };
    content.bytes = content.bytes.slice(0, -3);
    for (let steps = 0; steps < 6; steps++) {
      const disk = torn.restarted({ steps });
      await opened(disk).catch(() => undefined);
      expect(await everything(await opened(disk.restarted()))).toBe(expected.at(-2));
    }
  });
});

describe('damage', () => {
  test('a_flipped_bit_is_refused_or_taken_for_a_torn_last_write_never_read', async () => {
    const expected = await states();
    const disk = new FaultyDisk();
    const store = await opened(disk, { ...OPTIONS, compactFromBytes: Number.MAX_SAFE_INTEGER });
    const ends: number[] = [];
    const name = [...disk.files.keys()][0] as string;
    for (const batch of SCRIPT) {
      ends.push((disk.files.get(name) as { bytes: Uint8Array }).bytes.length);
      await store.commit(batch);
    }
    const { bytes } = disk.files.get(name) as { bytes: Uint8Array };
    let [refused, cut] = [0, 0];
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = bytes.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
      const other = new FaultyDisk({}, new Map([[name, { bytes: damaged, synced: damaged }]]));
      try {
        const found = await everything(await opened(other));
        expect(found, `bit ${bit}`).toBe(expected.at(-2));
        expect(bit >> 3).toBeGreaterThanOrEqual(ends.at(-1) as number);
        cut++;
      } catch (error) {
        expect(error, `bit ${bit}`).toMatchObject({ code: 'STORAGE_CORRUPT' });
        // What cannot be read is left as it is.
        expect((other.files.get(name) as { bytes: Uint8Array }).bytes).toEqual(damaged);
        refused++;
      }
    }
    expect(cut).toBe((bytes.length - (ends.at(-1) as number)) * 8);
    expect(refused).toBe((ends.at(-1) as number) * 8);
  });

  test('after_a_clean_close_no_flipped_bit_loses_a_batch', async () => {
    const disk = new FaultyDisk();
    const store = await opened(disk);
    for (const key of ['a', 'b', 'c']) await store.commit(put(key, 20));
    const before = await everything(store);
    await store.close();
    const [name, { bytes }] = [...disk.files][0] as [string, { bytes: Uint8Array }];
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] as number) ^ 0x10;
      const again = opened(new FaultyDisk({}, new Map([[name, { bytes: damaged, synced: damaged }]])));
      await again.then(async (open) => expect(await everything(open)).toBe(before), (error) => expect(error).toMatchObject({ code: 'STORAGE_CORRUPT' }));
    }
  });

  test('a_value_that_went_bad_while_the_store_was_open_is_not_handed_out_nor_copied_by_a_compaction', async () => {
    const disk = new FaultyDisk();
    const store = await opened(disk);
    await store.commit(put('a', 50));
    await store.commit(put('b', 50));
    const { bytes } = [...disk.files.values()][0] as { bytes: Uint8Array };
    bytes[bytes.indexOf(97, 60)] = 0;
    await expect(store.read({ store: 'wal', from: 'a', to: 'b' })).rejects.toMatchObject({ code: 'STORAGE_CORRUPT', message: expect.stringContaining('wal/a') });
    await expect(store.compact()).rejects.toMatchObject({ code: 'STORAGE_CORRUPT' });
    expect(await store.read({ store: 'wal', from: 'b', to: 'c' })).toHaveLength(1);
  });

  test('a_log_of_a_newer_format_is_left_alone', async () => {
    const disk = new FaultyDisk();
    await (await opened(disk)).close();
    const { crc32 } = await import('./crc.js');
    const { bytes } = [...disk.files.values()][0] as { bytes: Uint8Array };
    const view = new DataView(bytes.buffer);
    view.setUint32(8, 2, true);
    view.setUint32(20, crc32(bytes.subarray(0, 20)), true);
    await expect(opened(disk.restarted())).rejects.toMatchObject({ code: 'VERSION_TOO_NEW' });
  });
});

describe('case_38_the_disk_is_full', () => {
  const full = async (options: Faults, log = {}): Promise<{ disk: FaultyDisk; store: LogStorage }> => {
    const disk = new FaultyDisk(options);
    return { disk, store: await opened(disk, { ...OPTIONS, ...log }) };
  };

  test('case_38_a_batch_without_room_is_refused_whole_and_reading_and_smaller_batches_go_on', async () => {
    const { store, disk } = await full({ roomBytes: 400 });
    await store.commit(put('a', 100));
    const before = await everything(store);
    const size = (): number => [...disk.files.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
    const sizeBefore = size();
    await expect(store.commit({ ...put('b', 10), puts: [...put('b', 10).puts, ...put('c', 500).puts] })).rejects.toMatchObject({ code: 'STORAGE_QUOTA' });
    expect(await everything(store)).toBe(before);
    // Half a batch would take the room that others need.
    expect(size()).toBe(sizeBefore);
    await store.commit(put('b', 20));
    expect(await everything(await opened(disk.restarted()))).toBe(await everything(store));
  });

  test('case_38_of_batches_that_arrive_together_those_with_room_are_stored', async () => {
    const { store } = await full({ roomBytes: 400 });
    const outcomes = await Promise.allSettled([store.commit(put('a', 30)), store.commit(put('b', 900)), store.commit(put('c', 30))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await store.read({ store: 'wal', from: '', to: '~' })).map(({ key }) => key)).toEqual(['a', 'c']);
  });

  test('case_38_deleting_works_on_a_full_disk_and_makes_room', async () => {
    const { store } = await full({ roomBytes: 2_500 }, { reserveBytes: 1_000, compactFromBytes: Number.MAX_SAFE_INTEGER });
    let stored = 0;
    for (; stored < 100; stored++) if (!(await store.commit(put(`k${stored}`, 100)).then(() => true, () => false))) break;
    expect(stored).toBeGreaterThan(5);
    await expect(store.commit(put('more', 100))).rejects.toMatchObject({ code: 'STORAGE_QUOTA' });
    await store.commit(remove('k', 'l'));
    expect(await everything(store)).toBe('[]');
    for (let at = 0; at < 5; at++) await store.commit(put(`n${at}`, 100));
    // What was set aside is there again for the next time.
    while (await store.commit(put(`x${stored++}`, 100)).then(() => true, () => false));
    await store.commit(remove('n', 'z'));
    expect(await everything(store)).toBe('[]');
  });

  test('case_38_a_compaction_without_room_leaves_the_log_in_use', async () => {
    const { store, disk } = await full({ roomBytes: 700 });
    await store.commit(put('a', 150));
    await store.commit(put('a', 150));
    disk.faults = { roomBytes: 420 };
    await expect(store.compact()).rejects.toMatchObject({ code: 'STORAGE_QUOTA' });
    expect([...disk.files.keys()]).toHaveLength(1);
    disk.faults = {};
    await store.commit(put('b', 1));
    expect(JSON.parse(await everything(store))).toHaveLength(2);
  });
});

describe('a disk that fails', () => {
  test('a_flush_that_fails_makes_the_outcome_unknown_so_that_writes_are_refused_until_it_is_opened_anew', async () => {
    const disk = new FaultyDisk();
    const store = await opened(disk);
    await store.commit(put('a', 5));
    disk.faults = { failing: { operation: 'sync' } };
    await expect(store.commit(put('b', 5))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await expect(store.commit(put('c', 5))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(await store.read({ store: 'wal', from: 'a', to: 'b' })).toHaveLength(1);
    await store.close();
    await store.open('m');
    await store.commit(put('c', 5));
    expect(JSON.parse(await everything(store)).map(([, key]: string[]) => key)).toEqual(['a', 'b', 'c']);
  });

  test('a_write_that_fails_and_cannot_be_taken_back_does_so_too', async () => {
    const disk = new FaultyDisk({ writeBytes: 10 });
    const store = await opened(disk);
    disk.faults = { writeBytes: 10, failing: { operation: 'write', after: 1 } };
    await expect(store.commit(put('a', 5))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await store.commit(put('b', 5));
    disk.faults = { steps: disk.stepsTaken + 5 };
    await expect(store.commit(put('c', 500))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(JSON.parse(await everything(await opened(disk.restarted()))).map(([, key]: string[]) => key)).toEqual(['b']);
  });

  test('a_rename_that_fails_leaves_the_old_file_in_use', async () => {
    const disk = new FaultyDisk();
    const store = await opened(disk);
    await store.commit(put('a', 5));
    await store.commit(put('a', 6));
    disk.faults = { failing: { operation: 'replace' } };
    await expect(store.compact()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await store.commit(put('b', 5));
    expect(JSON.parse(await everything(await opened(disk.restarted()))).map(([, key]: string[]) => key)).toEqual(['a', 'b']);
  });
});

describe('compaction', () => {
  const holds = (disk: FaultyDisk, text: string): boolean => [...disk.files.values()].some(({ bytes }) => new TextDecoder('latin1').decode(bytes).includes(text));
  const secret = new TextEncoder().encode('a secret');

  test('what_was_deleted_or_replaced_is_in_no_file_after_compact_and_after_close', async () => {
    const disk = new FaultyDisk();
    const store = await opened(disk);
    for (const end of [() => store.compact(), () => store.close()]) {
      await store.commit(put('a', secret));
      await store.commit(put('a', 3));
      expect(holds(disk, 'a secret')).toBe(true);
      await end();
      expect(holds(disk, 'a secret')).toBe(false);
    }
  });

  test('a_file_stays_within_twice_of_what_is_alive', async () => {
    const disk = new FaultyDisk();
    const store = await opened(disk, { ...OPTIONS, compactFromBytes: 5_000 });
    for (let at = 0; at < 200; at++) await store.commit(put('k', 1_000));
    const { bytes } = [...disk.files.values()][0] as { bytes: Uint8Array };
    expect(bytes.length).toBeLessThan(7_000);
    expect(JSON.parse(await everything(store))).toHaveLength(1);
  });

  test('batches_that_wait_for_one_flush_share_the_next', async () => {
    const disk = new FaultyDisk();
    const store = await opened(disk);
    const before = disk.stepsTaken;
    await Promise.all(Array.from({ length: 50 }, (_, at) => store.commit(put(`k${at}`, 1))));
    const bytes = [...disk.files.values()].reduce((sum, file) => sum + file.bytes.length, 0);
    expect(disk.stepsTaken - before - bytes).toBeLessThan(20);
  });
});

test('case_34_names_of_databases_are_data', async () => {
  const names = ['', 'a', 'A', '../../etc/passwd', 'a/b', 'a:b', 'a b', 'CON', '名', '\0', 'x'.repeat(10_000)];
  const files = await Promise.all(names.map(fileName));
  expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length);
  for (const file of files) expect(file).toMatch(/^[a-z0-9][a-z0-9-]{0,60}\.log$/);
});
