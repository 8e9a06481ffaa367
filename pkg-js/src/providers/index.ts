/** Models over HTTP, without the rest of the package, and a way to try a model out. */
export { openAICompatible } from './openai-compatible.js';
export type { OpenAICompatibleOptions, RetryNotice } from './openai-compatible.js';
export { anthropic } from './anthropic.js';
export type { AnthropicOptions } from './anthropic.js';
export { gemini } from './gemini.js';
export type { GeminiEmbeddingOptions, GeminiOptions } from './gemini.js';
export * from './presets.js';
export { testConnection } from './connection.js';
export type { ConnectionCause, ConnectionOptions, ConnectionResult } from './connection.js';
export type * from './types.js';
