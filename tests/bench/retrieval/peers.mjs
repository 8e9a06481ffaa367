/**
 * Other searches over text on npm, each as its documentation has it used. `build(turns, vectorOf, k)` gives a function from a question
 * to the keys of its k best turns.
 */
import { versionOf } from '../vector/peers.mjs';

const DIMS = 384;

/** BM25 with its English stemmer and stop words: of its settings the one that finds the most (its quick start's finds .21 of .34). */
async function orama(turns, vectorOf) {
  const { create, insertMultiple } = await import('@orama/orama');
  const { stopwords } = await import('@orama/stopwords/english');
  const db = create({
    schema: { text: 'string', vector: `vector[${DIMS}]` },
    components: { tokenizer: { language: 'english', stemming: true, stopWords: stopwords } },
  });
  const rows = await Promise.all(turns.map(async ({ key, text }) => ({ id: key, text, vector: Array.from(await vectorOf(text)) })));
  await insertMultiple(db, rows, 1_000);
  return db;
}

async function oramaKeyword(turns, vectorOf, limit) {
  const { search } = await import('@orama/orama');
  const db = await orama(turns, vectorOf);
  return async (question) => (await search(db, { term: question, properties: ['text'], limit, threshold: 1 })).hits.map(({ id }) => id);
}

async function oramaHybrid(turns, vectorOf, limit) {
  const { search } = await import('@orama/orama');
  const db = await orama(turns, vectorOf);
  return async (question) => {
    const vector = { value: Array.from(await vectorOf(question)), property: 'vector' };
    return (await search(db, { mode: 'hybrid', term: question, properties: ['text'], vector, similarity: 0, limit })).hits.map(({ id }) => id);
  };
}

const miniSearch = (options) => async (turns, _, k) => {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({ idField: 'key', fields: ['text'] });
  index.addAll(turns);
  return (question) => index.search(question, options).slice(0, k).map(({ id }) => id);
};

const peer = (name, from, build) => ({ name, version: versionOf(from), build });

export const keywordPeers = [
  peer('Orama, full text', '@orama/orama', oramaKeyword),
  peer('MiniSearch', 'minisearch', miniSearch({})),
  peer('MiniSearch, prefixes and typing errors', 'minisearch', miniSearch({ prefix: true, fuzzy: 0.2 })),
];

export const wholePeers = [peer('Orama, hybrid', '@orama/orama', oramaHybrid)];
