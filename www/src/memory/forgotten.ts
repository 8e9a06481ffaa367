import { signal } from '@preact/signals';

/** Ids that were deleted while this page was open. Changed in place: an import of ten thousand pages says ten thousand times that one is back. */
const gone = new Set<string>();
const changes = signal(0);

/** True while a page or a fact is deleted. Read in a component or a computed value, it redraws when that changes. */
export function isForgotten(id: string): boolean {
  void changes.value;
  return gone.has(id);
}

export function markForgotten(ids: Iterable<string>): void {
  for (const id of ids) gone.add(id);
  changes.value += 1;
}

/** A page keeps its id through export and import, so one that was deleted may come back. */
export function markReturned(pageId: string): void {
  if (gone.delete(pageId)) changes.value += 1;
}
