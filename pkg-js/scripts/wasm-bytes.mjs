/** Reads and writes the bytes of wasm files, as far as the build looks into them. */

export const SECTION = { custom: 0, import: 2, code: 10 };

/** Bytes of the header, before the first section. */
export const HEADER = 8;

export class Reader {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.bytes[this.at++];
  }

  leb() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  name() {
    return Buffer.from(this.take(this.leb())).toString();
  }
}

/** Every section as its kind and the places where it starts, where what it holds starts, and where it ends. */
export function* sections(wasm) {
  const reader = new Reader(wasm, HEADER);
  while (reader.at < wasm.length) {
    const start = reader.at;
    const kind = reader.byte();
    const size = reader.leb();
    const bodyStart = reader.at;
    reader.at += size;
    yield { kind, start, bodyStart, end: reader.at };
  }
}

export function leb(value) {
  const bytes = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

export function text(value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([leb(bytes.length), bytes]);
}

export function section(kind, body) {
  return Buffer.concat([Buffer.of(kind), leb(body.length), body]);
}
