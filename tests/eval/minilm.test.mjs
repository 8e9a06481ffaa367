import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { addPages, openFresh } from '../lib/memory.mjs';
import { toPages } from '../lib/pages.mjs';
import { main, options } from './eval.mjs';
import { environment, Helper, MiniLM, openMiniLM, readModel } from './minilm.mjs';
import { WordPiece } from './wordpiece.mjs';

const PIECES = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'un', '##aff', '##able', 'cafe', '!', '看', '影', '$', 'dog', 'called', 'rex', 'a'];
const wordPiece = new WordPiece(PIECES);
const pieces = (text, most = 256) => wordPiece.row(text, most).map((id) => PIECES[id]);

test('a text is cut into the longest pieces of the vocabulary', () => {
  assert.deepEqual(pieces('UNAFFABLE café!'), ['[CLS]', 'un', '##aff', '##able', 'cafe', '!', '[SEP]']);
  assert.deepEqual(pieces('看电影'), ['[CLS]', '看', '[UNK]', '影', '[SEP]']);
  assert.deepEqual(pieces('$dog\u200b\t£ unx'), ['[CLS]', '$', 'dog', '[UNK]', '[UNK]', '[SEP]']);
  assert.deepEqual(pieces('a'.repeat(101)), ['[CLS]', '[UNK]', '[SEP]']);
  assert.deepEqual(pieces(' '), ['[CLS]', '[SEP]']);
});

test('a long text is cut at its end, the marks stay', () => {
  assert.deepEqual(pieces('dog dog dog dog', 4), ['[CLS]', 'dog', 'dog', '[SEP]']);
});

/** A helper of the same protocol that counts: a vector is [n rows asked so far, first piece, 0, ...]. */
const COUNTING = `
  let asked = 0;
  console.log('{"dimensions":384}');
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, rows } = JSON.parse(line);
    const vectors = new Float32Array(rows.length * 384);
    rows.forEach((row, i) => vectors.set([++asked, row[1]], i * 384));
    console.log(JSON.stringify({ id, vectors: Buffer.from(vectors.buffer).toString('base64') }));
  });`;
const helper = (script) => new Helper(process.execPath, ['-e', script]);

test('vectors come in the order of the texts, and a text is computed once', async () => {
  const minilm = new MiniLM(helper(COUNTING), wordPiece);
  const said = async (...texts) => (await minilm.embed({ texts, kind: 'passage' })).vectors.map((v) => [v[0], PIECES[v[1]]]);
  assert.deepEqual(await said('dog', 'rex', 'dog'), [[1, 'dog'], [2, 'rex'], [1, 'dog']]);
  assert.deepEqual(await said('cafe', 'rex'), [[3, 'cafe'], [2, 'rex']]);
  assert.deepEqual(await Promise.all([said('a'), said('un')]), [[[4, 'a']], [[5, 'un']]]);
  minilm.close();
});

test('a memory takes it as an embedder of its own', async () => {
  const minilm = new MiniLM(helper(COUNTING), wordPiece);
  const memory = await openFresh({ embedder: minilm });
  await addPages(memory, toPages([{ id: 1, session: 1, speaker: 'Ann', role: 'user', text: 'dog called rex' }]));
  await memory.flush();
  const { query, hits } = await memory.retrieve('called');
  assert.equal(query.vectors, true);
  assert.equal(hits.length, 1);
  assert.equal((await memory.stats()).embedder.id, 'local/all-MiniLM-L6-v2');
  assert.equal(minilm.failure, undefined);
  await memory.close();
  minilm.close();
});

const failing = [
  ['an error in its place', `process.stdin.once('data', () => console.log('{"id":1,"error":"MemoryError: too long"}'))`, /MemoryError: too long/],
  ['an end in the middle', `process.stdin.once('data', () => { console.error('no such layer'); process.exit(3); })`, /ended with 3:\nno such layer/],
  ['what is no JSON', `process.stdin.once('data', () => console.log('Traceback'))`, /no JSON: Traceback/],
  ['too few numbers', `process.stdin.once('data', () => console.log('{"id":1,"vectors":"AAAA"}'))`, /3 bytes came back for 1 vectors/],
];
for (const [what, script, words] of failing) {
  test(`the process answers with ${what}: the asker hears it, and it is remembered`, async () => {
    const child = helper(script);
    const minilm = new MiniLM(child, wordPiece);
    await assert.rejects(minilm.embed({ texts: ['dog'] }), words);
    assert.match(minilm.failure.message, words);
    minilm.close();
  });
}

test('a process that cannot be run, or ends before it is ready, is an error to whoever waits', async () => {
  await assert.rejects(new Helper('/nowhere/python', []).ready, /\/nowhere\/python cannot be run/);
  await assert.rejects(helper(`console.error('holds another model'); process.exit(1)`).ready, /ended with 1:\nholds another model/);
});

const folder = (t) => {
  const path = mkdtempSync(join(tmpdir(), 'minilm-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
};

test('without Python the message says what to install, and nothing is left behind', async (t) => {
  const cache = folder(t);
  const failure = await environment({ python: '/nowhere/python3', cache }).catch((error) => error);
  assert.match(failure.message, /\/nowhere\/python3 cannot be run/);
  assert.match(failure.remedy, /Python 3\.10/);
  assert.deepEqual(readdirSync(cache), []);
});

/** A shell script in Python's place: it has a version and makes environments that hold itself; `pip` decides the rest. */
function pretended(t, { version = '3.11', venv = true, pip = true } = {}) {
  const path = join(folder(t), 'python3');
  writeFileSync(path, `#!/bin/sh
case "$*" in
  *version_info*) echo ${version} ;;
  *-m\\ venv*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; ${venv} ;;
  *-m\\ pip*) echo pip "$@" >> "$(dirname "$0")/asked"; ${pip} ;;
  *purelib*) echo "$(dirname "$0")" ;;
esac
`, { mode: 0o755 });
  return path;
}

test('a Python that is too old, has no venv or no package index is named with its remedy', async (t) => {
  const cases = [
    [{ version: '3.9' }, /is Python 3\.9/, /Python 3\.10/],
    [{ venv: false }, /-m venv .* failed/, /python3-venv/],
    [{ pip: false }, /pip could not install numpy/, /index can be reached/],
  ];
  for (const [given, words, remedy] of cases) {
    const failure = await environment({ python: pretended(t, given), cache: folder(t) }).catch((error) => error);
    assert.match(failure.message, words);
    assert.match(failure.remedy, remedy);
  }
});

test('what is installed is not asked for again, and a folder of one\'s own needs no model', async (t) => {
  const [python, cache, lines] = [pretended(t), folder(t), []];
  const progress = (line) => lines.push(line);
  const first = await environment({ python, cache, model: '/own', progress });
  assert.equal(first.model, '/own');
  assert.match(lines.join('\n'), /virtual environment[^]*pip installs numpy/);
  const n_lines = lines.length;
  assert.deepEqual(await environment({ python, cache, model: '/own', progress }), first);
  assert.equal(lines.length, n_lines);
  await assert.rejects(environment({ python, cache, progress }), /is not the model that was measured \(sha256 absent\)/);
});

test('a folder that holds no model is refused before anything is installed', async (t) => {
  const path = folder(t);
  assert.throws(() => readModel(path), /holds no model\.safetensors and no vocab\.txt/);
  writeFileSync(join(path, 'model.safetensors'), '');
  await assert.rejects(openMiniLM({ model: path }), /holds no vocab\.txt/);
  assert.throws(() => options(['--data', 'd', '--model', 'm']), /--model is for --embedder minilm/);
  assert.equal(options(['--data', 'd', '--model', '/m', '--embedder', 'minilm']).model, '/m');
  const code = await main(['--data', '/nowhere', '--embedder', 'minilm', '--model', path], () => undefined);
  assert.equal(code, 1, 'without data no model is wanted');
});
