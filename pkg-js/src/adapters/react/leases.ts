/** Memories that are open in this page, each once, however often components mount, unmount and mount again. */
import { MemoryOS } from '../../memory-os.js';
import type { OpenOptions } from '../../types.js';

export interface Lease {
  readonly memory: Promise<MemoryOS>;
  release(): void;
}

interface Shared {
  storage: OpenOptions['storage'];
  memory: Promise<MemoryOS>;
  holders: number;
}

const shared = new Map<string, Shared>();
/** Memories that are closing: the next one of the same name waits for its lock. */
const closing = new Map<string, Promise<unknown>>();

export function keyOf({ name, userId, assistantId = 'default' }: OpenOptions): string {
  return JSON.stringify([name, userId, assistantId]);
}

/** Takes part in the memory of these options, or opens it. It closes when the last lease has been released for good. */
export function lease(options: OpenOptions): Lease {
  const key = keyOf(options);
  let entry = shared.get(key);
  if (!entry || entry.storage !== options.storage) {
    const opened: Shared = { storage: options.storage, holders: 0, memory: (closing.get(key) ?? Promise.resolve()).then(() => MemoryOS.open(options)) };
    const drop = (): void => {
      if (shared.get(key) === opened) shared.delete(key);
    };
    // What could not be opened, or is gone, is opened anew by the next lease.
    opened.memory.then((memory) => memory.on('closed', drop), drop);
    shared.set(key, opened);
    entry = opened;
  }
  const held = entry;
  held.holders++;
  let released = false;
  return {
    memory: held.memory,
    release() {
      if (released) return;
      released = true;
      held.holders--;
      // Strict mode and hot reloading unmount and mount again at once: only who is not back by the next task is gone.
      setTimeout(() => {
        if (held.holders === 0) end(key, held);
      }, 0);
    },
  };
}

function end(key: string, entry: Shared): void {
  if (shared.get(key) === entry) shared.delete(key);
  const closed = entry.memory.then((memory) => memory.close()).catch(() => undefined);
  closing.set(key, closed);
  void closed.then(() => {
    if (closing.get(key) === closed) closing.delete(key);
  });
}
