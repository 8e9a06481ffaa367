/**
 * Packs the package, installs it and uses it in every environment it is made for; prints a table.
 *   npm --prefix pkg-js run test:pack
 *   npm --prefix pkg-js run test:pack -- --only webpack --only csp
 */
import { join } from 'node:path';
import { build } from './build.mjs';
import { PACKAGE, TESTS } from './places.mjs';
import { setup } from './setup.mjs';
import { main, run } from './steps.mjs';

await main(async () => {
  const ready = await setup({ browser: true, folders: [PACKAGE, TESTS] });
  await build(ready);
  return run(process.execPath, [join(TESTS, 'pack', 'matrix.mjs'), ...process.argv.slice(2)], { cwd: TESTS, env: { CHROME_PATH: ready.browser.chrome } });
});
