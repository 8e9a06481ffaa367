import { expect, test } from 'vitest';
import { shortenImports } from './glue.mjs';

/** (module (import "./m.js" "__wbg_one_0123456789abcdef" (func (param i32))) (import "./m.js" "__wbg_two_0123456789abcdef" (func (param i32))) (export "run" (func 1))) */
function sample() {
  const name = (text) => [text.length, ...Buffer.from(text)];
  const imported = (text) => [...name('./m.js'), ...name(text), 0, 0];
  const imports = [2, ...imported('__wbg_one_0123456789abcdef'), ...imported('__wbg_two_0123456789abcdef')];
  const exports = [1, ...name('run'), 0, 1];
  return Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 1, 0x7f, 0, 2, imports.length, ...imports, 7, exports.length, ...exports]);
}

const GLUE = `
    const import0 = {
        __proto__: null,
        __wbg_one_0123456789abcdef: function(arg0) { seen.push('one', arg0); },
        __wbg_two_0123456789abcdef: function() { return handleError(function (arg0) { seen.push('two', arg0); }, arguments); },
    };
    return { "./m.js": import0 };
`;

test('the shortened files fit together, and do what they did', async () => {
  const { wasm, glue } = shortenImports(sample(), GLUE);
  const module = await WebAssembly.compile(wasm);
  expect(WebAssembly.Module.imports(module).map(({ name }) => name)).toEqual(['a', 'b']);
  const seen = [];
  const imports = new Function('seen', 'handleError', glue)(seen, (run, args) => run(...args));
  (await WebAssembly.instantiate(module, imports)).exports.run(7);
  expect(seen).toEqual(['two', 7]);
});

test('files of two builds do not fit together', async () => {
  const other = Buffer.from(sample());
  other.write('x', other.indexOf('one'));
  const { wasm } = shortenImports(other, GLUE.replaceAll('_one_', '_xne_'));
  const imports = new Function('seen', 'handleError', shortenImports(sample(), GLUE).glue)([], () => undefined);
  await expect(WebAssembly.instantiate(wasm, imports)).rejects.toThrow(/Import #0/);
});

test('glue that does not name every import is refused', () => {
  expect(() => shortenImports(sample(), GLUE.replace('__wbg_one', '__other'))).toThrow(/not as scripts\/glue\.mjs knows it/);
});
