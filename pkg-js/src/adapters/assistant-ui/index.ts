/** `memstrata/assistant-ui`: a memory behind the chat components of assistant-ui. */
export { memoryChatAdapter } from './chat.js';
export { memoryThreadHistory } from './history.js';
export type { MemoryThreadHistoryOptions } from './history.js';
export type { MemoryChatAdapter, MemoryChatOptions, MemoryThreadHistory } from './types.js';
