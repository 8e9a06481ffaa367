import { signal, type Signal } from '@preact/signals';

/** A choice kept on this device. Storage may be forbidden or hold something else: then the default stands. */
export function preference<T extends string>(name: string, fallback: T, allowed?: readonly T[]): Signal<T> {
  const key = `memstrata.playground.${name}`;
  let start = fallback;
  try {
    const kept = localStorage.getItem(key);
    if (kept !== null && (!allowed || allowed.includes(kept as T))) start = kept as T;
  } catch {
    // Storage is forbidden: the choice lasts as long as the page.
  }
  const chosen = signal(start);
  let first = true;
  chosen.subscribe((value) => {
    // A default never written stays open to change in a later version.
    if (first) {
      first = false;
      return;
    }
    try {
      localStorage.setItem(key, value);
    } catch {
      // As above.
    }
  });
  return chosen;
}
