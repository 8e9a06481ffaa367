import { beforeEach, expect, test, vi } from 'vitest';
import { happenings, watchHappened } from '../src/work/happened-log';
import { inOrder, totalOf } from '../src/work/ledger-total';
import { policy, readLimit, settings } from '../src/work/settings';
import { FakeMemory } from './fake-memory';

let memory: FakeMemory;
vi.mock('../src/memory/open', () => ({ memory: async () => memory.engine }));
const { configure } = await import('../src/work/configure');

beforeEach(() => {
  memory = new FakeMemory();
});

test.each([['', 0], [' 12 ', 12], ['0', 0], ['-1', null], ['1.5', null], ['1e3', null], ['ten', null], ['99999999999999999999', null]])('a limit typed as %j is %j', (text, limit) => {
  expect(readLimit(text)).toBe(limit);
});

test('a memory opens with what was kept, and only what it accepts is kept', async () => {
  expect(settings.value).toEqual({ updatePolicy: 'auto', dailyCalls: 0, dailyTokens: 0 });
  await configure({ updatePolicy: 'paper' });
  await configure({ dailyCalls: 40, dailyTokens: 0 });
  expect(memory.settings).toEqual([{ updatePolicy: 'paper' }, { dailyCalls: 40, dailyTokens: 0 }]);
  expect(settings.value).toEqual({ updatePolicy: 'paper', dailyCalls: 40, dailyTokens: 0 });
  memory.failure = new Error('no');
  await expect(configure({ updatePolicy: 'offline' })).rejects.toThrow('no');
  expect(policy.value).toBe('paper');
});

test('rows of a day sum up, the dearest first', () => {
  const row = (operation: string, tokensIn: number) => ({ operation, calls: 2, failures: 1, tokensIn, tokensOut: 1, ms: 10 });
  const rows = [row('embed', 5), row('segments', 50)];
  expect(inOrder(rows).map((each) => each.operation)).toEqual(['segments', 'embed']);
  expect(totalOf(rows)).toEqual({ calls: 4, failures: 2, tokensIn: 55, tokensOut: 2, ms: 20 });
  expect(totalOf([])).toEqual({ calls: 0, failures: 0, tokensIn: 0, tokensOut: 0, ms: 0 });
});

test('what happened is told newest first, and not for ever', () => {
  watchHappened(memory.engine);
  for (let n = 0; n < 100; n += 1) memory.emit({ type: 'enriched', pages: [`p${n}`], segments: [] });
  memory.emit({ type: 'page-added', pageId: 'p' });
  expect(happenings.value).toHaveLength(40);
  expect(happenings.value[0]!.event).toMatchObject({ pages: ['p99'] });
  expect(new Set(happenings.value.map((each) => each.key)).size).toBe(40);
  memory.emit({ type: 'cleared' });
  expect(happenings.value).toEqual([]);
});
