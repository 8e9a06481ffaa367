/** `memstrata/react`: a memory for the components of a page. */
export { MemoryProvider, useMemory } from './provider.js';
export type { MemoryProviderProps, MemoryState, UseMemory } from './provider.js';
export { useFacts, useMemoryStats, useTiers } from './live.js';
export type { Live } from './live.js';
export { useRetrieve } from './retrieve.js';
export type { UseRetrieve } from './retrieve.js';
export { useMemoryResponse } from './response.js';
export type { ResponseMessage, UseMemoryResponse } from './response.js';
