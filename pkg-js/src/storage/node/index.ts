/** Storage in files, for Node: `memstrata/storage/node`. */
import { invalid } from '../../errors.js';
import { show } from '../../text.js';
import { LogStorage } from '../log/store.js';
import type { LogOptions } from '../log/store.js';
import { NodeDirectory } from './directory.js';

export type { LogOptions } from '../log/store.js';

/** Where the files lie, and how long another process is waited for. */
export interface NodeStorageOptions extends LogOptions {
  /** Where the files lie; made if it is not there. Each database name has its own, open in one process at a time. */
  directory: string;
  /** How long `open` waits for another process to let go before it rejects with LOCKED. Default 3,000. */
  lockWaitMs?: number;
}

/**
 * One append-only file a database. A batch is acknowledged once it is flushed to the disk: neither a killed process nor a loss
 * of power takes it back. Files are readable by their owner alone, and not encrypted.
 */
export class NodeStorage extends LogStorage {
  constructor(options: NodeStorageOptions) {
    const directory = options?.directory;
    if (typeof directory !== 'string' || directory === '') throw invalid(`directory must be the path of a folder, got ${show(directory)}`);
    super(new NodeDirectory(directory, options.lockWaitMs === undefined ? {} : { waitMs: options.lockWaitMs }), options);
  }
}
