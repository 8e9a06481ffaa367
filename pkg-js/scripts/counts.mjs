/** Reads how many test cases passed and failed out of what test runners print. */

const ANSI = /\u001b\[[0-9;]*[A-Za-z]/g;

/** libtest and wasm-bindgen-test: one line a test binary. */
export function countCargo(output) {
  let [passed, failed] = [0, 0];
  for (const match of output.replace(ANSI, '').matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed/gm)) {
    passed += Number(match[1]);
    failed += Number(match[2]);
  }
  return { passed, failed };
}

/** `node --test`, in both of its reporters; a run may hold several. */
export function countNode(output) {
  const sum = (name) => [...output.replace(ANSI, '').matchAll(new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, 'gm'))].reduce((total, match) => total + Number(match[1]), 0);
  return { passed: sum('pass'), failed: sum('fail') + sum('cancelled') };
}

/** Vitest's line "Tests  2 failed | 3 passed (5)". */
export function countVitest(output) {
  const line = [...output.replace(ANSI, '').matchAll(/^\s*Tests\s+(.*)$/gm)].map((match) => match[1]).join(' ');
  const sum = (name) => [...line.matchAll(new RegExp(`(\\d+) ${name}`, 'g'))].reduce((total, match) => total + Number(match[1]), 0);
  return { passed: sum('passed'), failed: sum('failed') };
}

/** A check that passes or fails as a whole. */
export function countCheck(_output, code) {
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** What a suite adds to the sum: one that ended badly without naming a case, or ran nothing, has failed once. */
export function settle(counts, code) {
  if (counts.failed === 0 && (code !== 0 || counts.passed === 0)) return { ...counts, failed: 1 };
  return counts;
}
