/** `memstrata/langgraph`: a memory as the long-term store of LangGraph (`BaseStore`). */
import { MemoryOSError } from '../../errors.js';
import type { MemoryOS } from '../../memory-os.js';
import { Followed, queue } from '../followed.js';
import { cleanValue, fromPage, idOf, INDEXED, pathOf, STORE, toPage, UNDER } from './items.js';
import type { Kept } from './items.js';
import { beginsWith, fits, meets, requireNamespace } from './match.js';
import type { ListNamespacesOperation, MatchCondition, MemstrataStoreOptions, PutOperation, SearchOperation, StoreItem, StoreOperation, StoreSearchItem } from './types.js';

export type { MemstrataStoreOptions, StoreItem, StoreOperation, StoreSearchItem } from './types.js';

const MOST_HITS = 1_000;

/**
 * Items are pages of the memory: the text of their fields is what a query searches, and `forget`, export and import take
 * them along. An update stores the new value, then forgets the old one, so that a crash between the two loses neither.
 * Give the store a memory of its own (`assistantId`): to the rest of a memory its items are things that the user said.
 */
export class MemstrataStore {
  readonly #memory: MemoryOS;
  readonly #name: string;
  readonly #fields: string[];
  readonly #now: () => number;
  readonly #pages: Followed<Kept>;
  readonly #inTurn = queue();

  constructor(memory: MemoryOS, { name = 'langgraph', fields = ['$'], now = () => Date.now() }: MemstrataStoreOptions = {}) {
    this.#memory = memory;
    this.#name = name;
    this.#fields = fields;
    this.#now = now;
    this.#pages = new Followed(memory, (page) => fromPage(name, page));
  }

  async get(namespace: string[], key: string): Promise<StoreItem | null> {
    requireNamespace(namespace, { empty: true, reserved: true });
    return (await this.batch([{ namespace, key }]))[0] as StoreItem | null;
  }

  /** With a query the memory ranks; what it does not find comes last, without a score. Filters apply before. */
  async search(namespacePrefix: string[], { filter, limit = 10, offset = 0, query }: Omit<SearchOperation, 'namespacePrefix'> = {}): Promise<StoreSearchItem[]> {
    requireNamespace(namespacePrefix, { empty: true, reserved: true });
    return (await this.batch([{ namespacePrefix, limit, offset, ...(filter && { filter }), ...(query === undefined ? {} : { query }) }]))[0] as StoreSearchItem[];
  }

  /** `index`: paths to search instead of the store's `fields`, or `false` to keep the item out of queries. */
  async put(namespace: string[], key: string, value: { [key: string]: any }, index?: false | string[]): Promise<void> {
    requireNamespace(namespace);
    await this.batch([{ namespace, key, value, ...(index === undefined ? {} : { index }) }]);
  }

  async delete(namespace: string[], key: string): Promise<void> {
    requireNamespace(namespace, { empty: true, reserved: true });
    await this.batch([{ namespace, key, value: null }]);
  }

  /** Namespaces that hold items, by name. */
  async listNamespaces({ prefix, suffix, maxDepth, limit = 100, offset = 0 }: { prefix?: string[]; suffix?: string[]; maxDepth?: number; limit?: number; offset?: number } = {}): Promise<string[][]> {
    const matchConditions: MatchCondition[] = [];
    for (const [matchType, path] of [['prefix', prefix], ['suffix', suffix]] as const) {
      if (path === undefined) continue;
      requireNamespace(path, { empty: true, reserved: true });
      matchConditions.push({ matchType, path });
    }
    return (await this.batch([{ matchConditions, limit, offset, ...(maxDepth === undefined ? {} : { maxDepth }) }]))[0] as string[][];
  }

  /** Reads see the store as it was before the batch; of several writes to one item the last one counts. */
  async batch(operations: readonly StoreOperation[]): Promise<any> {
    return this.#inTurn(async () => {
      const items = await this.#items();
      const puts = new Map<string, PutOperation>();
      const results: unknown[] = [];
      for (const operation of operations) {
        if ('namespacePrefix' in operation) results.push(await this.#search([...items.values()], operation));
        else if (!('key' in operation)) results.push(list([...items.values()], operation));
        else {
          requireNamespace(operation.namespace, { reserved: true });
          const isPut = 'value' in operation;
          if (isPut) puts.set(idOf(operation), operation);
          results.push(isPut ? undefined : shown(items.get(idOf(operation))?.item) ?? null);
        }
      }
      if (puts.size > 0) await this.#write(items, puts);
      return results;
    });
  }

  start(): void {}

  /** Lets the memory's events go. The memory stays open: it is its owner's. */
  stop(): void {
    this.#pages.stop();
  }

  /** Items by namespace and key, with the pages that hold them; older values that a crash has left go. */
  async #items(): Promise<Map<string, { page: string; item: Kept }>> {
    const newest = new Map<string, { page: string; item: Kept }>();
    const old: string[] = [];
    for (const [page, item] of await this.#pages.now()) {
      const other = newest.get(idOf(item));
      if (other) old.push(other.item.version > item.version ? page : other.page);
      if (!other || other.item.version <= item.version) newest.set(idOf(item), { page, item });
    }
    if (old.length > 0) await this.#memory.forget(old);
    const byAge = [...newest].sort(([, { item: one }], [, { item: other }]) => one.order - other.order);
    return new Map(byAge);
  }

  async #write(items: Map<string, { page: string; item: Kept }>, puts: Map<string, PutOperation>): Promise<void> {
    const now = new Date(this.#now());
    let order = Math.max(0, ...[...items.values()].map(({ item }) => item.order));
    const added = [];
    const gone: string[] = [];
    for (const [id, { namespace, key, value, index }] of puts) {
      const before = items.get(id);
      if (before) gone.push(before.page);
      if (value === null) continue;
      const item: Kept = {
        namespace: [...namespace],
        key,
        value: cleanValue(value),
        createdAt: before?.item.createdAt ?? now,
        updatedAt: now,
        order: before?.item.order ?? ++order,
        version: (before?.item.version ?? 0) + 1,
        indexed: index !== false,
      };
      added.push(toPage(this.#name, item, Array.isArray(index) ? index : this.#fields));
    }
    if (added.length > 0) await this.#memory.addMany(added);
    if (gone.length > 0) await this.#memory.forget(gone);
  }

  async #search(items: { page: string; item: Kept }[], { namespacePrefix, filter, query, limit = 10, offset = 0 }: SearchOperation): Promise<StoreSearchItem[]> {
    requireNamespace(namespacePrefix, { empty: true, reserved: true });
    const under = items.filter(({ item }) => beginsWith(item.namespace, namespacePrefix));
    const wanted = new Map(under.filter(({ item }) => meets(item.value, filter)).map(({ page, item }) => [page, item]));
    const found: StoreSearchItem[] = [];
    if (query !== undefined && query.trim() !== '' && wanted.size > 0) {
      for (const { pageId, score } of await this.#rank(query, namespacePrefix, under.filter(({ page }) => !wanted.has(page)).map(({ page }) => page))) {
        const item = wanted.get(pageId);
        if (item) found.push({ ...shown(item), score });
        wanted.delete(pageId);
      }
    }
    for (const item of wanted.values()) found.push(shown(item));
    return found.slice(offset, offset + limit);
  }

  async #rank(query: string, prefix: string[], exclude: string[]) {
    const { hits } = await this.#memory.retrieve(query, {
      topK: MOST_HITS,
      budgetTokens: 0,
      filter: {
        tiers: ['short', 'mid', 'archive'],
        metadata: { [STORE]: this.#name, [INDEXED]: true },
        ...(prefix.length === 0 ? {} : { where: { [UNDER]: { in: [pathOf(prefix)] } } }),
        exclude,
      },
    });
    return hits;
  }
}

function list(items: { item: Kept }[], { matchConditions = [], maxDepth, limit, offset = 0 }: ListNamespacesOperation): string[][] {
  if (maxDepth !== undefined && !(maxDepth > 0)) throw new MemoryOSError('INVALID_ARGUMENT', `maxDepth must be at least 1, got ${maxDepth}`);
  const all = items.map(({ item }) => item.namespace).filter((namespace) => matchConditions.every((condition) => fits(namespace, condition)));
  const cut = new Map(all.map((namespace) => namespace.slice(0, maxDepth)).map((namespace) => [pathOf(namespace), namespace]));
  const sorted = [...cut.values()].sort((one, other) => one.join(':').localeCompare(other.join(':')));
  return sorted.slice(offset, limit === undefined ? undefined : offset + limit);
}

/** What callers get: a copy, so that theirs to change is not the store's. */
function shown(item: Kept): StoreItem;
function shown(item: Kept | undefined): StoreItem | undefined;
function shown(item: Kept | undefined): StoreItem | undefined {
  if (!item) return undefined;
  const { namespace, key, value, createdAt, updatedAt } = item;
  return structuredClone({ namespace, key, value, createdAt, updatedAt });
}
