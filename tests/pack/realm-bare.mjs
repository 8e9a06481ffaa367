/** Run in a project that has the package, with --experimental-vm-modules: each entry is linked and run in a realm of the language alone. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const { exports, peerDependencies = {} } = JSON.parse(readFileSync('node_modules/memstrata/package.json', 'utf8'));
const scripts = Object.values(exports).map((entry) => entry.default).filter((path) => path?.endsWith('.js'));

/** What no bare realm has: Node's own modules, and what an adapter adapts to. */
const isOutside = (source) => source.startsWith('node:') || Object.keys(peerDependencies).some((peer) => source === peer || source.startsWith(`${peer}/`));

let outside = 0;
for (const path of scripts) {
  const context = vm.createContext({});
  const modules = new Map();
  const load = (url) => {
    if (!modules.has(url)) modules.set(url, new vm.SourceTextModule(readFileSync(fileURLToPath(url), 'utf8'), { context, identifier: url, initializeImportMeta: (meta) => (meta.url = url) }));
    return modules.get(url);
  };
  const entry = load(new URL(`node_modules/memstrata/${path}`, import.meta.url).href);
  let leaves = false;
  await entry.link((source, from) => {
    leaves ||= isOutside(source);
    if (isOutside(source)) throw new Error(`${source} is not here`);
    if (!source.startsWith('.')) throw new Error(`${path} imports ${source}, which is no peer dependency`);
    return load(new URL(source, from.identifier).href);
  }).catch((error) => {
    if (!leaves) throw error;
  });
  if (leaves) {
    outside += 1;
    continue;
  }
  await entry.evaluate().catch((error) => { throw new Error(`${path}: ${error.message}`, { cause: error }); });
}
console.log(JSON.stringify({ linked: scripts.length - outside, outside }));
