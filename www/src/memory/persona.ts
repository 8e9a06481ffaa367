import { batch, signal } from '@preact/signals';
import type { ChangeView, FactView, MemoryOS, ProfileView, TraitView } from 'memstrata';
import { markReturned } from './forgotten';
import { recordKey } from '../persona/record';

/** Long-term memory as the engine holds it: facts open and closed. */
export const facts = signal<FactView[]>([]);
export const profile = signal<ProfileView | null>(null);
export const traits = signal<TraitView[]>([]);
/** Grows when long-term memory was read anew; what shows its history reads that again. */
export const personaReadings = signal(0);
/** Keys of the records that changed last, while their stratum is lit. */
export const moved = signal<ReadonlySet<string>>(new Set());
/** The stratum is lit: something settled in it. */
export const stirred = signal(false);

/** As long as an eye needs to find what changed. */
const LIT_MS = 8_000;
/** An event that is older than so many changes lights its stratum only. */
const CHANGES_LOOKED_AT = 20;

let stale = true;
let pending: string[] = [];
let lit: ReturnType<typeof setTimeout> | null = null;

/** Something in long-term memory changed: it is read with the next picture. */
export function personaMoved(changeId?: string): void {
  stale = true;
  if (changeId !== undefined) pending.push(changeId);
}

export function stir(): void {
  stirred.value = true;
  if (lit) clearTimeout(lit);
  lit = setTimeout(() => {
    batch(() => {
      stirred.value = false;
      moved.value = new Set();
    });
  }, LIT_MS);
}

export function forgetPersona(): void {
  stale = true;
  pending = [];
  batch(() => {
    facts.value = [];
    profile.value = null;
    traits.value = [];
    moved.value = new Set();
    stirred.value = false;
  });
}

/** Reads long-term memory if it changed since; gives what puts it on show, so that all of a picture changes at once. */
export async function readPersona(memory: MemoryOS): Promise<() => void> {
  if (!stale) return () => undefined;
  stale = false;
  const changeIds = pending;
  pending = [];
  try {
    const [newFacts, newProfile, newTraits, changes] = await Promise.all([
      memory.facts({ closed: true }),
      memory.profile(),
      memory.traits(),
      changeIds.length > 0 ? memory.history({ limit: CHANGES_LOOKED_AT }) : Promise.resolve<ChangeView[]>([]),
    ]);
    const keys = changes.filter((change) => changeIds.includes(change.id)).flatMap((change) => change.steps.map(recordKey));
    return () => {
      // A fact keeps its id through export and import, as a page does.
      for (const fact of newFacts) markReturned(fact.id);
      facts.value = newFacts;
      profile.value = newProfile;
      traits.value = newTraits;
      personaReadings.value += 1;
      if (keys.length > 0) moved.value = new Set([...moved.value, ...keys]);
    };
  } catch (error) {
    stale = true;
    pending = [...changeIds, ...pending];
    throw error;
  }
}
