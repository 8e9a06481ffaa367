/** Node, and what may be imported where nothing of a browser is there. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { output } from './project.mjs';
import { runWebpack } from './rows-bundlers.mjs';

const saidBy = (dir, script, ...args) => JSON.parse(output(process.execPath, [...args, script], dir).trim().split('\n').at(-1));

/** Two processes; what the first has, the second gets as a file, since Node has no IndexedDB. */
const NODE = (first) => `import { readFileSync, writeFileSync } from 'node:fs';
import { MemoryOS } from 'memstrata';
import { use } from './use.mjs';
const open = async (options) => {
  const memory = await MemoryOS.open(options);
  ${first ? '' : `await new Promise((resolve) => memory.on('embedder', ({ status }) => status === 'ready' && resolve()));
  await memory.importFrom(readFileSync('memory.file'));`}
  const close = memory.close.bind(memory);
  memory.close = async () => {
    writeFileSync('memory.file', new Uint8Array(await (await memory.exportTo()).arrayBuffer()));
    await close();
  };
  return memory;
};
console.log(JSON.stringify(await use({ open }, ${first})));
`;

function node({ project }) {
  const dir = project('node', { 'first.mjs': NODE(true), 'again.mjs': NODE(false) });
  saidBy(dir, 'first.mjs');
  return { thread: 'main', ...saidBy(dir, 'again.mjs') };
}

/** A server's bundle, in CommonJS as frameworks make it: importing it opens nothing; opening works in RAM, and says that IndexedDB is missing when it is asked for. */
const SERVER = `import { MemoryOS, isMemoryOSError } from 'memstrata';
import { use } from './use.mjs';
export const render = () => \`<p>\${typeof MemoryOS.open}</p>\`;
export async function check() {
  const refused = await MemoryOS.open({ name: 'ssr', userId: 'tester', storage: 'indexeddb' }).then(() => 'opened', (error) => (isMemoryOSError(error) ? error.code + ' ' + error.message : String(error)));
  return { refused, ...(await use(MemoryOS, true, { storage: 'memory' })) };
}
`;

async function server({ project }) {
  const dir = project('server', { 'page.js': SERVER, 'server.mjs': "import { createRequire } from 'node:module';\nconst { check, render } = createRequire(import.meta.url)('./dist/page.cjs');\nconst html = render();\nconsole.log(JSON.stringify({ html, ...(await check()) }));\n" });
  await runWebpack({
    context: dir, entry: './page.js', target: 'node20', optimization: { minimize: false },
    output: { path: join(dir, 'dist'), filename: 'page.cjs', chunkFilename: '[id].cjs', library: { type: 'commonjs2' } },
  });
  const { html, refused, vectors } = saidBy(dir, 'server.mjs');
  if (html !== '<p>function</p>') throw new Error(`rendered ${html}`);
  if (!/^STORAGE_UNAVAILABLE this environment has no IndexedDB/.test(refused)) throw new Error(`storage: "indexeddb" on a server: ${refused}`);
  return { thread: 'main', vectors };
}

/** The wasm file as module, bytes and address; without it an error that says what to pass. */
const SLIM = `import { readFileSync } from 'node:fs';
import { MemoryOS } from 'memstrata/slim';
import { use } from './use.mjs';
const url = import.meta.resolve('memstrata/memory.wasm');
const bytes = readFileSync(new URL(url));
const forms = { none: undefined, module: await WebAssembly.compile(bytes), bytes, address: url };
const form = process.argv[2];
const options = { embedder: 'none', ...(form === 'none' ? {} : { assets: { wasm: forms[form] } }) };
console.log(JSON.stringify(await use(MemoryOS, true, options).catch(({ code, message }) => ({ refused: \`\${code} \${message}\` }))));
`;

function slim({ project }) {
  const dir = project('slim', { 'slim.mjs': SLIM });
  const said = (form) => JSON.parse(output(process.execPath, ['slim.mjs', form], dir));
  const { refused } = said('none');
  if (!/^INVALID_ARGUMENT memstrata\/slim carries no wasm file: pass the module, bytes or address/.test(refused)) throw new Error(`without the wasm file: ${refused}`);
  for (const form of ['module', 'bytes', 'address']) if (said(form).refused) throw new Error(`${form}: ${said(form).refused}`);
  return { thread: 'main', vectors: said('module').vectors };
}

/** case_45: every entry is imported where each global of a browser throws when it is looked at, and where there are no globals at all. */
function realms({ project }) {
  const dir = project('realms');
  for (const name of ['realm-throwing.mjs', 'realm-bare.mjs']) cpSync(fileURLToPath(new URL(name, import.meta.url)), join(dir, name));
  const { exports } = JSON.parse(readFileSync(join(dir, 'node_modules/memstrata/package.json'), 'utf8'));
  const scripts = Object.values(exports).filter((entry) => entry.default?.endsWith('.js')).length;
  const { imported, peers } = saidBy(dir, 'realm-throwing.mjs');
  const { linked, outside } = saidBy(dir, 'realm-bare.mjs', '--experimental-vm-modules', '--no-warnings');
  if (imported + peers !== scripts || linked + outside !== scripts) throw new Error(`${imported} and ${linked} of ${scripts} entries were imported`);
  return { note: `${imported} entries${peers > 0 ? `, ${peers} more need a peer` : ''}; ${linked} in a realm of the language alone` };
}

export const nodeRows = [
  { name: 'node', quick: true, entry: 'memstrata', run: node, expect: { thread: 'main', vectors: true } },
  { name: 'server-render', entry: 'memstrata', run: server, expect: { thread: 'main', vectors: true } },
  { name: 'slim', quick: true, entry: 'memstrata/slim', run: slim, expect: { thread: 'main', vectors: false } },
  { name: 'realms', quick: true, entry: 'all', run: realms, expect: {} },
];
