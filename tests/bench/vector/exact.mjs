/** What is truly nearest: every row against every question in f64, by nothing but JavaScript. */
import { DIMS } from './rows.mjs';

/** The `k` rows of greatest cosine to one question, kept while rows go by. */
class Nearest {
  constructor(k) {
    this.k = k;
    this.found = [];
    this.bar = -Infinity;
  }

  take(row, cosine) {
    if (cosine <= this.bar) return;
    const at = this.found.findIndex((other) => other.cosine < cosine);
    this.found.splice(at === -1 ? this.found.length : at, 0, { row, cosine });
    if (this.found.length > this.k) this.found.pop();
    if (this.found.length === this.k) this.bar = this.found[this.k - 1].cosine;
  }
}

/** Takes rows a chunk at a time, so that not all of them need be in memory. */
export class Exact {
  #questions;
  #nearest;

  constructor(questions, k) {
    // Wide already, and four side by side, because that is twice as fast.
    this.#questions = questions.map((question) => Float64Array.from(question));
    this.#nearest = questions.map(() => new Nearest(k));
  }

  /** Rows from number `first` on. */
  take(first, rows) {
    const wide = new Float64Array(DIMS);
    for (let n = 0; n * DIMS < rows.length; n += 1) {
      let norm = 0;
      for (let at = 0; at < DIMS; at += 1) {
        wide[at] = rows[n * DIMS + at];
        norm += wide[at] * wide[at];
      }
      norm = Math.sqrt(norm);
      for (let q = 0; q < this.#questions.length; q += 4) {
        const four = [0, 1, 2, 3].map((m) => this.#questions[Math.min(q + m, this.#questions.length - 1)]);
        const dots = dotFour(wide, ...four);
        for (let m = 0; m < 4 && q + m < this.#questions.length; m += 1) this.#nearest[q + m].take(first + n, dots[m] / norm);
      }
    }
  }

  /** Row numbers for each question, best first. */
  rows() {
    return this.#nearest.map(({ found }) => found.map(({ row }) => row));
  }
}

const sums = new Float64Array(4);

function dotFour(row, a, b, c, d) {
  let [w, x, y, z] = [0, 0, 0, 0];
  for (let at = 0; at < DIMS; at += 1) {
    const value = row[at];
    w += value * a[at];
    x += value * b[at];
    y += value * c[at];
    z += value * d[at];
  }
  sums[0] = w;
  sums[1] = x;
  sums[2] = y;
  sums[3] = z;
  return sums;
}

/** Mean share of the truly nearest that were found. */
export function recall(found, truth) {
  const share = truth.map((rows, n) => rows.filter((row) => found[n].includes(row)).length / rows.length);
  return share.reduce((a, b) => a + b, 0) / share.length;
}
