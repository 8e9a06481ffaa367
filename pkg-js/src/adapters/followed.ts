/** Pages of one kind, kept in step with a memory by its events: the public calls find no page by its metadata. */
import type { MemoryOS } from '../memory-os.js';
import type { MemoryEvent, PageView } from '../types.js';

const LOAD_PAGES = 10_000;

export class Followed<T> {
  readonly #memory: MemoryOS;
  readonly #read: (page: PageView) => T | undefined;
  readonly #items = new Map<string, T>();
  /** Pages that were added or changed, and not looked at since. */
  readonly #unseen = new Set<string>();
  /** What makes a list that is being read useless. */
  #upsets = 0;
  #loaded = false;
  #off: (() => void) | undefined;

  /** `read` gives what is kept of a page; `undefined` for a page of another kind. */
  constructor(memory: MemoryOS, read: (page: PageView) => T | undefined) {
    this.#memory = memory;
    this.#read = read;
  }

  /** By page id, the oldest first, as the memory is now. Calls must not overlap. */
  async now(): Promise<ReadonlyMap<string, T>> {
    this.#off ??= this.#memory.on('*', (event) => this.#happened(event));
    while (!this.#loaded || this.#unseen.size > 0) await (this.#loaded ? this.#look() : this.#load());
    return this.#items;
  }

  /** Lets the memory's events go; the next `now` begins anew. */
  stop(): void {
    this.#off?.();
    this.#off = undefined;
    this.#loaded = false;
  }

  #happened(event: MemoryEvent): void {
    if (event.type === 'page-added' || event.type === 'page-updated') this.#unseen.add(event.pageId);
    else if (event.type === 'forgotten') {
      this.#upsets++;
      for (const id of event.pages) {
        this.#items.delete(id);
        this.#unseen.delete(id);
      }
    } else if (event.type === 'cleared') {
      this.#upsets++;
      this.#items.clear();
      this.#unseen.clear();
    } else if (event.type === 'role') {
      // Between two owners, and while a tab is frozen, others write and nobody is told. A list that is being read may be older.
      this.#upsets++;
      this.#loaded = false;
    }
  }

  async #load(): Promise<void> {
    for (let upsets = -1; upsets !== this.#upsets; ) {
      // A page that goes while the list is read moves the others up, past the reader: read again then.
      upsets = this.#upsets;
      this.#unseen.clear();
      const pages: PageView[] = [];
      for (let got = LOAD_PAGES; got === LOAD_PAGES; ) {
        const some = await this.#memory.pages({ offset: pages.length, limit: LOAD_PAGES });
        got = some.length;
        pages.push(...some);
      }
      this.#items.clear();
      for (const page of pages.reverse()) this.#keep(page);
    }
    this.#loaded = true;
  }

  async #look(): Promise<void> {
    for (const id of [...this.#unseen]) {
      const page = await this.#memory.getMemory(id);
      // What was forgotten meanwhile is no longer unseen.
      if (this.#unseen.delete(id) && page) this.#keep(page);
    }
  }

  #keep(page: PageView): void {
    const item = this.#read(page);
    if (item !== undefined) this.#items.set(page.id, item);
  }
}

/** Runs tasks one after the other, whether or not the one before has failed. */
export function queue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task, task);
    last = result.catch(() => undefined);
    return result;
  };
}
