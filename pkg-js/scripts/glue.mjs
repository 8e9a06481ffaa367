/**
 * Shortens the names by which the wasm file asks for its imports. There are about a hundred, each with a hash at its
 * end, which does not compress, and both files hold them. (wasm-opt can do this too, but names every build's module alike.)
 */
import { createHash } from 'node:crypto';
import { Failure } from './steps.mjs';
import { Reader, SECTION, leb, section, sections, text } from './wasm-bytes.mjs';

const FUNCTION = 0;

/** The wasm file and its glue with short names. */
export function shortenImports(wasm, glue) {
  const { start, bodyStart, end } = importSection(wasm);
  const reader = new Reader(wasm, bodyStart);
  const count = reader.leb();
  const imports = Array.from({ length: count }, () => {
    const [module, name, kind] = [reader.name(), reader.name(), reader.byte()];
    if (kind !== FUNCTION) throw new Failure(`the wasm file imports ${name}, which is no function`, 'teach scripts/glue.mjs this kind of import');
    return { module, name, type: reader.leb() };
  });
  const short = new Map();
  for (const { name } of imports) if (!short.has(name)) short.set(name, shortName(short.size));
  // Files of two builds must not fit together by accident, so the module's name says of which build they are.
  const build = `./${createHash('sha256').update([...short.keys()].join('\0')).digest('hex').slice(0, 8)}`;

  const body = [leb(count), ...imports.flatMap(({ name, type }) => [text(build), text(short.get(name)), Buffer.of(FUNCTION), leb(type)])];
  const bytes = section(SECTION.import, Buffer.concat(body));
  let seen = 0;
  const shortGlue = glue
    .replace(/^( +)(__wb\w+)(?=: function)/gm, (whole, indent, name) => {
      if (!short.has(name)) return whole;
      seen++;
      return indent + short.get(name);
    })
    .replaceAll(JSON.stringify(imports[0].module), JSON.stringify(build));
  if (seen !== short.size || shortGlue.includes(imports[0].module)) throw new Failure('the glue is not as scripts/glue.mjs knows it', 'see what wasm-bindgen writes into memory.js now');
  return { wasm: Buffer.concat([wasm.subarray(0, start), bytes, wasm.subarray(end)]), glue: shortGlue };
}

function importSection(wasm) {
  for (const found of sections(wasm)) if (found.kind === SECTION.import) return found;
  throw new Failure('the wasm file has no imports', 'see whether wasm-bindgen made it');
}

/** a, b … z, aa, ab …, as property names. A keyword is fine as one. */
function shortName(number) {
  const rest = Math.floor(number / 26);
  return (rest > 0 ? shortName(rest - 1) : '') + String.fromCharCode(97 + (number % 26));
}
