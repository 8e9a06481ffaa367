/** Throw-away projects that have the package as npm installs it, from its tarball. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../../pkg-js/', import.meta.url));
const USE = fileURLToPath(new URL('use.mjs', import.meta.url));

/** A program's output; it throws with all of it when the program fails. */
export function output(command, args, cwd) {
  // The prefix of an outer `npm --prefix` would have npm install elsewhere.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_(local_|global_)?prefix$/i.test(name)));
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status ?? error}\n${stdout}${stderr}`);
  return stdout;
}

/** Packs the package into `folder`; gives the tarball's path. */
export function pack(folder) {
  output('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], PACKAGE);
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')));
}

/** Makes projects below a folder of their own; `remove` takes all away. */
export function workshop() {
  const root = mkdtempSync(join(tmpdir(), 'memstrata-pack-'));
  const tarball = pack(root);
  return {
    tarball,
    remove: () => rmSync(root, { recursive: true, force: true }),
    /** @param {Record<string, string>} files  by name, besides `use.mjs` */
    project(name, files = {}) {
      const dir = join(root, name);
      mkdirSync(dir);
      write(dir, { 'package.json': JSON.stringify({ name, private: true, type: 'module' }), ...files });
      output('npm', ['install', tarball, '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--offline', '--loglevel=error'], dir);
      cpSync(USE, join(dir, 'use.mjs'));
      return dir;
    },
  };
}

function write(dir, files) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
}
