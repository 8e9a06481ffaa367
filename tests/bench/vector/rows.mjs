/**
 * Rows and questions to search for. Given ones come first, vectors of real sentences; when they are used up, or none were
 * given, rows are made, each from its own number, so that any part of any size can be made alone and again.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const DIMS = 384;
const QUESTIONS = 200;

/** Files below the folder of data, all rows of 384 f32: real sentences, rows of the same covariance, real questions. */
const GIVEN = ['real3584.f32', 'syn10000.f32', 'q.f32'];

/** splitmix32: any number is a good seed, so every row has its own stream. */
function drawing(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let t = state ^ (state >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    return ((t ^ (t >>> 15)) >>> 0) / 4_294_967_296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return { whole: (n) => Math.floor(next() * n), normal };
}

function normalise(row) {
  let sum = 0;
  for (const x of row) sum += x * x;
  const scale = 1 / Math.sqrt(sum);
  for (let at = 0; at < row.length; at += 1) row[at] *= scale;
  return row;
}

/** Parts whose sum a made row is, beside the row it lies near. */
const PARTS = 8;
const NOISE = 0.6;

/** Rows by number, from 0 on without end, and the questions. */
export class Rows {
  #given;
  #basis;
  #mean;

  /** @param {{given: Float32Array, nBasis: number, questions: Float32Array, about: string}} of the first `nBasis` given rows others are made */
  constructor({ given, nBasis, questions, about }) {
    this.#given = given;
    this.nGiven = given.length / DIMS;
    this.#basis = Array.from({ length: nBasis }, (_, n) => given.subarray(n * DIMS, (n + 1) * DIMS));
    this.#mean = new Float64Array(DIMS);
    for (const row of this.#basis) for (let at = 0; at < DIMS; at += 1) this.#mean[at] += row[at] / nBasis;
    this.questions = Array.from({ length: questions.length / DIMS }, (_, n) => questions.subarray(n * DIMS, (n + 1) * DIMS));
    this.about = about;
  }

  /** Rows `from` up to `end`, one after another. */
  slice(from, end) {
    const out = new Float32Array((end - from) * DIMS);
    const given = Math.min(end, this.nGiven);
    if (from < given) out.set(this.#given.subarray(from * DIMS, given * DIMS));
    for (let n = Math.max(from, given); n < end; n += 1) this.#make(n, out.subarray((n - from) * DIMS, (n - from + 1) * DIMS));
    return out;
  }

  /** A basis row, and beside it noise of the basis' covariance: a random sum of other rows less their mean. */
  #make(n, row) {
    const draw = drawing(n);
    const one = () => this.#basis[draw.whole(this.#basis.length)];
    row.set(one());
    for (let part = 0; part < PARTS; part += 1) {
      const [other, weight] = [one(), (NOISE / Math.sqrt(PARTS)) * draw.normal()];
      for (let at = 0; at < DIMS; at += 1) row[at] += weight * (other[at] - this.#mean[at]);
    }
    normalise(row);
  }
}

const MADE = `beyond them rows are made: a random one of them, plus ${NOISE} times noise of their covariance (a random sum of ${PARTS} of them less their mean), at unit length; the row's number is the seed`;

/** The rows of a folder of data; made ones, with a word of why, where they are not there. */
export function openRows(folder, say) {
  const paths = folder ? GIVEN.map((name) => join(folder, 'vectors', name)) : [];
  const missing = paths.find((path) => !existsSync(path));
  if (folder && !missing) {
    const [real, like, questions] = paths.map(floats);
    const given = new Float32Array(real.length + like.length);
    given.set(real);
    given.set(like, real.length);
    const about = `${real.length / DIMS} vectors of real sentences, then ${like.length / DIMS} of their covariance, questions real too; ${MADE}, from the real ones`;
    return new Rows({ given, nBasis: real.length / DIMS, questions: questions.subarray(0, QUESTIONS * DIMS), about });
  }
  say(folder ? `vectors: ${missing} is not there, so rows are made` : 'vectors: no --data DIR is given, so rows are made; with real ones recall means more');
  return synthetic();
}

function floats(path) {
  const bytes = readFileSync(path);
  if (bytes.length % (4 * DIMS) !== 0) throw new Error(`${path} does not hold rows of ${DIMS} f32`);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** Without data: rows around topics, in directions of falling weight, with one that all share. */
export function synthetic(nRows = 4_000) {
  const TOPICS = 300;
  const draw = drawing(0xfeed);
  const weights = Array.from({ length: DIMS }, (_, at) => 1 / Math.sqrt(1 + at / 24));
  const vector = (scale) => Float32Array.from({ length: DIMS }, (_, at) => scale * weights[at] * draw.normal());
  const topics = Array.from({ length: TOPICS }, () => vector(0.9));
  const shared = vector(0.35);
  const rows = (n, noise) => {
    const out = new Float32Array(n * DIMS);
    for (let row = 0; row < n; row += 1) {
      const [topic, own] = [topics[draw.whole(TOPICS)], vector(noise)];
      normalise(out.subarray(row * DIMS, (row + 1) * DIMS).map((_, at) => shared[at] + topic[at] + own[at])).forEach((x, at) => (out[row * DIMS + at] = x));
    }
    return out;
  };
  const about = `${nRows} rows around ${TOPICS} topics, made from a seed, because no vectors of sentences were given; ${MADE}`;
  return new Rows({ given: rows(nRows, 0.8), nBasis: nRows, questions: rows(QUESTIONS, 0.8), about });
}
