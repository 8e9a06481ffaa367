import { expect, test } from 'vitest';
import { MemoryOSError } from '../errors.js';
import { fakeClock } from '../fixtures/clock.js';
import { Background } from './background.js';

function loop(work: () => Promise<{ ran: boolean; nextDueMs: number | null }>) {
  const clock = fakeClock(1_000);
  const queue: (() => void)[] = [];
  const background = new Background({ work, clock, idle: (fn) => queue.push(fn) });
  const idle = async (): Promise<void> => {
    queue.shift()?.();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { background, clock, queue, idle };
}

test('jobs run one at a time, each in its own idle time, until none is left', async () => {
  let left = 3;
  const { background, idle, queue } = loop(async () => ({ ran: left-- > 0, nextDueMs: null }));
  background.kick();
  background.kick();
  expect(queue).toHaveLength(1);
  for (let at = 0; at < 4; at++) await idle();
  expect(left).toBe(-1);
  expect(queue).toHaveLength(0);
});

test('a kick while a job runs is not lost and never starts a second', async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  let finish: () => void = () => undefined;
  const { background, idle, queue } = loop(async () => {
    most = Math.max(most, ++running);
    runs++;
    await new Promise<void>((resolve) => (finish = resolve));
    running--;
    return { ran: false, nextDueMs: null };
  });
  background.kick();
  await idle();
  background.kick();
  background.kick();
  expect(queue).toHaveLength(0);
  finish();
  await idle();
  await idle();
  finish();
  expect({ runs, most }).toEqual({ runs: 2, most: 1 });
});

test('it sleeps until the next job is due, and never spins on one that is overdue', async () => {
  const answers = [{ ran: false, nextDueMs: 6_000 }, { ran: false, nextDueMs: 1 }, { ran: false, nextDueMs: null }];
  const { background, clock, idle } = loop(async () => answers.shift() ?? { ran: false, nextDueMs: null });
  background.kick();
  await idle();
  expect(await clock.next()).toBe(5_000);
  await idle();
  expect(await clock.next()).toBe(50);
  await idle();
  expect(clock.waiting()).toEqual([]);
});

test('after failures it comes back later and later, after CLOSED not at all', async () => {
  const errors = [new Error('disk'), new Error('disk'), new MemoryOSError('CLOSED', 'closed')];
  const { background, clock, idle, queue } = loop(() => Promise.reject(errors.shift() as Error));
  background.kick();
  await idle();
  expect(await clock.next()).toBe(1_000);
  await idle();
  expect(await clock.next()).toBe(2_000);
  await idle();
  background.kick();
  expect([clock.waiting().length, queue.length]).toEqual([0, 0]);
});

test('stopping waits for the running job and starts no other', async () => {
  let finish: () => void = () => undefined;
  let ended = false;
  const { background, idle, queue } = loop(async () => {
    await new Promise<void>((resolve) => (finish = resolve));
    ended = true;
    return { ran: true, nextDueMs: null };
  });
  background.kick();
  await idle();
  const stopped = background.stop().then(() => ended);
  finish();
  expect(await stopped).toBe(true);
  expect(queue).toHaveLength(0);
});
