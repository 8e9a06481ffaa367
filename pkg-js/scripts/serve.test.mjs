import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { locate } from './serve.mjs';

const outer = mkdtempSync(join(tmpdir(), 'memstrata-serve-'));
const folder = join(outer, 'site');
mkdirSync(join(folder, 'sub'), { recursive: true });
writeFileSync(join(outer, 'secret.txt'), 'secret');
writeFileSync(join(folder, 'index.html'), 'hello');
writeFileSync(join(folder, 'sub', 'a b.js'), '1');
afterAll(() => rmSync(outer, { recursive: true }));

test('files, folders with an index and names with spaces are found', () => {
  expect(locate(folder, '/')).toEqual({ path: join(folder, 'index.html'), size: 5 });
  expect(locate(folder, '/sub/a%20b.js?v=1')?.size).toBe(1);
  expect(locate(folder, '/sub/')).toBeUndefined();
});

test('nothing outside the folder is', () => {
  for (const url of ['/../secret.txt', '/%2e%2e/secret.txt', '/sub/../../secret.txt', '//../secret.txt', '/..%2fsecret.txt', '/%00', '/%']) {
    expect(locate(folder, url)).toBeUndefined();
  }
});
