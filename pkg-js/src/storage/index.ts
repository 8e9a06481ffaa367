/** Storage engines by name: `memstrata/storage`. */
export { registerStorage } from './registry.js';
export { MemoryStorage } from './memory.js';
export type { MemoryStorageOptions } from './memory.js';
export type * from './types.js';
