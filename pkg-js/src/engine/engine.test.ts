import { describe, expect, test } from 'vitest';
import type { WasmMemory } from './contract.js';
import { fakeCore, openOptions } from '../fixtures/core.js';
import { fakeClock } from '../fixtures/clock.js';
import type { MemoryEvent } from '../types.js';
import { openEngine } from './engine.js';
import type { EngineParts } from './engine.js';

async function opened(overrides: Partial<WasmMemory> = {}, changes = {}, parts: EngineParts = {}) {
  const core = fakeCore(overrides);
  const events: MemoryEvent[] = [];
  const queue: (() => void)[] = [];
  const engine = await openEngine(openOptions(changes), { now: () => 1_000, emit: (event) => events.push(event) }, { load: async () => core, idle: (fn) => queue.push(fn), clock: fakeClock(), ...parts });
  const idle = async (): Promise<void> => {
    for (const fn of queue.splice(0)) fn();
    await new Promise(setImmediate);
  };
  return { core, engine, events, idle };
}

const TURN = { userInput: 'hi', agentResponse: '', epochMs: 0, offsetMinutes: 0, metadata: {} };

test('errors of the core become errors of the package, with their code', async () => {
  const { engine } = await opened();
  await expect(engine.call('forget', [['p9']])).rejects.toMatchObject({ name: 'MemoryOSError', code: 'NOT_FOUND', message: 'no such page' });
  await engine.close();
});

test('waiting jobs run after opening and after an add, in idle time', async () => {
  const { core, engine, idle } = await opened();
  await idle();
  core.jobs.push(500);
  await engine.call('add', [TURN]);
  expect(core.calls).toEqual(['work', 'add hi']);
  await idle();
  await idle();
  expect(core.jobs).toEqual([]);
  await engine.close();
});

describe('the embedding table', () => {
  test('is loaded after opening and said to be ready', async () => {
    const { core, engine, events, idle } = await opened({}, { builtinEmbedder: true }, { table: async () => new Uint8Array(5) });
    expect(events).toEqual([]);
    await idle();
    expect(events).toEqual([{ type: 'embedder', status: 'loading' }, { type: 'embedder', status: 'ready' }]);
    expect(core.calls).toContain('table 5');
    await engine.close();
  });

  test('is loaded beside an embedder of one’s own, unless it is left out', async () => {
    const embedder = { id: 'me/mine', dimensions: 4, maxEmbeddingsPerCall: 8 };
    const table = async () => new Uint8Array(5);
    for (const [options, loaded] of [[{ embedder }, true], [{ embedder, assets: { table: false } }, false], [{}, false]] as const) {
      const { core, engine, idle } = await opened({}, options, { table });
      await idle();
      expect(core.calls.includes('table 5'), JSON.stringify(options)).toBe(loaded);
      await engine.close();
    }
  });

  test('that cannot be had leaves keyword search, and says so', async () => {
    const { engine, events, idle } = await opened({}, { builtinEmbedder: true }, { table: () => Promise.reject(new Error('HTTP 404')) });
    await idle();
    expect(events.at(-1)).toEqual({ type: 'embedder', status: 'failed', message: 'search goes on by keyword: HTTP 404' });
    await expect(engine.call('add', [TURN])).resolves.toMatchObject({ status: 'stored' });
    await engine.close();
  });

  test('is not loaded once the memory is closed', async () => {
    const { engine, events, idle } = await opened({}, { builtinEmbedder: true }, { table: async () => new Uint8Array(5) });
    await engine.close();
    await idle();
    expect(events).toEqual([]);
  });
});

test('after closing every call is rejected, and the core is freed once it is empty', async () => {
  const { core, engine } = await opened();
  await engine.close();
  await engine.close();
  await expect(engine.call('stats', [])).rejects.toMatchObject({ code: 'CLOSED' });
  await new Promise(setImmediate);
  expect(core.calls).toEqual(['close', 'free']);
});

test('a panic rejects the calls that wait, for which the core will never answer, and lets the lock go', async () => {
  const { core, engine } = await opened({ retrieve: () => new Promise(() => undefined) }, { lockStore: 'test' });
  const waiting = engine.call('retrieve', ['x', {} as never]).catch((error: unknown) => error);
  core.opened[0]?.host.panicked?.('index out of bounds');
  expect(await waiting).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('index out of bounds') as string });
  await expect(engine.call('stats', [])).rejects.toMatchObject({ code: 'INTERNAL' });
  const again = await opened({}, { lockStore: 'test' });
  await again.engine.close();
  await engine.close();
});

test('a trap of the instance is a panic too', async () => {
  const trap = new WebAssembly.RuntimeError('unreachable');
  const { engine } = await opened({ stats: () => { throw trap; } });
  await expect(engine.call('stats', [])).rejects.toMatchObject({ code: 'INTERNAL' });
  await expect(engine.call('add', [TURN])).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('unreachable') as string });
  await engine.close();
});

test('a caller that aborts is answered at once, whatever the core does', async () => {
  const { engine } = await opened({ retrieve: () => new Promise(() => undefined) });
  const controller = new AbortController();
  const waiting = engine.call('retrieve', ['x', {} as never], controller.signal).catch((error: unknown) => error);
  controller.abort();
  expect(await waiting).toMatchObject({ code: 'ABORTED' });
});

test('a failed opening lets the lock go', async () => {
  const parts: EngineParts = { load: () => Promise.reject(new Error('no wasm')), clock: fakeClock() };
  const host = { now: () => 0, emit: () => undefined };
  for (let at = 0; at < 2; at++) {
    await expect(openEngine(openOptions({ lockStore: 'failing' } as object), host, parts)).rejects.toMatchObject({ code: 'INTERNAL', message: 'no wasm' });
  }
});

test('case_45_opening_without_indexeddb_says_what_is_missing', async () => {
  const open = openEngine(openOptions({ storage: 'indexeddb' }), { now: () => 0, emit: () => undefined });
  await expect(open).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: expect.stringMatching(/no IndexedDB.*storage: "memory"/) as string });
});
