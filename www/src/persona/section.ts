import { signal } from '@preact/signals';
import { go } from '../shell/places';

export const sections = ['facts', 'profile', 'traits', 'changes'] as const;
export type Section = (typeof sections)[number];

export const section = signal<Section>('facts');
/** The record whose changes are shown, as `history` names it, with the words for it; `null` shows all. */
export const historyOf = signal<{ id: string; words: string } | null>(null);
export const factSearch = signal('');
export const showClosed = signal(false);
/** A day, as a date field has it: facts are shown as they were believed then. Empty for now. */
export const asOf = signal('');
/** A fact that is to come into view. */
export const soughtFact = signal<string | null>(null);

/** Leads to a record of long-term memory, wherever one stands. */
export function showRecord(kind: 'fact' | 'trait' | 'profile', id: string, open = true): void {
  section.value = kind === 'fact' ? 'facts' : kind === 'trait' ? 'traits' : 'profile';
  if (kind === 'fact') {
    factSearch.value = '';
    asOf.value = '';
    if (!open) showClosed.value = true;
    soughtFact.value = id;
  }
  go('persona');
}

export function showHistory(id: string, words: string): void {
  historyOf.value = { id, words };
  section.value = 'changes';
}
