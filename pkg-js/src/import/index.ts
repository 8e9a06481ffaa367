/** Imports from other memories. */
export { importMemoryOS } from './memoryos.js';
export type { ImportTarget, MemoryOSImportOptions, MemoryOSImportResult } from './memoryos.js';
