/**
 * Puts the functions of a wasm file into an order in which it is compressed better: those that resemble each other stand near
 * each other, because gzip looks back 32 KB only. Takes 5 % off what a page downloads and changes nothing else.
 *
 * The order is told as names, which `wasm-opt --reorder-functions-by-name` follows and `--strip-debug` drops.
 */

/** Bytes that two functions must share in a row to resemble each other. */
const RUN = 6;

/** A run that so many functions have says nothing. */
const COMMON = 400;

/** Bytes of code looked back at: less than gzip's 32 KB, of which other matches take their part. */
const WINDOW = 12_000;

/** What is left over of every function; keeps tiny ones, which share all they have with anything, from being taken first. */
const ALONE = 15;

const SECTION = { custom: 0, import: 2, code: 10 };
const IMPORT = { function: 0, table: 1, memory: 2, global: 3, tag: 4 };

/** The file with a section that names every function by its place. It must have no names yet. */
export function nameByOrder(wasm) {
  const { imported, bodies } = functionsOf(wasm);
  const place = new Map(order(bodies).map((n, at) => [n, at]));
  const names = bodies.flatMap((_, n) => [...number(imported + n), ...string(String(place.get(n)).padStart(6, '0'))]);
  const functions = [...number(bodies.length), ...names];
  const content = [...string('name'), 1, ...number(functions.length), ...functions];
  return Buffer.concat([wasm, Buffer.from([SECTION.custom, ...number(content.length), ...content])]);
}

/** Indices of byte strings: from the longest on, always the one that shares most with those just before it. */
export function order(bodies) {
  const shared = sharedRuns(bodies);
  const left = new Set(bodies.keys());
  const score = new Float64Array(bodies.length);
  const near = new Map(); // run: how many functions of the window have it
  const add = (n, by) => {
    for (const run of shared.of[n]) {
      const before = near.get(run) ?? 0;
      near.set(run, before + by);
      if (before === 0 || before + by === 0) for (const other of shared.having.get(run)) score[other] += by;
    }
  };
  const window = [];
  let bytes = 0;
  const out = [];
  let next = longest(bodies);
  while (next !== undefined) {
    out.push(next);
    left.delete(next);
    window.push(next);
    bytes += bodies[next].length;
    add(next, 1);
    while (bytes > WINDOW && window.length > 1) {
      const gone = window.shift();
      bytes -= bodies[gone].length;
      add(gone, -1);
    }
    next = undefined;
    let best = -1;
    for (const n of left) {
      const likeness = score[n] / (bodies[n].length + ALONE);
      if (likeness > best) [next, best] = [n, likeness];
    }
  }
  return out;
}

function longest(bodies) {
  let found;
  for (const [n, body] of bodies.entries()) if (found === undefined || body.length > bodies[found].length) found = n;
  return found;
}

/** The runs of bytes that a few functions have in common, by function and by run. */
function sharedRuns(bodies) {
  const all = bodies.map((body) => {
    const runs = new Set();
    for (let at = 0; at + RUN <= body.length; at += 1) runs.add(body.readUIntLE(at, RUN));
    return runs;
  });
  const having = new Map();
  for (const [n, runs] of all.entries()) {
    for (const run of runs) {
      const list = having.get(run);
      if (list) list.push(n);
      else having.set(run, [n]);
    }
  }
  for (const [run, list] of having) if (list.length < 2 || list.length > COMMON) having.delete(run);
  return { having, of: all.map((runs) => [...runs].filter((run) => having.has(run))) };
}

/** How many functions a wasm file imports, and the bytes of its own. */
function functionsOf(wasm) {
  const from = reader(wasm, 8);
  let imported = 0;
  const bodies = [];
  while (from.at < wasm.length) {
    const kind = from.byte();
    const end = from.number() + from.at;
    if (kind === SECTION.import) {
      for (let left = from.number(); left > 0; left -= 1) imported += from.import() === IMPORT.function ? 1 : 0;
    } else if (kind === SECTION.code) {
      for (let left = from.number(); left > 0; left -= 1) bodies.push(from.bytes(from.number()));
    }
    from.at = end;
  }
  return { imported, bodies };
}

function reader(wasm, start) {
  return {
    at: start,
    byte() {
      this.at += 1;
      return wasm[this.at - 1];
    },
    bytes(length) {
      this.at += length;
      return wasm.subarray(this.at - length, this.at);
    },
    number() {
      let value = 0;
      for (let shift = 1; ; shift *= 128) {
        const byte = this.byte();
        value += (byte & 127) * shift;
        if (byte < 128) return value;
      }
    },
    limits() {
      const flags = this.byte();
      this.number();
      if (flags & 1) this.number();
    },
    /** Passes over an import; the kind of what is imported. */
    import() {
      this.bytes(this.number());
      this.bytes(this.number());
      const kind = this.byte();
      if (kind === IMPORT.function) this.number();
      else if (kind === IMPORT.table || kind === IMPORT.tag) this.byte();
      else if (kind === IMPORT.global) this.bytes(2);
      if (kind === IMPORT.table || kind === IMPORT.memory) this.limits();
      else if (kind === IMPORT.tag) this.number();
      return kind;
    },
  };
}

function number(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...number(value >>> 7)];
}

function string(text) {
  const bytes = Buffer.from(text);
  return [...number(bytes.length), ...bytes];
}
