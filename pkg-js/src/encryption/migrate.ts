/** From a plain memory into an encrypted one, or back: export, import, comparison; and only then, if asked for, the old one is cleared. */
import { aborted, MemoryOSError } from '../errors.js';
import type { MemoryOS } from '../memory-os.js';
import type { PageView } from '../types.js';

/** How far a migration has come. */
export interface MigrationProgress {
  step: 'export' | 'import' | 'compare' | 'clear';
  /** Pages: of `compare`, those that were found the same; of the other steps none, or all. */
  done: number;
  total: number;
}

/** How a migration is watched and stopped, and whether its source is cleared. */
export interface MigrateOptions {
  onProgress?: (progress: MigrationProgress) => void;
  /** Stops it before its next step; what was imported stays where it is. */
  signal?: AbortSignal;
  /** Clears `from` once all of it is found in `to`. Default: false. */
  clearSource?: boolean;
}

/** What was moved. */
export interface Migration {
  pages: number;
  facts: number;
  /** Pages that were there before: of an earlier attempt. */
  duplicates: number;
  cleared: boolean;
}

type Migrating = Pick<MemoryOS, 'exportTo' | 'importFrom' | 'pages' | 'facts' | 'stats' | 'clear'>;

const PAGES_AT_ONCE = 1_000;

/**
 * Both memories are open, and nobody writes to them meanwhile. The import is one transaction: after a crash `from` is whole, and a
 * second call completes what the first one left. Rejects with STORAGE_CORRUPT when `to` lacks anything, and clears nothing then.
 */
export async function migrate(from: Migrating, to: Migrating, { onProgress, signal, clearSource = false }: MigrateOptions = {}): Promise<Migration> {
  const before = await from.stats();
  const total = before.pages;
  const at = (step: MigrationProgress['step'], done = 0): void => {
    if (signal?.aborted) throw aborted(signal);
    onProgress?.({ step, done, total });
  };
  at('export');
  const file = await from.exportTo();
  at('import');
  const { duplicates } = await to.importFrom(file);
  at('compare');
  const facts = await compare(from, to, (done) => at('compare', done));
  const result = { pages: total, facts, duplicates, cleared: clearSource };
  if (!clearSource) return result;
  const after = await from.stats();
  // Counts, not a second export: visits that wait to be booked are no writing.
  for (const count of ['pages', 'changes'] as const) {
    if (after[count] !== before[count]) throw new MemoryOSError('ABORTED', `the memory changed while it was migrated (${count}: ${before[count]} before, ${after[count]} now), so that it was not cleared: call migrate again`, { data: { reason: 'source-changed' } });
  }
  at('clear', total);
  await from.clear();
  return result;
}

/** Every page and fact of `from` is in `to`; gives the number of facts. */
async function compare(from: Migrating, to: Migrating, onPages: (done: number) => void): Promise<number> {
  const there = new Map<string, PageView>();
  for await (const pages of all(to)) for (const page of pages) for (const name of namesOf(page)) there.set(name, page);
  let done = 0;
  for await (const pages of all(from)) {
    for (const page of pages) {
      const twin = namesOf(page).map((name) => there.get(name)).find(Boolean);
      if (!twin || wordsOf(twin) !== wordsOf(page)) throw missing(`page ${page.id}`);
    }
    onPages((done += pages.length));
  }
  const facts = await from.facts({ closed: true });
  const others = new Set((await to.facts({ closed: true })).flatMap(({ id, subject, attribute, value }) => [id, JSON.stringify([subject, attribute, value])]));
  for (const { id, subject, attribute, value } of facts) if (!others.has(id) && !others.has(JSON.stringify([subject, attribute, value]))) throw missing(`fact ${id}`);
  return facts.length;
}

/** A page that was there under the caller's own id has an id of its own. */
const namesOf = ({ id, clientId }: PageView): string[] => (clientId === undefined ? [`page:${id}`] : [`page:${id}`, `client:${clientId}`]);

const wordsOf = ({ userInput, agentResponse, userName, agentName, time, offsetMinutes, session, metadata }: PageView): string =>
  JSON.stringify([userInput, agentResponse, userName, agentName, time, offsetMinutes, session, metadata]);

async function* all(memory: Migrating): AsyncGenerator<PageView[]> {
  for (let offset = 0; ; offset += PAGES_AT_ONCE) {
    const pages = await memory.pages({ offset, limit: PAGES_AT_ONCE });
    if (pages.length > 0) yield pages;
    if (pages.length < PAGES_AT_ONCE) return;
  }
}

function missing(what: string): MemoryOSError {
  return new MemoryOSError('STORAGE_CORRUPT', `${what} is not in the other memory as it is here; nothing was cleared`);
}
