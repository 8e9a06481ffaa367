import { signal } from '@preact/signals';
import type { MemoryEvent, MemoryOS } from 'memstrata';
import type { Dictionary } from '../i18n/en';

type Told = keyof Dictionary['happened'];

/** An event of background work, with when it came. */
export interface Happening {
  key: number;
  at: number;
  event: Extract<MemoryEvent, { type: Told }>;
}

/** Newest first. */
export const happenings = signal<Happening[]>([]);

const MOST_KEPT = 40;
const told: readonly Told[] = ['consolidated', 'filed-by-rules', 'enriched', 'promoted', 'persona-changed', 'reply-refused', 'job-failed', 'segment-archived'];
let last = 0;

export function watchHappened(memory: Pick<MemoryOS, 'on'>): void {
  for (const type of told) {
    memory.on(type, (event) => {
      last += 1;
      happenings.value = [{ key: last, at: Date.now(), event }, ...happenings.value].slice(0, MOST_KEPT);
    });
  }
  memory.on('cleared', () => {
    happenings.value = [];
  });
}
