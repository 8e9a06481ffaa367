import type { StorageEngine } from './types.js';

/** Kept apart from what fills it, so that the core holds no more than this. */
export const engines = new Map<unknown, () => StorageEngine>();
