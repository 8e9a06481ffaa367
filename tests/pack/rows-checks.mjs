/** What tools say of the tarball. */
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { output } from './project.mjs';

async function lint({ project }) {
  const pkgDir = join(project('publint'), 'node_modules/memstrata');
  const { messages, pkg } = await publint({ pkgDir, pack: false, level: 'suggestion', strict: true });
  if (messages.length > 0) throw new Error(messages.map((message) => formatMessage(message, pkg)).join('; '));
  return { note: 'no remarks' };
}

/** Entries that are no scripts have no types. */
function types({ tarball }) {
  const { exports } = JSON.parse(readFileSync(fileURLToPath(new URL('../../pkg-js/package.json', import.meta.url)), 'utf8'));
  const assets = Object.entries(exports).filter(([, entry]) => typeof entry === 'string').map(([name]) => name);
  const attw = fileURLToPath(new URL('../node_modules/@arethetypeswrong/cli/dist/index.js', import.meta.url));
  output(process.execPath, [attw, tarball, '--profile', 'esm-only', '--no-emoji', '--exclude-entrypoints', ...assets]);
  return { note: `${Object.keys(exports).length - assets.length} entries` };
}

export const checks = [
  { name: 'publint', quick: true, entry: 'all', run: lint, expect: {} },
  { name: 'attw', entry: 'all', run: types, expect: {} },
];
