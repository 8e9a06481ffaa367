/** Builds www/dist and www/extension/dist when their sources or the package have changed. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIST, PACKAGE, WWW } from './places.mjs';
import { fingerprint, mustRun } from './steps.mjs';

export async function buildPlayground() {
  const built = readFileSync(join(DIST, '.built'), 'utf8');
  const wanted = fingerprint([WWW, join(PACKAGE, 'sample'), join(PACKAGE, 'src', 'wasm', '.built')], [built]);
  const stamp = join(WWW, 'dist', '.built');
  const extension = join(WWW, 'extension', 'dist', 'manifest.json');
  if (existsSync(stamp) && existsSync(extension) && readFileSync(stamp, 'utf8') === wanted) return 'unchanged';
  await mustRun('npm', ['run', '--silent', 'build'], { cwd: WWW, remedy: 'mend what is named above; to see it alone: npm --prefix www run build' });
  writeFileSync(stamp, wanted);
  return undefined;
}
