import { signal } from '@preact/signals';

/** What the picture's card tells about: under the pointer or the focus, or held by a tap or Enter. */
export type Selected = { kind: 'page'; id: string } | { kind: 'segment'; id: string } | { kind: 'record'; id: string };

export const selected = signal<Selected | null>(null);
export const held = signal(false);

/** The list instead of the picture. */
export const asList = signal(false);

export function same(a: Selected | null, b: Selected | null): boolean {
  return a?.kind === b?.kind && a?.id === b?.id;
}
