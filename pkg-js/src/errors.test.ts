import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { ERROR_CODES, fromWire, isMemoryOSError, MemoryOSError, toMemoryOSError, toWire } from './errors.js';

test('the codes are pinned', () => {
  expect(ERROR_CODES.join(' ')).toBe(
    'INVALID_ARGUMENT NOT_OPEN CLOSED LOCKED STORAGE_UNAVAILABLE STORAGE_QUOTA STORAGE_CORRUPT VERSION_TOO_NEW PROVIDER_FAILED '
    + 'PROVIDER_TIMEOUT PROVIDER_BAD_REPLY DIMENSION_MISMATCH WRONG_KEY NOT_FOUND FORBIDDEN ABORTED INTERNAL',
  );
});

test('the codes are those of the core, in its order', () => {
  const rust = readFileSync(new URL('../../src/error.rs', import.meta.url), 'utf8');
  expect([...rust.matchAll(/Self::\w+ => "([A-Z_]+)"/g)].map((match) => match[1])).toEqual([...ERROR_CODES]);
});

test('an error keeps code, message and data across a boundary, and is known on the other side', () => {
  const error = new MemoryOSError('STORAGE_QUOTA', 'no room', { data: { bytes: 5 }, cause: new TypeError('disk') });
  const back = fromWire(structuredClone(toWire(error, 'INTERNAL')));
  expect(isMemoryOSError(back)).toBe(true);
  expect(back).toMatchObject({ name: 'MemoryOSError', code: 'STORAGE_QUOTA', message: 'no room', data: { bytes: 5 }, cause: { name: 'TypeError', message: 'disk' } });
});

test('an error of another copy of the package is known by its brand', () => {
  const foreign = Object.assign(new Error('x'), { code: 'CLOSED', [Symbol.for('memstrata.error')]: true });
  expect(isMemoryOSError(foreign)).toBe(true);
  for (const value of [new Error('x'), { code: 'CLOSED' }, null, undefined, 'CLOSED']) expect(isMemoryOSError(value)).toBe(false);
});

test('an error that was posted as it is, without the package in between, is known and has its code', () => {
  const clone = structuredClone(new MemoryOSError('STORAGE_QUOTA', 'no room:\nnone', { data: { bytes: 5 }, cause: new TypeError('disk') }));
  expect(isMemoryOSError(clone)).toBe(true);
  expect(clone).toMatchObject({ name: 'MemoryOSError', code: 'STORAGE_QUOTA', message: 'no room:\nnone' });
  expect(isMemoryOSError(structuredClone(clone))).toBe(true);
  expect(toMemoryOSError(structuredClone(clone), 'INTERNAL').code).toBe('STORAGE_QUOTA');
  for (const other of [new Error('x'), new TypeError('MemoryOSError [CLOSED]: x')]) expect(isMemoryOSError(structuredClone(other))).toBe(false);
  expect(isMemoryOSError(Object.assign(new Error('x'), { stack: 'MemoryOSError [NO_CODE_OF_OURS]: x' }))).toBe(false);
});

test('an error of a second copy of the module is known to the first', async () => {
  vi.resetModules();
  const other = await import('./errors.js');
  expect(other.MemoryOSError).not.toBe(MemoryOSError);
  expect(isMemoryOSError(new other.MemoryOSError('CLOSED', 'x'))).toBe(true);
  expect(isMemoryOSError(structuredClone(new other.MemoryOSError('CLOSED', 'x')))).toBe(true);
});

test('the stack says the code and the message once, then where it was made', () => {
  const stack = new MemoryOSError('CLOSED', 'the memory was closed').stack ?? '';
  expect(stack).toMatch(/^MemoryOSError \[CLOSED]: the memory was closed\n\s+at /);
  expect(stack.split('the memory was closed')).toHaveLength(2);
});

test('what others throw becomes an error of this package by its name, else by where it was thrown', () => {
  const code = (thrown: unknown) => toMemoryOSError(thrown, 'PROVIDER_FAILED').code;
  expect(code(new DOMException('full', 'QuotaExceededError'))).toBe('STORAGE_QUOTA');
  expect(code(new DOMException('stop', 'AbortError'))).toBe('ABORTED');
  expect(code({ code: 'NOT_FOUND', message: 'no such page' })).toBe('NOT_FOUND');
  expect(code({ code: 'ENOENT', message: 'no file' })).toBe('PROVIDER_FAILED');
  for (const thrown of ['text', 7, null, undefined]) expect(code(thrown)).toBe('PROVIDER_FAILED');
});

test('data that cannot be cloned crosses as text rather than failing the reply', () => {
  const data: Record<string, unknown> = {};
  data.self = data;
  expect(() => structuredClone(toWire(new MemoryOSError('INTERNAL', 'x', { data, cause: () => 1 }), 'INTERNAL'))).not.toThrow();
});
