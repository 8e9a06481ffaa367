import { afterEach, expect, test, vi } from 'vitest';
import { tableFile, wasmFile } from './files.js';
import { startWorker, wantsWorker } from './start.js';

const memory = { name: 'x', userId: 'y' };
afterEach(() => vi.unstubAllGlobals());

test('slim runs on this thread unless a worker is named', () => {
  vi.stubGlobal('Worker', class {});
  vi.stubGlobal('document', {});
  expect(wantsWorker(memory)).toBe(false);
  expect(wantsWorker({ ...memory, assets: { worker: '/worker.js' } })).toBe(true);
  expect(wantsWorker({ ...memory, worker: false, assets: { worker: '/worker.js' } })).toBe(false);
  expect(wantsWorker({ ...memory, worker: () => new Worker('/mine.js') })).toBe(true);
});

test('slim says which file is missing, and where it is named', () => {
  expect(() => startWorker({ ...memory, worker: true })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('assets: { worker }') }));
  expect(wasmFile).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('assets: { wasm }') }));
  expect(tableFile).toThrow(expect.objectContaining({ code: 'NOT_FOUND', message: expect.stringContaining('assets: { table }') }));
});
