import { signal } from '@preact/signals';
import type { FactView, MemoryOS } from 'memstrata';
import type { Dictionary } from '../i18n/en';
import { memory } from '../memory/open';
import { personaMoved } from '../memory/persona';
import { troubleOf, type Trouble } from '../memory/trouble';
import { refreshSoon } from '../memory/view';

export type Deed = keyof Dictionary['deeds'];

/** What was done last, until it is dismissed or something else is done; `undo` is the change that takes it back. */
export const lastDeed = signal<{ deed: Deed; what: string; undo: string | null } | null>(null);
export const deedTrouble = signal<Trouble | null>(null);
/** One thing at a time: what is offered then is what was done. */
export const doing = signal(false);

/**
 * Does something to long-term memory and offers to take it back. `record` is what history knows the record by, where there
 * is something to take back; a fact that comes back from the work is its own record.
 */
export async function act(deed: Deed, what: string, work: (engine: MemoryOS) => Promise<FactView | void>, record?: string): Promise<boolean> {
  if (doing.value) return false;
  doing.value = true;
  deedTrouble.value = null;
  lastDeed.value = null;
  try {
    const engine = await memory();
    const begun = Date.now();
    const result = await work(engine);
    const id = result ? result.id : record;
    lastDeed.value = { deed, what, undo: id === undefined ? null : await ownChange(engine, id, begun) };
    return true;
  } catch (error) {
    deedTrouble.value = troubleOf(error);
    return false;
  } finally {
    doing.value = false;
    personaMoved();
    refreshSoon();
  }
}

export async function undo(changeId: string, what: string): Promise<boolean> {
  return act('undone', what, async (engine) => void (await engine.undo(changeId)));
}

export function dismissDeed(): void {
  lastDeed.value = null;
  deedTrouble.value = null;
}

/** The newest change of a record, if it was made just now by the user and nothing rests on it. History that cannot be read offers nothing. */
async function ownChange(engine: MemoryOS, id: string, since: number): Promise<string | null> {
  try {
    const [change] = await engine.history({ id, limit: 1 });
    return change && change.undoable && change.cause.by === 'user' && change.at >= since ? change.id : null;
  } catch {
    return null;
  }
}
