export { openAICompatible } from './openai-compatible.js';
export type { OpenAICompatibleOptions, RetryNotice } from './openai-compatible.js';
export type * from './types.js';
