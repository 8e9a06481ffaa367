import { computed } from '@preact/signals';
import { preference } from '../shell/preference';

/** How the assistant should write, and what it is to its user; kept on this device. */
export const style = preference<string>('style', '');
export const relationship = preference<string>('relationship', '');

/** As an answer is asked for: what is empty is left out. */
export const manner = computed<{ style?: string; relationship?: string }>(() => ({
  ...(style.value.trim() === '' ? {} : { style: style.value.trim() }),
  ...(relationship.value.trim() === '' ? {} : { relationship: relationship.value.trim() }),
}));
