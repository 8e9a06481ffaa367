import { batch, computed, signal } from '@preact/signals';
import type { JobView, LedgerView, MemoryEvent, MemoryOS, PageView, SegmentView, Stats, TiersView } from 'memstrata';
import { markForgotten, markReturned } from './forgotten';
import { facts, forgetPersona, personaMoved, readPersona, stir } from './persona';
import { troubleOf, type Trouble } from './trouble';

/** What the engine holds now, for every part of the page that shows it. */
export const tiers = signal<TiersView | null>(null);
export const stats = signal<Stats | null>(null);
export const jobs = signal<JobView[]>([]);
/** What the models took, and whether background work is paused. */
export const ledger = signal<LedgerView | null>(null);
/** Every page by id, filled as far as `loadPages` has come. */
export const pages = signal<ReadonlyMap<string, PageView>>(new Map());
/** The newest failure of background work, until it is dismissed. */
export const workTrouble = signal<Trouble | null>(null);
export const embedderStatus = signal<'loading' | 'ready' | 'failed' | null>(null);

export const isEmpty = computed(() => stats.value !== null && stats.value.pages === 0);

export const segments = computed(() => {
  const byId = new Map<string, SegmentView>();
  for (const segment of [...(tiers.value?.midTerm ?? []), ...(tiers.value?.archive ?? [])]) byId.set(segment.id, segment);
  return byId;
});

const PAGES_A_CALL = 500;
/** Events in a row are gathered: one picture a quarter of a second is as much as an eye follows. */
const REFRESH_MS = 250;
/** A large memory takes longer to read; looking at it may take a fifth of the time, never more. */
const REST_FACTOR = 4;

let current: MemoryOS | null = null;
let timer: ReturnType<typeof setTimeout> | null = null;
let refreshing = false;
let again = false;
let lastRefreshMs = 0;

export function watch(memory: MemoryOS): void {
  current = memory;
  personaMoved();
  const changes: MemoryEvent['type'][] = ['page-updated', 'consolidated', 'segment-archived', 'filed-by-rules', 'enriched', 'embedded', 'sealed', 'paused', 'resumed', 'role'];
  for (const type of changes) memory.on(type, () => refreshSoon());
  memory.on('page-added', (event) => {
    markReturned(event.pageId);
    refreshSoon();
  });
  memory.on('persona-changed', (event) => {
    personaMoved(event.changeId);
    stir();
    refreshSoon();
  });
  memory.on('promoted', () => {
    personaMoved();
    stir();
    refreshSoon();
  });
  memory.on('embedder', (event) => {
    embedderStatus.value = event.status;
    refreshSoon();
  });
  memory.on('job-failed', (event) => {
    // What will be tried again by itself is shown under Work, not over the page.
    if (!event.willRetry) workTrouble.value = troubleOf(event);
    refreshSoon();
  });
  memory.on('forgotten', (event) => {
    markForgotten(event.pages);
    const left = new Map(pages.value);
    for (const id of event.pages) left.delete(id);
    pages.value = left;
    personaMoved();
    refreshSoon();
  });
  memory.on('cleared', () => {
    markForgotten(pages.value.keys());
    markForgotten(facts.value.map((fact) => fact.id));
    pages.value = new Map();
    personaMoved();
    refreshSoon();
  });
}

export function forgetPicture(): void {
  current = null;
  batch(() => {
    tiers.value = null;
    stats.value = null;
    jobs.value = [];
    ledger.value = null;
    pages.value = new Map();
    forgetPersona();
  });
}

export function refreshSoon(): void {
  timer ??= setTimeout(() => {
    timer = null;
    void refresh();
  }, Math.max(REFRESH_MS, lastRefreshMs * REST_FACTOR));
}

async function refresh(): Promise<void> {
  // Never two at once: an older answer must not overwrite a newer one.
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  const begun = performance.now();
  const memory = current;
  try {
    if (!memory) return;
    const [newTiers, newStats, newJobs, newLedger, showPersona] = await Promise.all([memory.tiers(), memory.stats(), memory.jobs(), memory.ledger(), readPersona(memory)]);
    await loadPages(memory, newStats.pages);
    if (memory !== current) return;
    batch(() => {
      tiers.value = newTiers;
      stats.value = newStats;
      jobs.value = newJobs;
      ledger.value = newLedger;
      showPersona();
    });
  } catch (error) {
    const trouble = troubleOf(error);
    // Closed meanwhile, to be opened with other models.
    if (memory === current && trouble.code !== 'CLOSED') workTrouble.value = trouble;
  } finally {
    refreshing = false;
    lastRefreshMs = performance.now() - begun;
    if (again) {
      again = false;
      refreshSoon();
    }
  }
}

/** Pages come newest first; a page once loaded changes its tier and its answer, never its words otherwise. */
async function loadPages(memory: MemoryOS, total: number): Promise<void> {
  const loaded = new Map<string, PageView>();
  for (let offset = 0; offset < total; offset += PAGES_A_CALL) {
    const part = await memory.pages({ offset, limit: PAGES_A_CALL });
    for (const page of part) loaded.set(page.id, page);
    if (part.length < PAGES_A_CALL) break;
  }
  if (memory === current) pages.value = loaded;
}
