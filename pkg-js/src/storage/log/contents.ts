/** What a log amounts to: for each key where its value lies in the file. The values themselves stay there. */
import type { StoreName } from '../types.js';
import { STORES } from './frame.js';
import type { Operation } from './frame.js';

export interface Place {
  at: number;
  length: number;
  crc: number;
}

export class Contents {
  readonly #stores = new Map<StoreName, Map<string, Place>>(STORES.map((store) => [store, new Map()]));
  /** Bytes of keys and values that are alive. */
  liveBytes = 0;
  /** Values that the log still holds and no key leads to. */
  deadValues = 0;

  apply(operations: readonly Operation[], payloadAt: number): void {
    for (const operation of operations) {
      const entries = this.#of(operation.store);
      if (operation.kind === 'put') {
        const { key, at, length, crc } = operation;
        this.#remove(entries, key);
        entries.set(key, { at: payloadAt + at, length, crc });
        this.liveBytes += key.length + length;
      } else {
        for (const key of entries.keys()) if (operation.from <= key && key < operation.to) this.#remove(entries, key);
      }
    }
  }

  range(store: StoreName, from: string, to: string): [key: string, place: Place][] {
    const found = [...this.#of(store)].filter(([key]) => from <= key && key < to);
    return found.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  *all(): Generator<[store: StoreName, key: string, place: Place]> {
    for (const [store, entries] of this.#stores) for (const [key, place] of entries) yield [store, key, place];
  }

  #remove(entries: Map<string, Place>, key: string): void {
    const place = entries.get(key);
    if (!place) return;
    entries.delete(key);
    this.liveBytes -= key.length + place.length;
    this.deadValues++;
  }

  #of(store: StoreName): Map<string, Place> {
    return this.#stores.get(store) as Map<string, Place>;
  }
}
