/** Every suite of the repository: what to run, where, and how its cases are counted. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { countCargo, countCheck, countNode, countVitest } from './counts.mjs';
import { CARGO_TARGET, PACKAGE, ROOT, TESTS, wasmBindgenBin, WWW } from './places.mjs';

const TARGET = 'wasm32-unknown-unknown';
const CHROME_FLAGS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic',
];

/** @param {{toolchain: string[], browser: {chrome: string, driver: string}}} ready */
export function suites({ toolchain, browser }) {
  const chrome = { CHROME_PATH: browser.chrome, CHROMEDRIVER: browser.driver };
  const node = (script, ...args) => [process.execPath, [join(PACKAGE, 'node_modules', script), ...args]];
  return [
    { name: 'fmt', title: 'Rust format', cwd: ROOT, command: ['cargo', ['fmt', '--all', '--check']], count: countCheck },
    { name: 'clippy', title: 'Rust lints', cwd: ROOT, command: ['cargo', ['clippy', '--all-targets', '--quiet', '--', '-D', 'warnings']], count: countCheck },
    { name: 'rust', title: 'Rust, native', cwd: ROOT, command: ['cargo', ['test', '--no-fail-fast', '--quiet']], count: countCargo },
    {
      name: 'wasm',
      title: 'Rust in Chromium: page and dedicated worker',
      cwd: ROOT,
      command: ['cargo', [...toolchain, 'test', '--no-fail-fast', '--target', TARGET, '--lib', '--test', 'web_*']],
      env: { ...chrome, PATH: `${wasmBindgenBin()}${delimiter}${process.env.PATH}`, WASM_BINDGEN_TEST_WEBDRIVER_JSON: writeCapabilities(browser.chrome), WASM_BINDGEN_TEST_TIMEOUT: '120' },
      count: countCargo,
    },
    { name: 'sizes', title: 'sizes of what a page loads', cwd: PACKAGE, command: [process.execPath, ['scripts/size.mjs']], count: countCheck },
    { name: 'types', title: 'TypeScript types', cwd: PACKAGE, command: node('typescript/bin/tsc', '-p', 'tsconfig.json'), count: countCheck },
    { name: 'peer-types', title: "TypeScript, types of the packages that providers wrap", cwd: PACKAGE, command: node('typescript/bin/tsc', '-p', 'tsconfig.peers.json'), count: countCheck },
    { name: 'unit', title: 'TypeScript, package', cwd: PACKAGE, command: node('vitest/vitest.mjs', 'run'), count: countVitest },
    { name: 'www-types', title: 'TypeScript types of the Playground', cwd: WWW, command: ['npm', ['run', '--silent', 'check']], count: countCheck },
    { name: 'www', title: 'TypeScript, Playground', cwd: WWW, command: ['npm', ['run', '--silent', 'test']], count: countVitest },
    { name: 'tools', title: 'demonstration, evaluation and bench', cwd: TESTS, command: ['npm', ['run', '--silent', 'unit']], env: chrome, count: countNode },
    { name: 'docs', title: 'API reference: every export has a comment', cwd: PACKAGE, command: [process.execPath, ['scripts/docs.mjs']], count: countCheck },
    { name: 'pack', title: 'the packed package, installed and used (test:pack runs further environments)', cwd: TESTS, command: [process.execPath, ['pack/matrix.mjs', '--quick']], env: chrome, count: countNode },
    { name: 'e2e', title: 'end to end in Chromium', cwd: TESTS, command: ['npm', ['run', '--silent', 'e2e']], env: chrome, count: countNode },
  ];
}

/** The browser and its flags for the runner of wasm tests, which reads them from a file. */
function writeCapabilities(binary) {
  const path = join(CARGO_TARGET, 'webdriver.json');
  mkdirSync(CARGO_TARGET, { recursive: true });
  writeFileSync(path, JSON.stringify({ 'goog:chromeOptions': { binary, args: CHROME_FLAGS } }));
  return path;
}
