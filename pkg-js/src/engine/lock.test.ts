import { expect, test } from 'vitest';
import { fakeClock } from '../fixtures/clock.js';
import { acquire, lockName } from './lock.js';

const ME = { name: 'm', userId: 'u', assistantId: 'a' };

test('names of different memories never meet', () => {
  const names = [
    lockName('indexeddb', ME), lockName('other', ME), lockName('indexeddb', { name: 'm","u', userId: 'a', assistantId: '' }),
    lockName('indexeddb', { name: 'm', userId: 'u/a', assistantId: '' }), lockName('indexeddb', { name: 'm/u', userId: 'a', assistantId: '' }),
  ];
  expect(new Set(names).size).toBe(names.length);
});

test('the second owner waits for the first, and gets the lock when it is let go', async () => {
  const clock = fakeClock();
  const release = await acquire('s', ME, { clock });
  const second = acquire('s', ME, { clock });
  const other = await acquire('s', { ...ME, userId: 'other' }, { clock });
  release();
  (await second)();
  other();
  (await acquire('s', ME, { clock }))();
  expect(clock.waiting()).toEqual([]);
});

test('after three seconds it is refused with a remedy, and those behind are not held up', async () => {
  const clock = fakeClock();
  const release = await acquire('s', ME, { clock });
  const refused = acquire('s', ME, { clock }).catch((error: unknown) => error);
  expect(await clock.next()).toBe(3_000);
  expect(await refused).toMatchObject({ code: 'LOCKED', message: expect.stringMatching(/open in another tab.*close/) as string, data: { ...ME, waitedMs: 3_000 } });
  const third = acquire('s', ME, { clock });
  release();
  (await third)();
});

test('the caller may give up waiting', async () => {
  const release = await acquire('s', ME, { clock: fakeClock() });
  const controller = new AbortController();
  const waiting = acquire('s', ME, { clock: fakeClock(), signal: controller.signal }).catch((error: unknown) => error);
  controller.abort();
  expect(await waiting).toMatchObject({ code: 'ABORTED' });
  release();
});
