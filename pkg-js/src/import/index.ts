/** Imports from other memories. */
export { importMemoryOS } from './memoryos.js';
export type { ImportTarget, MemoryOSImportOptions, MemoryOSImportResult } from './memoryos.js';
export { importFile, ORIGIN_KEY, SOURCE_KEY } from './file.js';
export type { FileImportTarget, ImportFileOptions, ImportFileResult, ImportLimits } from './file.js';
export type { FormatName } from './detect.js';
export type { FileSource } from './records.js';
