/**
 * Builds, then runs one of the measurements with the arguments given; its paths are relative to where npm was called.
 *   npm --prefix pkg-js run eval -- --data FOLDER …
 *   npm --prefix pkg-js run bench -- --json OUT
 */
import { join } from 'node:path';
import { build } from './build.mjs';
import { PACKAGE, TESTS } from './places.mjs';
import { setup } from './setup.mjs';
import { Failure, main, run } from './steps.mjs';

await main(async () => {
  const [kind, ...rest] = process.argv.slice(2);
  if (kind !== 'eval' && kind !== 'bench') throw new Failure(`there is no measurement "${kind}"`, 'it is eval or bench');
  const ready = await setup({ browser: kind === 'bench', folders: [PACKAGE, TESTS] });
  await build(ready);
  const cwd = process.env.INIT_CWD ?? process.cwd();
  return run(process.execPath, [join(TESTS, kind, `${kind}.mjs`), ...rest], { cwd, env: ready.browser ? { CHROME_PATH: ready.browser.chrome, CHROMEDRIVER: ready.browser.driver } : {} });
});
