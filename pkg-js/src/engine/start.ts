/** Which worker hosts the engine: the caller's, or one beside this file. `inline` and `slim` are built with another file in place of this one. */
import type { OpenOptions } from '../types.js';
import type { WorkerLike } from './client.js';
import type { Started } from './given.js';
import { givenWorker, requireWorkers, spawn } from './given.js';

export function wantsWorker({ worker }: OpenOptions): boolean {
  requireWorkers(worker);
  if (worker === undefined) return typeof Worker !== 'undefined' && typeof document !== 'undefined';
  return worker !== false;
}

export function startWorker(options: OpenOptions): Started {
  const given = givenWorker(options);
  if (given) return given;
  try {
    // Spelt out in full: bundlers look for exactly this expression.
    return { worker: new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'memstrata' }) as WorkerLike, owned: true };
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'SecurityError')) throw error;
    // Not bundled and served from another origin. Through a variable, so that no bundler takes it for an asset.
    const here = import.meta.url;
    return { worker: spawn(new URL('./worker.js', here)), owned: true };
  }
}
