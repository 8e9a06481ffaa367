/** Workers that the caller names: the object, a function that makes one, or the address of the package's script. */
import { invalid } from '../errors.js';
import type { OpenOptions } from '../types.js';
import type { WorkerLike } from './client.js';

export interface Started {
  worker: WorkerLike;
  /** Whether closing the memory ends it. */
  owned: boolean;
}

export function givenWorker({ worker, assets }: OpenOptions): Started | undefined {
  if (typeof worker === 'object') return { worker: worker as WorkerLike, owned: false };
  if (typeof worker === 'function') return { worker: worker() as WorkerLike, owned: true };
  return assets?.worker === undefined ? undefined : { worker: spawn(new URL(assets.worker, location.href)), owned: true };
}

/** Browsers refuse a worker script of another origin, but let a blob import it. */
export function spawn(url: URL): WorkerLike {
  const options: WorkerOptions = { type: 'module', name: 'memstrata' };
  if (url.origin === location.origin || url.protocol === 'blob:' || url.protocol === 'data:') return new Worker(url, options) as WorkerLike;
  const blob = URL.createObjectURL(new Blob([`import ${JSON.stringify(url.href)};`], { type: 'text/javascript' }));
  return new Worker(blob, options) as WorkerLike;
}

export function requireWorkers(worker: OpenOptions['worker']): void {
  if (worker === true && typeof Worker === 'undefined') {
    throw invalid('worker: true, but this environment has no Worker: leave `worker` out or pass false to run on this thread');
  }
}
