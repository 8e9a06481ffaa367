/** Timers that come late: those of a hidden page, or of one whose machine was asleep. */
import { expect, test } from 'vitest';
import type { Engine } from '../engine/engine.js';
import { fakeClock } from '../fixtures/clock.js';
import { Browser } from '../fixtures/tabs.js';
import type { Tab } from '../fixtures/tabs.js';
import type { Notice, OpenChannel } from './room.js';
import { SILENCE_MS } from './share.js';
import { Silence } from './silence.js';

const MINUTE = 60_000;

/** Owner, follower, and a call of the follower that the owner answers when it is told to. */
async function asked(browser = new Browser()) {
  const [owner, follower] = [browser.tab(), browser.tab()] as [Tab, Tab];
  const engines = [await owner.open(), await follower.open()] as [Engine, Engine];
  let answer!: () => void;
  browser.store.beforeAnswer = (method) => (method === 'addFact' ? new Promise((resolve) => (answer = resolve)) : undefined);
  const outcome = engines[1].call('addFact', [{} as never]).catch((error: unknown) => error);
  await browser.settle();
  /** The next timer comes a minute late. */
  const late = async (): Promise<void> => {
    browser.clock.oversleep(MINUTE);
    await browser.clock.next();
    await browser.settle();
  };
  return { browser, owner, engines, outcome, late, answer: () => answer() };
}

test('a late timer does not lose an owner that lives', async () => {
  const { browser, outcome, late, answer } = await asked();
  await late();
  await late();
  // In time, and then late, while the answer to the last question is under way.
  await browser.pass(6_000);
  browser.clock.oversleep(MINUTE);
  await browser.pass(3_000);
  answer();
  expect(await outcome).toEqual({ id: 'f1' });
  expect(browser.store.facts).toBe(1);
});

test('an owner that has stopped is found out also where every timer is late', async () => {
  const { browser, owner, engines, outcome, late } = await asked();
  owner.alive = false;
  for (let looks = 0; looks < 4; looks++) await late();
  expect(await outcome).toMatchObject({ code: 'STORAGE_UNAVAILABLE', data: { reason: 'owner-lost' } });
  owner.alive = true;
  await browser.pass(500);
  expect(await engines[1].call('stats', [])).toMatchObject({ role: 'follower' });
});

test('what the owner answers to other calls is a sign of life too', async () => {
  const browser = new Browser();
  const channels = browser.channels.bind(browser);
  let mute = false;
  // From some time on nobody hears an owner say that it is there.
  browser.channels = (tab): OpenChannel => (name) => {
    const channel = channels(tab)(name);
    const post = channel.postMessage.bind(channel);
    return Object.assign(channel, { postMessage: (message: Notice) => (mute && message.kind === 'owner' ? undefined : post(message)) });
  };
  const { engines, outcome, answer } = await asked(browser);
  mute = true;
  for (let seconds = 0; seconds < 60; seconds += 5) {
    await engines[1].call('stats', []);
    await browser.pass(5_000);
  }
  answer();
  expect(await outcome).toEqual({ id: 'f1' });
});

test('a tab whose timers are late waits for an owner that is still opening', async () => {
  const browser = new Browser();
  let go!: () => void;
  browser.store.opening = new Promise((resolve) => (go = resolve));
  const first = browser.tab().open();
  await browser.settle();
  const second = browser.tab().open().catch((error: unknown) => error as Engine);
  await browser.settle();
  for (let asks = 0; asks < 4; asks++) {
    browser.clock.oversleep(MINUTE);
    await browser.clock.next();
    await browser.settle();
  }
  go();
  await first;
  expect(await (await second).call('stats', [])).toMatchObject({ role: 'follower' });
});

test('is as long as questions have gone without an answer', () => {
  const clock = fakeClock(0);
  const silence = new Silence(clock);
  silence.begin();
  const ask = (afterMs: number) => (clock.oversleep(afterMs), silence.ask(1_000));
  expect([ask(SILENCE_MS), ask(1_000), ask(1_500)]).toEqual([0, 1_000, 2_500]);
  silence.end();
  expect([ask(1_000), ask(1_000)]).toEqual([0, 1_000]);
  // Late: from here on. Late again: nobody has answered in all that time.
  expect([ask(MINUTE), ask(MINUTE), ask(1_000)]).toEqual([0, MINUTE, MINUTE + 1_000]);
});
