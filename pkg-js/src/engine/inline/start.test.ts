import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Message } from '../protocol.js';
import { startWorker } from './start.js';

vi.mock('./packed.js', () => ({ wasm: 'AAAA', worker: ['const wasm = "', '";'] }));

/** A Worker that a test fires events at. */
class FakeWorker extends EventTarget {
  static last: FakeWorker;
  readonly posted: unknown[] = [];
  ended = false;
  constructor() {
    super();
    FakeWorker.last = this;
  }
  postMessage(message: unknown): void {
    this.posted.push(message);
  }
  terminate(): void {
    this.ended = true;
  }
}

class RefusedWorker {
  constructor() {
    throw new DOMException('the policy forbids it', 'SecurityError');
  }
}

const options = { name: 'x', userId: 'y' };
/** Any service of the engine answers it, and says that no memory is open. */
const question: Message<{ stats: { args: []; result: unknown } }> = { kind: 'request', id: 1, method: 'stats', args: [] };

beforeEach(() => vi.stubGlobal('Worker', FakeWorker));
afterEach(() => vi.unstubAllGlobals());

function ask(): { answer: Promise<{ id: number; kind: string; error?: { code: string } }>; errors: unknown[]; end(): void } {
  const { worker } = startWorker(options);
  const errors: unknown[] = [];
  worker.addEventListener('error', (event) => errors.push(event));
  const answer = new Promise<never>((resolve) => worker.addEventListener('message', ({ data }: { data: never }) => resolve(data)));
  worker.postMessage(question);
  return { answer, errors, end: () => worker.terminate?.() };
}

test('a worker that the policy refuses at once is served on this thread', async () => {
  vi.stubGlobal('Worker', RefusedWorker);
  const { answer, end } = ask();
  expect(await answer).toMatchObject({ kind: 'error', id: 1, error: { code: 'NOT_OPEN' } });
  end();
});

test('a worker that the policy refuses later is served on this thread: what was posted is not lost, and nobody hears of the error', async () => {
  const { answer, errors, end } = ask();
  FakeWorker.last.dispatchEvent(new Event('error'));
  expect(await answer).toMatchObject({ kind: 'error', id: 1, error: { code: 'NOT_OPEN' } });
  expect(FakeWorker.last.ended).toBe(true);
  expect(errors).toEqual([]);
  end();
});

test('an error of a worker that has answered is the engine\'s own', async () => {
  const { answer, errors, end } = ask();
  FakeWorker.last.dispatchEvent(new MessageEvent('message', { data: { kind: 'result', id: 1, value: 'from the worker' } }));
  expect(await answer).toMatchObject({ value: 'from the worker' });
  FakeWorker.last.dispatchEvent(new Event('error'));
  expect(errors).toHaveLength(1);
  expect(FakeWorker.last.ended).toBe(false);
  end();
  expect(FakeWorker.last.ended).toBe(true);
});

test('worker: true is a worker or nothing', () => {
  vi.stubGlobal('Worker', RefusedWorker);
  expect(() => startWorker({ ...options, worker: true })).toThrow('the policy forbids it');
});
