import { expect, test } from 'vitest';
import { countCargo, countCheck, countNode, countVitest, settle } from './counts.mjs';

test('cargo: every binary of a run is counted', () => {
  const output = 'test a ... ok\ntest result: ok. 12 passed; 0 failed; 0 ignored\n\n\u001b[31mtest result: FAILED. 1 passed; 2 failed; 0 ignored\u001b[0m\n';
  expect(countCargo(output)).toEqual({ passed: 13, failed: 2 });
});

test('node: both reporters, several runs, cancelled counts as failed', () => {
  expect(countNode('# pass 3\n# fail 0\n# cancelled 1\n')).toEqual({ passed: 3, failed: 1 });
  expect(countNode('ℹ pass 3\nℹ fail 1\nℹ pass 2\nℹ fail 0\n')).toEqual({ passed: 5, failed: 1 });
});

test('vitest: with and without failures', () => {
  expect(countVitest(' Test Files  2 passed (2)\n      Tests  41 passed (41)\n')).toEqual({ passed: 41, failed: 0 });
  expect(countVitest('      Tests  \u001b[31m2 failed\u001b[39m | 39 passed (41)\n')).toEqual({ passed: 39, failed: 2 });
});

test('a suite that ends badly or runs nothing has failed', () => {
  expect(settle({ passed: 5, failed: 0 }, 1)).toEqual({ passed: 5, failed: 1 });
  expect(settle({ passed: 0, failed: 0 }, 0)).toEqual({ passed: 0, failed: 1 });
  expect(settle({ passed: 5, failed: 2 }, 1)).toEqual({ passed: 5, failed: 2 });
  expect(settle(countCheck('', 0), 0)).toEqual({ passed: 1, failed: 0 });
});
