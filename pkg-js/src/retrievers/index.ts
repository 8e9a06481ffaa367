/**
 * Retrievers that ask a language model, ready to be given to `MemoryOS.open({ retrievers })`. Each makes one call a search; where
 * the model fails or answers nonsense, the core's own order stands.
 */
export { reranking } from './reranking.js';
export type { RerankingOptions } from './reranking.js';
export { rewriting } from './rewriting.js';
export type { RewritingOptions } from './rewriting.js';
