/** What is read from a memory and read again when something has happened in it; shared by all components that look. */
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { MemoryOSError } from '../../errors.js';
import { toMemoryOSError } from '../../errors.js';
import type { MemoryOS } from '../../memory-os.js';
import type { FactsOptions, FactView, Stats, TiersView } from '../../types.js';
import { useMemory } from './provider.js';

/** A value that follows the memory: `undefined` until it was first read, and the error of the last reading. */
export interface Live<T> {
  /** `undefined` until it has come. */
  data: T | undefined;
  /** Why the last reading failed; `data` is then the one before. */
  error: MemoryOSError | undefined;
}

const NOTHING: Live<never> = { data: undefined, error: undefined };
const none = (): Live<never> => NOTHING;
const noSubscription = (): (() => void) => () => undefined;

class Reading<T> {
  snapshot: Live<T> = NOTHING;
  readonly #memory: MemoryOS;
  readonly #read: (memory: MemoryOS) => Promise<T>;
  readonly #listeners = new Set<() => void>();
  #off: (() => void) | undefined;
  #running = false;
  #stale = false;

  constructor(memory: MemoryOS, read: (memory: MemoryOS) => Promise<T>) {
    this.#memory = memory;
    this.#read = read;
  }

  subscribe = (listener: () => void): (() => void) => {
    // Wrapped, so that the same function may subscribe twice.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    this.#off ??= this.#memory.on('*', ({ type }) => {
      if (type !== 'closed') void this.#refresh();
    });
    if (this.#listeners.size === 1) void this.#refresh();
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size > 0) return;
      this.#off?.();
      this.#off = undefined;
    };
  };

  /** However many events come while a reading is under way, one more follows it. */
  async #refresh(): Promise<void> {
    this.#stale = true;
    if (this.#running) return;
    this.#running = true;
    while (this.#stale && this.#listeners.size > 0) {
      this.#stale = false;
      try {
        this.snapshot = { data: await this.#read(this.#memory), error: undefined };
      } catch (error) {
        this.snapshot = { ...this.snapshot, error: toMemoryOSError(error, 'INTERNAL') };
      }
      for (const listener of [...this.#listeners]) listener();
    }
    this.#running = false;
  }
}

const readings = new WeakMap<MemoryOS, Map<string, Reading<unknown>>>();

function useLive<T>(name: string, read: (memory: MemoryOS) => Promise<T>): Live<T> {
  const { memory } = useMemory();
  // `name` says all that `read` depends on.
  const reading = useMemo(() => {
    if (!memory) return undefined;
    const known = readings.get(memory) ?? new Map<string, Reading<unknown>>();
    readings.set(memory, known);
    const found = known.get(name) ?? new Reading<unknown>(memory, read);
    known.set(name, found);
    return found as Reading<T>;
  }, [memory, name]);
  const snapshot = useCallback(() => reading?.snapshot ?? NOTHING, [reading]);
  return useSyncExternalStore(reading?.subscribe ?? noSubscription, snapshot, none);
}

/** Counts of everything, as they change. */
export function useMemoryStats(): Live<Stats> {
  return useLive('stats', (memory) => memory.stats());
}

/** The tiers, as they change; heat is as it was at the last change. */
export function useTiers(): Live<TiersView> {
  return useLive('tiers', (memory) => memory.tiers());
}

/** Facts of long-term memory, as they change. */
export function useFacts(options: FactsOptions = {}): Live<FactView[]> {
  return useLive(`facts ${JSON.stringify(options)}`, (memory) => memory.facts(options));
}
