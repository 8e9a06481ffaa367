/** The public class on a stand-in for the core, in a worker's place: what it checks, and what it hands over. */
import { afterEach, describe, expect, test } from 'vitest';
import type { WasmMemory } from './engine/contract.js';
import { serve } from './engine/serve.js';
import { ChannelWorker } from './fixtures/channel-worker.js';
import { fakeCore } from './fixtures/core.js';
import { MemoryOS } from './memory-os.js';
import { scriptedChat } from './providers/scripted.js';
import type { OpenOptions } from './types.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0)) await end();
});

async function opened(options: Partial<OpenOptions> = {}, overrides: Partial<WasmMemory> = {}) {
  const { port1, port2 } = new MessageChannel();
  const core = fakeCore(overrides);
  const queue: (() => void)[] = [];
  serve(port2, { load: async () => core, idle: (fn) => queue.push(fn) });
  const memory = await MemoryOS.open({
    name: 'm', userId: 'u', embedder: 'none', storage: 'memory', now: () => NOW, worker: () => new ChannelWorker(port1) as unknown as Worker, ...options,
  });
  close.push(async () => {
    await memory.close();
    port1.close();
  });
  /** Runs what waits for idle time; whether there was anything. */
  const idle = async (): Promise<boolean> => {
    const waiting = queue.splice(0);
    for (const fn of waiting) fn();
    await new Promise(setImmediate);
    return waiting.length > 0;
  };
  return { core, memory, idle };
}

const DOG = { attribute: 'pet', value: 'Rex' };

describe('facts', () => {
  test('go in with their defaults, are listed, changed and closed', async () => {
    const { core, memory } = await opened();
    const fact = await memory.addFact(DOG);
    expect(fact).toMatchObject({ id: 'f1', subject: 'user', kind: 'knowledge', attribute: 'pet', value: 'Rex', validFrom: null });
    await memory.addFact({ ...DOG, subject: 'other', subjectName: 'Tom', kind: 'preference', validFrom: '2020-01-01T00:00:00+02:00' });
    expect(await memory.facts({ subject: 'other' })).toMatchObject([{ subjectName: 'Tom', kind: 'preference', validFrom: Date.parse('2019-12-31T22:00:00Z') }]);
    expect(await memory.editFact('f1', { value: 'Rexy' })).toMatchObject({ attribute: 'pet', value: 'Rexy' });
    expect(await memory.pinFact('f1')).toMatchObject({ pinned: true });
    expect(await memory.pinFact('f1', false)).toMatchObject({ pinned: false });
    expect(await memory.retractFact('f1')).toMatchObject({ validTo: NOW, reason: 'retracted' });
    expect([(await memory.facts()).length, (await memory.facts({ closed: true })).length]).toEqual([1, 2]);
    await memory.facts({ asOf: new Date(5) });
    await memory.neverRecall('p1');
    await memory.neverRecall('f1', false);
    expect(core.calls.slice(-3)).toEqual(['facts all false 5', 'setNeverRecall p1 true', 'setNeverRecall f1 false']);
    await expect(memory.editFact('f9', { value: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('only what is given of a change is handed over', async () => {
    const { core, memory } = await opened();
    await memory.addFact(DOG);
    await memory.editFact('f1', { kind: 'event', value: undefined as never });
    expect(core.calls).toContain('editFact f1 {"kind":"event"}');
  });

  test('history is read by page or by record, and undo gives the id of its own change', async () => {
    const { core, memory } = await opened();
    await memory.addFact(DOG);
    await memory.editFact('f1', { value: 'Rexy' });
    expect((await memory.history()).map(({ id }) => id)).toEqual(['c2', 'c1']);
    expect(await memory.undo('c2')).toBe('c3');
    expect((await memory.facts())[0]?.value).toBe('Rex');
    await memory.history('f1');
    await memory.history({ id: 'profile', offset: 5, limit: 10 });
    expect(core.calls.slice(-2)).toEqual(['history f1 0 100', 'history profile 5 10']);
  });
});

test('profile, traits, analysis, settings and the ledger pass through', async () => {
  const { core, memory } = await opened();
  await memory.setProfile('user', 'Likes dogs.');
  expect((await memory.profile()).user).toMatchObject({ version: 1, text: 'Likes dogs.' });
  expect(await memory.traits()).toEqual([]);
  expect(await memory.analyse()).toEqual({ pages: 0, changes: 0 });
  await memory.configure({ updatePolicy: 'offline', dailyCalls: 5, dailyTokens: undefined as never });
  await memory.pause();
  await memory.resume();
  expect(core.calls).toEqual(['setProfile user Likes dogs.', 'analyse', 'configure {"updatePolicy":"offline","dailyCalls":5}', 'pause', 'resume']);
  expect(await memory.ledger()).toMatchObject({ paused: false, days: [] });
});

test('o18_force_analysis_is_analyse_by_another_name', async () => {
  const { core, memory } = await opened();
  expect(await memory.forceAnalysis()).toEqual({ pages: 0, changes: 0 });
  expect(core.calls).toEqual(['analyse']);
});

test('the prompt is made with style, relationship and budget', async () => {
  const { core, memory } = await opened();
  expect(await memory.merge('q', { style: 'brief', relationship: 'tutor', budgetTokens: 7 })).toMatchObject({ messages: [{ role: 'user', content: 'q' }] });
  await memory.merge('q');
  const asked = `"epochMs":${NOW},"offsetMinutes":${-new Date(NOW).getTimezoneOffset() || 0}`;
  expect(core.calls).toEqual([`merge q {"style":"brief","relationship":"tutor","budgetTokens":7,${asked}}`, `merge q {"budgetTokens":1024,${asked}}`]);
});

test('what may make work due wakes the background, and what only reads does not', async () => {
  const { memory, idle } = await opened();
  await idle();
  await idle();
  for (const read of [() => memory.facts(), () => memory.history(), () => memory.ledger(), () => memory.profile(), () => memory.traits(), () => memory.pause()]) {
    await read();
    expect(await idle()).toBe(false);
  }
  const writes = [
    () => memory.addFact(DOG), () => memory.editFact('f1', { value: 'x' }), () => memory.pinFact('f1'), () => memory.retractFact('f1'), () => memory.undo('c1'),
    () => memory.analyse(), () => memory.resume(), () => memory.configure({}), () => memory.merge('q'), () => memory.neverRecall('f1'), () => memory.setProfile('user', ''),
  ];
  for (const write of writes) {
    await write();
    expect([write.toString(), await idle()]).toEqual([write.toString(), true]);
    await idle();
  }
});

test('the core is told of model and counter, and counts in the page', async () => {
  const { core } = await opened({ chat: scriptedChat('x', { modelId: 'm1' }), countTokens: (text) => text.length });
  expect(core.opened[0]?.options).toMatchObject({ chatModel: 'scripted/m1', countsTokens: true });
  expect(await core.opened[0]?.host.count?.(['abc', ''])).toEqual([3, 0]);
  const bare = await opened();
  expect(bare.core.opened[0]?.options).toMatchObject({ chatModel: null, countsTokens: false });
  expect(bare.core.opened[0]?.host).not.toHaveProperty('count');
  const failing = await opened({ countTokens: () => Number.NaN });
  await expect(failing.core.opened[0]?.host.count?.(['a'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('countTokens') as string });
  await expect(opened({ countTokens: 5 as never })).rejects.toThrow('countTokens must be a function, got 5');
});

test('what is wrong is named before it leaves the page', async () => {
  const { core, memory } = await opened();
  const wrong: [Promise<unknown>, string][] = [
    [memory.addFact(null as never), 'a fact must be an object with attribute and value, got null'],
    [memory.addFact({ value: 'x' } as never), 'attribute must be a non-empty string, got undefined'],
    [memory.addFact({ attribute: 'pet', value: '' }), 'value must be a non-empty string, got ""'],
    [memory.addFact({ ...DOG, kind: 'rumour' as never }), 'kind must be one of knowledge, preference, event, got "rumour"'],
    [memory.addFact({ ...DOG, subject: 'other' }), 'subject is "other": subjectName must say who'],
    [memory.addFact({ ...DOG, validFrom: 'soon' }), 'validFrom must be milliseconds, a Date or ISO 8601 text, got "soon"'],
    [memory.editFact('', {}), 'id must be a non-empty string, got ""'],
    [memory.editFact('f1', { subject: 'cat' as never }), 'subject must be one of user, assistant, other, got "cat"'],
    [memory.pinFact('f1', 'yes' as never), 'pinned must be true or false, got "yes"'],
    [memory.neverRecall('f1', 1 as never), 'never must be true or false, got 1'],
    [memory.facts({ subject: 'cat' as never }), 'subject must be one of user, assistant, other, got "cat"'],
    [memory.facts({ closed: 1 as never }), 'closed must be true or false, got 1'],
    [memory.facts({ asOf: 'once' }), 'asOf must be milliseconds, a Date or ISO 8601 text, got "once"'],
    [memory.history({ limit: 0 }), 'limit must be a whole number from 1 to 10000, got 0'],
    [memory.history(''), 'id must be a non-empty string, got ""'],
    [memory.undo(7 as never), 'changeId must be a non-empty string, got 7'],
    [memory.setProfile('cat' as never, 'x'), 'of must be one of user, assistant, got "cat"'],
    [memory.setProfile('user', 5 as never), 'text must be a string, got 5'],
    [memory.configure('fast' as never), 'settings must be an object, got "fast"'],
    [memory.merge(' '), 'the query is empty'],
    [memory.merge('q', { relationship: 5 as never }), 'relationship must be a string, got 5'],
    [memory.getResponse('q', { relationship: 5 as never }), 'relationship must be a string, got 5'],
    [memory.forget([5 as never]), 'ids[0] must be a string, got 5'],
  ];
  for (const [call, message] of wrong) await expect(call).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message });
  expect(core.calls).toEqual([]);
});

test('case_17_a_merge_can_be_aborted', async () => {
  const { core, memory } = await opened({}, { merge: () => new Promise(() => undefined) });
  const controller = new AbortController();
  const merging = memory.merge('q', { signal: controller.signal }).catch((error: unknown) => error);
  controller.abort();
  expect(await merging).toMatchObject({ code: 'ABORTED' });
  await memory.addFact(DOG);
  expect(core.calls).toEqual(['addFact Rex']);
});
