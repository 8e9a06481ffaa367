/** How families of embedding models are meant to be used, by their model cards: pooling, and what is put before a text. */

export interface EmbeddingRecipe {
  pooling: 'mean' | 'cls' | 'last_token';
  /** Makes each vector's length 1. */
  normalize: boolean;
  /** Put before a question. */
  queryPrefix?: string;
  /** Put before a passage. */
  passagePrefix?: string;
  dimensions?: number;
}

interface Family extends EmbeddingRecipe {
  /** Matched against the model's name without its owner. */
  name: RegExp;
  /** By what else stands in the name. */
  sizes?: [RegExp, number][];
}

const E5_SIZES: [RegExp, number][] = [[/small/i, 384], [/base/i, 768], [/large/i, 1024]];

/** The first that matches counts. */
export const EMBEDDING_RECIPES: readonly Family[] = [
  { name: /e5-.*instruct/i, pooling: 'mean', normalize: true, queryPrefix: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ', sizes: [[/large/i, 1024]] },
  { name: /e5-(small|base|large)/i, pooling: 'mean', normalize: true, queryPrefix: 'query: ', passagePrefix: 'passage: ', sizes: E5_SIZES },
  { name: /bge-m3/i, pooling: 'cls', normalize: true, dimensions: 1024 },
  { name: /bge-(small|base|large)-en/i, pooling: 'cls', normalize: true, queryPrefix: 'Represent this sentence for searching relevant passages: ', sizes: E5_SIZES },
  { name: /bge-(small|base|large)-zh/i, pooling: 'cls', normalize: true, queryPrefix: '为这个句子生成表示以用于检索相关文章：', sizes: [[/small/i, 512], [/base/i, 768], [/large/i, 1024]] },
  {
    name: /qwen3-embedding/i, pooling: 'last_token', normalize: true,
    queryPrefix: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
    sizes: [[/0\.6b/i, 1024], [/4b/i, 2560], [/8b/i, 4096]],
  },
  { name: /embeddinggemma/i, pooling: 'mean', normalize: true, queryPrefix: 'task: search result | query: ', passagePrefix: 'title: none | text: ', dimensions: 768 },
  { name: /nomic-embed-text/i, pooling: 'mean', normalize: true, queryPrefix: 'search_query: ', passagePrefix: 'search_document: ', dimensions: 768 },
  { name: /snowflake-arctic-embed-(xs|s|m|l)(-v1\.5)?$/i, pooling: 'cls', normalize: true, queryPrefix: 'Represent this sentence for searching relevant passages: ', sizes: [[/-(xs|s)$/i, 384], [/-m(-v1\.5)?$/i, 768], [/-l$/i, 1024]] },
  { name: /mxbai-embed-large/i, pooling: 'cls', normalize: true, queryPrefix: 'Represent this sentence for searching relevant passages: ', dimensions: 1024 },
  { name: /minilm/i, pooling: 'mean', normalize: true, dimensions: 384 },
  { name: /gte-(small|base|large)$/i, pooling: 'mean', normalize: true, sizes: E5_SIZES },
];

/** What is known of a model by its name, or undefined. */
export function recipeOf(model: string): EmbeddingRecipe | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).replace(/-onnx(-.*)?$/i, '');
  const family = EMBEDDING_RECIPES.find((one) => one.name.test(name));
  if (!family) return undefined;
  const { name: _, sizes, ...recipe } = family;
  const dimensions = recipe.dimensions ?? sizes?.find(([size]) => size.test(name))?.[1];
  return { ...recipe, ...(dimensions === undefined ? {} : { dimensions }) };
}
