import { afterEach, describe, expect, test } from 'vitest';
import { ChannelWorker } from '../fixtures/channel-worker.js';
import { fakeCore, openOptions } from '../fixtures/core.js';
import type { MemoryOSError } from '../errors.js';
import { scriptedChat } from '../providers/scripted.js';
import { MemoryStorage } from '../storage/memory.js';
import type { MemoryEvent } from '../types.js';
import { connect } from './client.js';
import type { WorkerLike } from './client.js';
import type { WasmMemory } from './contract.js';
import { PageHost } from './host.js';
import type { PageHostOptions } from './host.js';
import type { Locks } from './lock.js';
import { processLocks } from './lock.js';
import { serve } from './serve.js';

const TURN = { userInput: 'hi', agentResponse: '', epochMs: 0, offsetMinutes: 0, metadata: {} };

const open: MessagePort[] = [];
afterEach(() => {
  for (const port of open.splice(0)) port.close();
});

async function connected(options: { overrides?: Partial<WasmMemory>; host?: PageHostOptions; changes?: object; locks?: Locks; now?: () => number } = {}) {
  const { port1, port2 } = new MessageChannel();
  open.push(port1, port2);
  const core = fakeCore(options.overrides);
  const server = serve(port2, { load: async () => core, idle: () => undefined });
  const worker = new ChannelWorker(port1);
  const host = new PageHost(options.host ?? {});
  const events: MemoryEvent[] = [];
  const lost: MemoryOSError[] = [];
  const engine = await connect(worker as unknown as WorkerLike, openOptions(options.changes ?? {}), {
    host, owned: true, onEvent: (event) => events.push(event), onLost: (error) => lost.push(error), now: options.now, locks: options.locks,
  });
  return { core, engine, events, host, lost, server, worker };
}

test('calls, results, errors and events cross the boundary', async () => {
  const { core, engine, events, worker } = await connected();
  expect(await engine.call('add', [TURN])).toEqual({ id: 'p1', status: 'stored' });
  expect(events).toEqual([{ type: 'page-added', pageId: 'p1' }]);
  await expect(engine.call('forget', [['p9']])).rejects.toMatchObject({ name: 'MemoryOSError', code: 'NOT_FOUND' });
  await engine.close();
  expect(core.calls).toContain('close');
  expect(worker.terminated).toBe(1);
  await expect(engine.call('stats', [])).rejects.toMatchObject({ code: 'CLOSED' });
});

test('a hundred calls at once are told apart', async () => {
  const { engine } = await connected({ overrides: { retrieve: async (query) => ({ context: query }) as never } });
  const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => engine.call('retrieve', [`q${at}`, {} as never])));
  expect(answers.map(({ context }) => context)).toEqual(Array.from({ length: 100 }, (_, at) => `q${at}`));
});

describe('models and stores stay in the page', () => {
  test('a model is called back, streams to its listener and keeps its own error', async () => {
    const chat = scriptedChat(['hello there', new Error('quota, sk-secret')]);
    const { engine, host } = await connected({ host: { chat }, changes: { chatModel: 'scripted/script' } });
    const pieces: string[] = [];
    host.listen('r1', { onText: (piece) => pieces.push(piece) });
    expect(await engine.call('respond', ['q', { callId: 'r1' } as never])).toMatchObject({ text: 'hello there', mode: 'model' });
    expect(pieces).toEqual(['hello', ' there']);
    const listener = {};
    host.listen('r2', listener);
    await expect(engine.call('respond', ['q', { callId: 'r2' } as never])).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
    expect(listener).toMatchObject({ failure: { message: 'quota, sk-secret', cause: expect.any(Error) as Error } });
  });

  test('case_17_aborting_cuts_the_model_off_and_the_core_stores_the_question_first', async () => {
    const controller = new AbortController();
    const chat = scriptedChat(() => new Promise<string>(() => undefined));
    const { core, engine, host } = await connected({ host: { chat }, changes: { chatModel: 'scripted/script' } });
    host.listen('r1', { signal: controller.signal });
    const answer = engine.call('respond', ['q', { callId: 'r1' } as never]).catch((error: unknown) => error);
    while (chat.calls.length === 0) await new Promise(setImmediate);
    controller.abort();
    expect(await answer).toMatchObject({ code: 'ABORTED' });
    expect(core.calls).toEqual(['respond q', 'stored the question']);
  });

  test('a store is called back, and views cross without the buffer behind them', async () => {
    const storage = new MemoryStorage();
    await storage.open('m');
    let seen = 0;
    const spying = Object.assign(Object.create(storage) as MemoryStorage, {
      commit: (batch: Parameters<MemoryStorage['commit']>[0]) => {
        seen = batch.puts[0]?.value.buffer.byteLength ?? -1;
        return storage.commit(batch);
      },
      read: (range: Parameters<MemoryStorage['read']>[0]) => storage.read(range),
    });
    const { core } = await connected({ host: { storage: spying }, changes: { storage: 'host' } });
    const { host } = core.opened[0] as (typeof core.opened)[0];
    await host.commit?.({ puts: [{ store: 'wal', key: 'k', value: new Uint8Array(new ArrayBuffer(1 << 20), 8, 3) }], deletes: [], durability: 'strict' });
    expect(seen).toBe(3);
    expect(await host.read?.({ store: 'wal', from: '', to: '~' })).toEqual([{ key: 'k', value: new Uint8Array(3) }]);
  });

  test('the core is offered no more than the caller gave', async () => {
    const { core } = await connected();
    expect(core.opened[0]?.host).not.toHaveProperty('chat');
    expect(core.opened[0]?.host).not.toHaveProperty('commit');
  });
});

test('abort crosses the boundary', async () => {
  const { engine } = await connected({ overrides: { retrieve: () => new Promise(() => undefined) } });
  const controller = new AbortController();
  const waiting = engine.call('retrieve', ['x', {} as never], controller.signal).catch((error: unknown) => error);
  controller.abort('enough');
  expect(await waiting).toMatchObject({ code: 'ABORTED', cause: 'enough' });
});

test('injected time goes with every call', async () => {
  let now = 5;
  const { core, engine } = await connected({ now: () => now });
  expect(core.opened[0]?.host.now()).toBe(5);
  now = 77;
  await engine.call('add', [TURN]);
  expect(core.opened[0]?.host.now()).toBe(77);
});

describe('a lost worker', () => {
  const hang = { retrieve: () => new Promise<never>(() => undefined) };

  test('that crashes rejects every waiting and every later call', async () => {
    const { engine, lost, worker } = await connected({ overrides: hang });
    const waiting = Promise.allSettled([engine.call('retrieve', ['a', {} as never]), engine.call('retrieve', ['b', {} as never])]);
    worker.crash('out of memory');
    for (const outcome of await waiting) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'CLOSED', data: { reason: 'worker-lost' }, message: expect.stringContaining('out of memory') as string } });
    await expect(engine.call('stats', [])).rejects.toMatchObject({ code: 'CLOSED' });
    expect(lost).toHaveLength(1);
    expect(worker.terminated).toBe(1);
  });

  test('that reports what nobody caught is lost too', async () => {
    const { engine, lost, server } = await connected({ overrides: hang });
    const waiting = engine.call('retrieve', ['a', {} as never]).catch((error: unknown) => error);
    server.fatal(new WebAssembly.RuntimeError('unreachable'));
    expect(await waiting).toMatchObject({ code: 'INTERNAL', message: 'unreachable' });
    expect(lost).toHaveLength(1);
  });

  test('that is killed without a word is noticed by the lock it held', async () => {
    let kill: () => void = () => undefined;
    // The worker's own hold on the lock, ended from outside as the browser does.
    const locks: Locks = { request: (name, options, held) => processLocks.request(name, options, held) };
    const { engine, lost } = await connected({ overrides: hang, locks: { request: (name, options, held) => {
      void locks.request(name, {}, () => new Promise<void>((resolve) => (kill = resolve)));
      return locks.request(name, options, held);
    } } });
    const waiting = engine.call('retrieve', ['a', {} as never]).catch((error: unknown) => error);
    await new Promise(setImmediate);
    expect(lost).toHaveLength(0);
    kill();
    expect(await waiting).toMatchObject({ code: 'CLOSED', data: { reason: 'worker-lost' } });
    expect(lost).toHaveLength(1);
  });
});

test('a worker of another version and one that is taken are refused', async () => {
  await expect(connected({ changes: { protocol: 99 } })).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('different versions') as string });
  const { port1, port2 } = new MessageChannel();
  open.push(port1, port2);
  serve(port2, { load: async () => fakeCore(), idle: () => undefined });
  const worker = new ChannelWorker(port1) as unknown as WorkerLike;
  const client = { host: new PageHost({}), owned: false, onEvent: () => undefined, onLost: () => undefined };
  await connect(worker, openOptions(), client);
  await expect(connect(worker, openOptions(), client)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('already hosts') as string });
});
