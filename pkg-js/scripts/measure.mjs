/**
 * Builds, then runs one of the measurements with the arguments given; its paths are relative to where npm was called.
 *   npm --prefix pkg-js run eval -- --data FOLDER …
 *   npm --prefix pkg-js run bench -- --json OUT
 *   npm --prefix pkg-js run bench:retrieval -- --data FOLDER --json OUT   its search over texts, beside others
 *   npm --prefix pkg-js run bench:vector -- --data FOLDER --json OUT      its search over vectors alone, without a browser
 */
import { join } from 'node:path';
import { build, buildVectorBench } from './build.mjs';
import { PACKAGE, TESTS } from './places.mjs';
import { setup } from './setup.mjs';
import { Failure, main, run } from './steps.mjs';

/** What each needs: a browser, the whole package, the search over vectors by itself. */
const SCRIPTS = {
  eval: { script: ['eval', 'eval.mjs'], whole: true },
  bench: { script: ['bench', 'bench.mjs'], browser: true, whole: true, vectors: true },
  retrieval: { script: ['bench', 'retrieval.mjs'], whole: true },
  vector: { script: ['bench', 'vector.mjs'], vectors: true },
};

await main(async () => {
  const [kind, ...rest] = process.argv.slice(2);
  if (!(kind in SCRIPTS)) throw new Failure(`there is no measurement "${kind}"`, `they are ${Object.keys(SCRIPTS).join(', ')}`);
  const { script, browser, whole, vectors } = SCRIPTS[kind];
  const ready = await setup({ browser, folders: [PACKAGE, TESTS] });
  const env = ready.browser ? { CHROME_PATH: ready.browser.chrome, CHROMEDRIVER: ready.browser.driver } : {};
  if (vectors) env.VECTOR_BENCH = await buildVectorBench(ready);
  if (whole) await build(ready);
  const cwd = process.env.INIT_CWD ?? process.cwd();
  return run(process.execPath, [join(TESTS, ...script), ...rest], { cwd, env });
});
