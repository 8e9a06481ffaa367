import { computed, signal } from '@preact/signals';

export const sidePlaces = ['inspector', 'memory', 'persona', 'data', 'models', 'work'] as const;
export const allPlaces = ['chat', 'strata', ...sidePlaces] as const;
export type Place = (typeof allPlaces)[number];

/** Below this width one place is shown at a time; chat and strata become tabs too. */
const narrowQuery = matchMedia('(max-width: 899.98px)');
export const narrow = signal(narrowQuery.matches);
narrowQuery.addEventListener('change', (event) => {
  narrow.value = event.matches;
});

export const place = signal<Place>('chat');
const lastSide = signal<Place>('inspector');

/** The tabs there are now, and the one of them that is chosen. */
export const tabs = computed<readonly Place[]>(() => (narrow.value ? allPlaces : sidePlaces));
export const chosen = computed<Place>(() => (tabs.value.includes(place.value) ? place.value : lastSide.value));

export function go(to: Place): void {
  place.value = to;
  if (to !== 'chat' && to !== 'strata') lastSide.value = to;
}

export function shown(which: Place): boolean {
  return !tabs.value.includes(which) || chosen.value === which;
}
