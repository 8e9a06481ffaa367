/** memstrata: a memory operating system for AI agents that runs wholly on the client. */
export { MemoryOS } from './memory-os.js';
export type { EventOf, EventType } from './memory-os.js';
export { ERROR_CODES, isMemoryOSError, MemoryOSError } from './errors.js';
export type { ErrorCode } from './errors.js';
export { openAICompatible } from './providers/openai-compatible.js';
export type { OpenAICompatibleOptions } from './providers/openai-compatible.js';
export type { ByteSource } from './boundary/bytes.js';
export type { ImportOptions } from './import/conversation.js';
export type * from './providers/types.js';
export type * from './storage/types.js';
export type * from './types.js';
