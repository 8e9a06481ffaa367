/**
 * Makes a machine ready that has Rust (by rustup), Node 20 and npm: everything else is installed or built here, once.
 * Each step looks first and does nothing where nothing is missing.
 *   npm --prefix pkg-js run setup
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CACHE, PACKAGE, ROOT, TESTS, wasmBindgenBin, wasmBindgenVersion, WWW } from './places.mjs';
import { ask, Failure, fingerprint, main, mustRun, run, step } from './steps.mjs';

/**
 * @param {{browser?: boolean, folders?: string[]}} wanted
 * @returns what the other scripts need: cargo's toolchain argument and the browser
 */
export async function setup({ browser = false, folders = [PACKAGE] } = {}) {
  const ready = { toolchain: [], browser: undefined };
  await step('Rust', checkRust);
  await step('Rust for wasm', async () => {
    ready.toolchain = await wasmToolchain();
    return ready.toolchain[0] ?? 'default toolchain';
  });
  await step(`wasm-bindgen ${wasmBindgenVersion()}`, wasmBindgen);
  for (const folder of folders) if (existsSync(join(folder, 'package.json'))) await step(`npm packages of ${folder.slice(ROOT.length + 1)}`, () => npmPackages(folder));
  if (browser) {
    await step('Chromium and its driver', async () => {
      ready.browser = await findBrowser();
      return ready.browser.chrome;
    });
  }
  return ready;
}

function checkRust() {
  const node = process.versions.node.split('.').map(Number);
  if (node[0] < 20 || (node[0] === 20 && node[1] < 19)) throw new Failure(`Node ${process.versions.node} is too old`, 'install Node 20.19 or newer');
  const version = ask('cargo', ['--version'], { cwd: ROOT });
  if (!version) throw new Failure('cargo is not installed', 'install Rust with rustup, then open a new shell so that cargo is in PATH');
  const needed = /^rust-version\s*=\s*"(\d+)\.(\d+)/m.exec(readFileSync(join(ROOT, 'Cargo.toml'), 'utf8'));
  const has = /(\d+)\.(\d+)/.exec(version);
  if (needed && has && (Number(has[1]) < Number(needed[1]) || (has[1] === needed[1] && Number(has[2]) < Number(needed[2])))) {
    throw new Failure(`${version} is older than the crate's rust-version ${needed[1]}.${needed[2]}`, 'run: rustup update stable');
  }
  return version;
}

async function wasmToolchain() {
  let said = '';
  const options = { cwd: ROOT, stdio: ['inherit', 'pipe', 'inherit'], onOutput: (piece) => (said += piece) };
  const code = await run('bash', [join(PACKAGE, 'scripts/wasm-target.sh')], options);
  if (code !== 0) throw new Failure('cargo cannot build for wasm32-unknown-unknown', 'see the remedy above');
  const last = said.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return last.startsWith('+') ? [last] : [];
}

async function wasmBindgen() {
  const version = wasmBindgenVersion();
  const bin = wasmBindgenBin();
  const tools = ['wasm-bindgen', 'wasm-bindgen-test-runner'];
  const fits = (path) => ask(path, ['--version'])?.split(/\s+/).includes(version) ?? false;
  if (tools.every((tool) => existsSync(join(bin, tool))) && fits(join(bin, 'wasm-bindgen'))) return `in ${bin}`;

  mkdirSync(bin, { recursive: true });
  const found = (process.env.PATH ?? '').split(delimiter).find((folder) => folder && tools.every((tool) => existsSync(join(folder, tool))));
  if (found && fits(join(found, 'wasm-bindgen'))) {
    for (const tool of tools) copyFileSync(join(found, tool), join(bin, tool));
    return `copied from ${found}`;
  }
  // Not --locked: the release's lock file names a version that its registry no longer has.
  // Built outside the checkout, so that neither its configuration nor its target folder takes part.
  const work = join(CACHE, `build-wasm-bindgen-${version}`);
  const root = `${work}-root`;
  mkdirSync(work, { recursive: true });
  await mustRun('cargo', ['install', 'wasm-bindgen-cli', '--version', version, '--root', root], {
    cwd: tmpdir(),
    env: { CARGO_TARGET_DIR: work, RUSTFLAGS: '', CARGO_ENCODED_RUSTFLAGS: '' },
    remedy: 'check that the crates registry can be reached and that a C linker (package build-essential) is installed, then try again',
  });
  rmSync(bin, { recursive: true, force: true });
  renameSync(join(root, 'bin'), bin);
  rmSync(work, { recursive: true, force: true });
  rmSync(root, { recursive: true, force: true });
  return `built into ${bin}; later checkouts use it too`;
}

async function npmPackages(folder) {
  const stamp = join(folder, 'node_modules', '.memstrata-lock');
  const lock = join(folder, 'package-lock.json');
  const state = () => fingerprint([existsSync(lock) ? lock : join(folder, 'package.json')]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state()) return 'unchanged';
  // Install scripts are not needed by anything here, and are a door best left shut.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  await mustRun('npm', [existsSync(lock) ? 'ci' : 'install', ...flags], { cwd: folder, remedy: 'check that the npm registry can be reached, then try again' });
  writeFileSync(stamp, state());
  return 'installed';
}

const CHROMES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const DRIVERS = ['/usr/bin/chromedriver', '/usr/lib/chromium-browser/chromedriver', '/usr/lib/chromium/chromedriver'];

async function findBrowser() {
  const given = process.env.CHROME_PATH;
  if (given && !existsSync(given)) throw new Failure(`CHROME_PATH names ${given}, which does not exist`, 'correct it, or unset it to have Chromium installed');
  const look = () => ({
    chrome: given ?? CHROMES.find(existsSync),
    driver: process.env.CHROMEDRIVER ?? DRIVERS.find(existsSync) ?? ask('sh', ['-c', 'command -v chromedriver']),
  });
  let found = look();
  if (!found.chrome || !found.driver) {
    await aptInstall(['chromium', 'chromium-driver']);
    found = look();
  }
  if (!found.chrome || !found.driver) throw new Failure('no Chromium with a driver', 'install both, and name them in CHROME_PATH and CHROMEDRIVER');
  return found;
}

async function aptInstall(packages) {
  const asRoot = process.getuid?.() === 0;
  const sudo = asRoot ? [] : ['sudo'];
  const command = [...sudo, 'apt-get', 'install', '-y', '--no-install-recommends', ...packages];
  if (!ask('sh', ['-c', 'command -v apt-get']) || (!asRoot && !ask('sh', ['-c', 'command -v sudo']))) {
    throw new Failure(`${packages.join(' and ')} must be installed`, `install them by hand (Debian, as root: apt-get install ${packages.join(' ')}), or set CHROME_PATH and CHROMEDRIVER`);
  }
  const update = [...sudo, 'apt-get', 'update', '-qq'];
  await run(update[0], update.slice(1));
  await mustRun(command[0], command.slice(1), { env: { DEBIAN_FRONTEND: 'noninteractive' }, remedy: `run by hand: ${command.join(' ')}` });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main(async () => {
    await setup({ browser: true, folders: [PACKAGE, WWW, TESTS] });
  });
}
