/** CPU time, not the clock: what else the machine does then costs less. */
import { quantile } from '../figures.mjs';

const PASSES = { least: 3, most: 11 };
/** Milliseconds of CPU after which no further pass is begun. */
const ENOUGH_MS = 4_000;

function cpuMs(since) {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

/**
 * Median over several passes of the CPU milliseconds a call of `work` takes, after a pass to warm up. `work` is called with
 * each of 0 up to `n`; whether it answers at once or by a promise is seen at the first call.
 */
export async function timed(n, work) {
  const results = [];
  for (let i = 0; i < n; i += 1) results.push(await work(i));
  const later = typeof work(0)?.then === 'function';
  const passes = [];
  let spent = 0;
  while (passes.length < PASSES.least || (passes.length < PASSES.most && spent < ENOUGH_MS)) {
    const start = process.cpuUsage();
    if (later) for (let i = 0; i < n; i += 1) await work(i);
    else for (let i = 0; i < n; i += 1) work(i);
    const ms = cpuMs(start);
    spent += ms;
    passes.push(ms / n);
  }
  return { ms: quantile(passes, 0.5), results };
}

/** CPU seconds of one run, and its result. */
export async function once(work) {
  const start = process.cpuUsage();
  const result = await work();
  return { seconds: cpuMs(start) / 1_000, result };
}
