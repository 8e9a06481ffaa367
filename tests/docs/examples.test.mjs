// Every js and ts example of the READMEs runs as it stands there, with what it takes as given in stand-ins.mjs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGE = join(ROOT, 'pkg-js');
const { transformSync } = await import(pathToFileURL(createRequire(join(PACKAGE, 'package.json')).resolve('rolldown/utils')));

// Inside the package, where `memstrata` is the package itself and its development tools are at hand.
const folder = mkdtempSync(join(PACKAGE, '.examples-'));
after(() => rmSync(folder, { recursive: true, force: true }));
cpSync(new URL('stand-ins.mjs', import.meta.url), join(folder, 'stand-ins.mjs'));
writeFileSync(join(folder, 'my-storage.js'), "export { MemoryStorage as MyStorage } from 'memstrata/testing';\n");

// Engines that need a graphics card, by the one function that is asked of each.
const engines = {
  '@huggingface/transformers': 'export const pipeline = async () => async () => ({ dims: [1, 384], data: new Float32Array(384) });',
  '@mlc-ai/web-llm': 'export const CreateMLCEngine = async () => ({ chatCompletion: async () => ({ choices: [] }), interruptGenerate() {} });',
};
for (const [name, code] of Object.entries(engines)) {
  mkdirSync(join(folder, 'node_modules', name), { recursive: true });
  writeFileSync(join(folder, 'node_modules', name, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.js' }));
  writeFileSync(join(folder, 'node_modules', name, 'index.js'), code);
}

function examplesOf(readme) {
  const text = readFileSync(join(ROOT, readme), 'utf8');
  return [...text.matchAll(/^```(js|ts)\n([^]*?)^```$/gm)].map(({ 1: language, 2: code, index }) => ({ at: `${readme}:${text.slice(0, index).split('\n').length}`, language, code }));
}

let serial = 0;
async function run(language, code) {
  const path = join(folder, `example-${serial += 1}.mjs`);
  // Vitest's `test` runs under its own program only; Node's takes the same arguments.
  const script = language === 'ts' ? transformSync('example.ts', code).code : code;
  writeFileSync(path, script.replaceAll("from 'vitest'", "from 'node:test'"));
  const database = code.includes('indexedDBStorage') ? ['--import', 'fake-indexeddb/auto'] : [];
  const child = spawn(process.execPath, [...database, '--import', pathToFileURL(join(folder, 'stand-ins.mjs')).href, path], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece) => (said += piece));
  const status = await new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  return { status, said };
}

describe('examples', { concurrency: 2 }, () => {
  for (const readme of ['README.md', 'pkg-js/README.md']) {
    const examples = examplesOf(readme);
    test(`${readme} has examples`, () => assert.ok(examples.length > 0));
    for (const { at, language, code } of examples) {
      test(`${at} runs`, async () => {
        const { status, said } = await run(language, code);
        assert.equal(status, 0, said);
      });
    }
  }

  test('an example that calls what is not there fails', async () => {
    assert.notEqual((await run('js', "import { MemoryOS } from 'memstrata';\nawait MemoryOS.opened({});\n")).status, 0);
    assert.notEqual((await run('js', "import { Nobody } from 'memstrata';\n")).status, 0);
    assert.equal((await run('ts', "import type { Hit } from 'memstrata';\nconst hits: Hit[] = [];\nif (hits.length) throw 1;\n")).status, 0);
  });
});
