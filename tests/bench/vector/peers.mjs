/**
 * Other vector searches on npm, each as its documentation has it used. A peer takes rows once for each `build` and then
 * answers by each of its `settings`; the one that is fastest at a recall of .99 counts, or else the one of the best recall.
 *
 * `build(rows, dims)` gives `{settings: [{name, search(question, k)}], free}`, where `search` gives row numbers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const folderOf = (name) => {
  const found = require.resolve.paths(name).map((base) => join(base, name)).find((path) => readdirIfThere(path));
  if (!found) throw new Error(`the package ${name} is not installed`);
  return found;
};
const readdirIfThere = (path) => {
  try {
    return readdirSync(path);
  } catch {
    return undefined;
  }
};
export const versionOf = (name) => JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8')).version;
const importFrom = (...path) => import(pathToFileURL(join(...path)).href);

/** Its distances "cosine" and "dot" return the farthest rows; for rows of unit length "l2" ranks as they should. */
const edgevec = {
  name: 'edgevec',
  builds: [64, 100].map((ef) => ({
    name: `HNSW l2, ef_search ${ef}`,
    async build(rows, dims) {
      const folder = folderOf('edgevec');
      const { initSync, EdgeVec, EdgeVecConfig } = await importFrom(folder, 'edgevec.js');
      initSync({ module: readFileSync(join(folder, 'edgevec_bg.wasm')) });
      const config = new EdgeVecConfig(dims);
      config.metric = 'l2';
      config.ef_search = ef;
      const index = new EdgeVec(config);
      // So that its search by bits can be asked as well.
      index.enableBQ();
      const ids = new Map(rows.map((row, n) => [index.insert(row), n]));
      const rowsOf = (found) => found.map(({ id }) => ids.get(id));
      const byBits = [10, 20].map((factor) => ({ name: `bits, rescored ${factor} times k`, search: (question, k) => rowsOf(index.searchBQRescored(question, k, factor)) }));
      const byGraph = { name: `HNSW l2, ef_search ${ef}`, search: (question, k) => rowsOf(index.search(question, k)) };
      return { settings: ef === 64 ? [byGraph, ...byBits] : [byGraph], free: () => index.free() };
    },
  })),
};

/** Made for browsers alone: it starts where a window is and no process. */
async function hnswlib() {
  const dist = join(folderOf('hnswlib-wasm'), 'dist');
  const file = readdirSync(dist).find((name) => /^hnswlib-[0-9a-f]+\.js$/.test(name));
  const { default: factory } = await importFrom(dist, file);
  const { process } = globalThis;
  try {
    Object.assign(globalThis, { window: globalThis, process: undefined });
    return await factory();
  } finally {
    delete globalThis.window;
    globalThis.process = process;
  }
}

const hnswlibWasm = {
  name: 'hnswlib-wasm',
  builds: [16, 32].map((m) => ({
    name: `M ${m}`,
    async build(rows, dims) {
      const { HierarchicalNSW } = await hnswlib();
      const index = new HierarchicalNSW('ip', dims, '');
      index.initIndex(rows.length, m, 200, 100);
      const labels = index.addItems(rows, true);
      const byLabel = new Map(labels.map((label, n) => [label, n]));
      return {
        settings: [32, 40, 48, 64, 100].map((ef) => ({
          name: `M ${m}, efConstruction 200, efSearch ${ef}`,
          search(question, k) {
            index.setEfSearch(ef);
            return index.searchKnn(question, k, undefined).neighbors.map((label) => byLabel.get(label));
          },
        })),
        free: () => index.delete?.(),
      };
    },
  })),
};

const voy = {
  name: 'voy-search',
  builds: [
    {
      name: 'k-d tree',
      async build(rows) {
        const folder = folderOf('voy-search');
        const glue = await importFrom(folder, 'voy_search_bg.js');
        const { instance } = await WebAssembly.instantiate(readFileSync(join(folder, 'voy_search_bg.wasm')), { './voy_search_bg.js': glue });
        glue.__wbg_set_wasm(instance.exports);
        const index = new glue.Voy({ embeddings: rows.map((row, n) => ({ id: String(n), title: '', url: '', embeddings: Array.from(row) })) });
        return {
          settings: [{ name: 'k-d tree', search: (question, k) => index.search(question, k).neighbors.map(({ id }) => Number(id)) }],
          free: () => index.free(),
        };
      },
    },
  ],
};

const orama = {
  name: '@orama/orama',
  builds: [
    {
      name: 'vector search',
      async build(rows, dims) {
        const { create, insertMultiple, searchVector } = await import('@orama/orama');
        const index = create({ schema: { vector: `vector[${dims}]` } });
        await insertMultiple(index, rows.map((row, n) => ({ id: String(n), vector: Array.from(row) })), 1_000);
        const search = async (question, limit) => {
          const { hits } = await searchVector(index, { vector: { value: Array.from(question), property: 'vector' }, similarity: -1, limit });
          return hits.map(({ id }) => Number(id));
        };
        return { settings: [{ name: 'vector search, no least similarity', search }], free() {} };
      },
    },
  ],
};

/** Its embedder is left out (package.json puts an empty package in its place); rows are given, so it is never asked. */
const clientVectorSearch = {
  name: 'client-vector-search',
  builds: [
    {
      name: 'EmbeddingIndex',
      async build(rows) {
        const { EmbeddingIndex } = require('client-vector-search');
        const index = new EmbeddingIndex(rows.map((row, n) => ({ id: n, embedding: Array.from(row) })));
        const search = async (question, topK) => (await index.search(Array.from(question), { topK, useStorage: 'none' })).map(({ object }) => object.id);
        return { settings: [{ name: 'EmbeddingIndex, no storage', search }], free() {} };
      },
    },
  ],
};

/** What one writes without a library. */
const plain = {
  name: 'plain-js',
  builds: [
    {
      name: 'scan of Float32Arrays',
      async build(rows, dims) {
        const search = (question, k) => {
          const found = [];
          let bar = -Infinity;
          for (let n = 0; n < rows.length; n += 1) {
            const row = rows[n];
            let dot = 0;
            for (let at = 0; at < dims; at += 1) dot += row[at] * question[at];
            if (dot <= bar) continue;
            const at = found.findIndex((other) => other.dot < dot);
            found.splice(at === -1 ? found.length : at, 0, { n, dot });
            if (found.length > k) found.pop();
            if (found.length === k) bar = found[k - 1].dot;
          }
          return found.map(({ n }) => n);
        };
        return { settings: [{ name: 'scan of Float32Arrays', search }], free() {} };
      },
    },
  ],
};

export const PEERS = [edgevec, hnswlibWasm, voy, orama, clientVectorSearch, plain];
