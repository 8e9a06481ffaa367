import { computed } from '@preact/signals';
import { t } from '../i18n/language';
import { facts, profile, traits } from '../memory/persona';
import { isOpen } from '../persona/record';
import { showRecord } from '../persona/section';
import { traitName } from '../persona/trait-name';
import { recordsOf } from './bedrock';

/** The lines of the bedrock, in the reader's language. */
export const beds = computed(() => recordsOf(profile.value, traits.value, facts.value, t.value, traitName));

/** Leads from the picture to the place where a record can be corrected. */
export function openRecord(id: string): void {
  const fact = facts.value.find((each) => each.id === id);
  if (fact) showRecord('fact', id, isOpen(fact));
  else showRecord(id.startsWith('trait_') ? 'trait' : 'profile', id);
}
