/** A worker's script, `memstrata/storage/opfs-worker`: has one database open for a page. */
import { MemoryOSError } from '../../errors.js';
import type { Port } from '../../engine/peer.js';
import { Peer } from '../../engine/peer.js';
import { LogStorage } from '../log/store.js';
import type { OpfsCalls } from './calls.js';
import { OpfsDirectory } from './directory.js';

let storage: LogStorage | undefined;

const opened = (): LogStorage => {
  if (!storage) throw new MemoryOSError('CLOSED', 'the store is not open');
  return storage;
};

// Only in a worker: a bundler's dry run or a server-side render may load this file too.
const scope = globalThis as unknown as Port & { WorkerGlobalScope?: unknown };
if (scope.WorkerGlobalScope !== undefined) new Peer<object, OpfsCalls>(scope, {
  fallback: 'STORAGE_UNAVAILABLE',
  handlers: {
    open: async ([{ folder, waitMs, ...options }, name]) => {
      const opening = new LogStorage(new OpfsDirectory({ folder, waitMs }), options);
      await opening.open(name);
      storage = opening;
    },
    read: ([range]) => opened().read(range),
    commit: ([batch]) => opened().commit(batch),
    compact: () => opened().compact(),
    close: () => storage?.close(),
  },
});
