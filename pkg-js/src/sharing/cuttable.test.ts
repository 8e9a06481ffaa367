/** With the real core: `npm run build` makes the wasm file that this needs. */
import { expect, test } from 'vitest';
import { bridge } from '../engine/bridge.js';
import { openEngine } from '../engine/engine.js';
import type { Handlers } from '../engine/peer.js';
import type { Args, HostCalls } from '../engine/protocol.js';
import { openOptions } from '../fixtures/core.js';
import { MemoryStorage } from '../storage/memory.js';
import type { MemoryEvent } from '../types.js';
import { cuttable } from './cuttable.js';

const embedder = { id: 'p/e', dimensions: 4, maxEmbeddingsPerCall: 8 };

/** A store, its engines, and a model of theirs that never answers. */
async function stuckIn(kind: 'chat' | 'embed') {
  const storage = new MemoryStorage();
  await storage.open('m');
  const events: MemoryEvent[] = [];
  let met!: () => void;
  const reached = new Promise<void>((resolve) => (met = resolve));
  const given = {
    read: ([range]: Args<HostCalls, 'read'>) => storage.read(range),
    commit: ([batch]: Args<HostCalls, 'commit'>) => storage.commit(batch),
    [kind]: () => (met(), new Promise(() => undefined)),
  } as unknown as Handlers<HostCalls>;
  const open = async (paused: boolean) => {
    const options = openOptions({ storage: 'host', config: { shortTermCapacity: 2 }, paused, ...(kind === 'chat' ? { chatModel: 'p/m' } : { embedder }) });
    const { handlers, cut } = cuttable(given);
    const never = new AbortController().signal;
    const host = bridge(options, async (method, args) => handlers[method](args, never), { now: () => 1e12, emit: (event) => events.push(event) });
    return { engine: await openEngine({ ...options, assets: { table: false } }, host), cut };
  };
  return { open, events, reached };
}

const turns = Array.from({ length: 30 }, (_, at) => ({ userInput: `I have been to Lisbon ${at} times`, agentResponse: 'Well.', epochMs: 1e12 + at, offsetMinutes: 0, metadata: {} }));

test.each(['chat', 'embed'] as const)('a job that is cut off while it waits for %s does not keep its engine open, and waits for the next as if it had never run', async (kind) => {
  const { open, events, reached } = await stuckIn(kind);
  const { engine, cut } = await open(false);
  await engine.call('addMany', [turns]);
  await reached;
  cut();
  await engine.close();
  const next = await open(true);
  const jobs = await next.engine.call('jobs', []);
  await next.engine.close();
  expect(jobs).toEqual(expect.arrayContaining([expect.objectContaining({ kind: kind === 'chat' ? 'consolidate' : 'embed', state: 'queued', attempts: 0 })]));
  expect(jobs.filter(({ attempts, error }) => attempts > 0 || error)).toEqual([]);
  expect(events.filter(({ type }) => type === 'job-failed')).toEqual([]);
});
