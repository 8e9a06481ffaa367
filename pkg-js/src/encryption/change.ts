/** What one batch does to one space: computed beside it, and applied when the store has carried it out. */
import type { KeyRange, StoreName, WriteBatch } from '../storage/types.js';
import { xor } from './bytes.js';
import { all, keyPlace, only, statePlace } from './places.js';
import { newMark, sealRecord, sealState } from './space.js';
import type { Entry, Kept, Space, State } from './space.js';

export class Change {
  readonly space: Space;
  /** The wrapped key, for a space that is new with this batch. */
  readonly #wrapped: Uint8Array | undefined;
  readonly #deletes: KeyRange[] = [];
  readonly #puts: { store: StoreName; entry: Entry; kept: Kept }[] = [];
  /** What differs from the index: `undefined` for a key that is gone. */
  readonly #differs = { wal: new Map(), chunk: new Map(), manifest: new Map(), blob: new Map() } as Record<StoreName, Map<string, Kept | undefined>>;
  #count: number;
  #digest: Uint8Array;

  constructor(space: Space, wrapped?: Uint8Array) {
    this.space = space;
    this.#wrapped = wrapped;
    this.#count = space.state.count;
    this.#digest = space.state.digest;
  }

  /** Only before the puts. */
  delete({ store, from, to }: KeyRange): void {
    const { index, place } = this.space;
    const gone = [...index[store]].filter(([key]) => from <= key && key < to && this.#get(store, key));
    // What a memory deletes is one key, or all of a store: one range either way.
    if (gone.length > 1 && gone.length === index[store].size) this.#deletes.push(all(store, place));
    else this.#deletes.push(...gone.map(([, kept]) => only(store, kept.place)));
    for (const [key] of gone) this.#set(store, key, undefined);
  }

  put(store: StoreName, entry: Entry, place: string): void {
    const kept = { place, mark: newMark() };
    this.#set(store, entry.key, kept);
    this.#puts.push({ store, entry, kept });
  }

  /** Adds itself to the batch for the store below; the returned function makes it the space's. */
  async writeTo(batch: WriteBatch): Promise<() => void> {
    const { space } = this;
    // A key that the batch puts twice has its last value.
    const puts = this.#puts.filter(({ store, entry, kept }) => this.#get(store, entry.key) === kept);
    const state: State = { version: space.state.version + 1, count: this.#count, digest: this.#digest };
    const [sealedState, ...values] = await Promise.all([sealState(space, state), ...puts.map(({ store, entry, kept }) => sealRecord(space, store, kept, entry))]);
    batch.deletes.push(...this.#deletes);
    if (this.#wrapped) batch.puts.push({ store: 'manifest', key: keyPlace(space.place), value: this.#wrapped });
    batch.puts.push({ store: 'manifest', key: statePlace(space.place), value: sealedState });
    for (const [at, { store, kept }] of puts.entries()) batch.puts.push({ store, key: kept.place, value: values[at] as Uint8Array });
    return () => {
      for (const store of Object.keys(this.#differs) as StoreName[]) {
        for (const [key, kept] of this.#differs[store]) {
          if (kept) space.index[store].set(key, kept);
          else space.index[store].delete(key);
        }
      }
      Object.assign(space, { state, sealedState, warm: {} });
    };
  }

  #get(store: StoreName, key: string): Kept | undefined {
    return this.#differs[store].has(key) ? this.#differs[store].get(key) : this.space.index[store].get(key);
  }

  #set(store: StoreName, key: string, kept: Kept | undefined): void {
    const before = this.#get(store, key);
    if (before) this.#digest = xor(this.#digest, before.mark);
    if (kept) this.#digest = xor(this.#digest, kept.mark);
    this.#count += (kept ? 1 : 0) - (before ? 1 : 0);
    this.#differs[store].set(key, kept);
  }
}
