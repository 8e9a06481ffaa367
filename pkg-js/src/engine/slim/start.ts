/** In place of `../start.ts` in the entry `slim`: a worker only where the caller names one. */
import { invalid } from '../../errors.js';
import type { OpenOptions } from '../../types.js';
import type { Started } from '../given.js';
import { givenWorker, requireWorkers } from '../given.js';

export function wantsWorker({ worker, assets }: OpenOptions): boolean {
  requireWorkers(worker);
  if (worker === undefined) return typeof Worker !== 'undefined' && assets?.worker !== undefined;
  return worker !== false;
}

export function startWorker(options: OpenOptions): Started {
  const given = givenWorker(options);
  if (!given) throw invalid('worker: true, but memstrata/slim carries no worker: name the place of memstrata/worker as `assets: { worker }`, or pass a Worker');
  return given;
}
