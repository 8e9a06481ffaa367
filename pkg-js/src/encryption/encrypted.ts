/** A storage engine over another one, which sees opaque keys and sealed values only. */
import { acquire, hold, platformLocks, processLocks } from '../engine/lock.js';
import { invalid, MemoryOSError } from '../errors.js';
import { requireStorage, storeIdentity } from '../storage/attach.js';
import type { KeyRange, StorageEngine, StoreName, WriteBatch } from '../storage/types.js';
import { show } from '../text.js';
import { equal } from './bytes.js';
import { Change } from './change.js';
import { decodeHeader, encodeHeader, newRoot, unwrapRoot, withKey } from './header.js';
import type { Header } from './header.js';
import { all, HEADER, KEYS, keyPlace, only, spaceOf, spaceOfRange, statePlace, STORES, whole } from './places.js';
import { Queue } from './queue.js';
import { newRecoveryCode } from './recovery-code.js';
import { opaque, rootKeys } from './root.js';
import type { RootKeys } from './root.js';
import { damaged } from './seal.js';
import { loadSpace, newSpace, openRecord, opensSpace } from './space.js';
import type { Entry, Space } from './space.js';
import { fromRecoveryCode, requireKey } from './unlock-key.js';
import type { KeyKind, UnlockKey } from './unlock-key.js';
import { spaceName } from './user.js';

/** For an owner on its way out. */
const SHRED_WAIT_MS = 250;

/** `key` unlocks the store, or is the first key of a new one. */
export function encrypted(storage: StorageEngine, key: UnlockKey): EncryptedStorage {
  return new EncryptedStorage(requireStorage(storage), requireKey(key));
}

/** A storage engine that encrypts what another one stores, with the calls that change keys. Made by `encrypted`. */
export class EncryptedStorage implements StorageEngine {
  /** That of the store below, so that a memory in it has one owner whether it comes by here or not. */
  readonly kind: string;
  readonly #inner: StorageEngine;
  #key: UnlockKey;
  #open: { name: string; keys: RootKeys } | undefined;
  readonly #queue = new Queue();
  readonly #spaces = new Map<string, Space>();
  /** Latest versions that were seen, by the space's id: what is older later was rolled back. Longer than it is open. */
  readonly #versions = new Map<string, number>();

  /** @internal Use `encrypted`. */
  constructor(inner: StorageEngine, key: UnlockKey) {
    this.#inner = inner;
    this.#key = key;
    this.kind = inner.kind;
  }

  /**
   * Opens the store below and unlocks it; an empty one is made ready. A memory calls it, and so may you, to try a passphrase.
   * Rejects with FORBIDDEN (`data.reason`: `wrong-passphrase`, `wrong-recovery-code`, `wrong-device-key`, `no-such-key`), STORAGE_CORRUPT, VERSION_TOO_NEW.
   */
  open(name: string): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#open?.name === name) return;
      if (this.#open) throw new MemoryOSError('LOCKED', `this storage engine is open under the name ${show(this.#open.name)}: close it first`);
      await this.#inner.open(name);
      try {
        const keys = await this.#unlocked(name);
        await this.#checkHeader(keys);
        this.#open = { name, keys };
      } catch (error) {
        await this.#inner.close();
        throw error;
      }
    });
  }

  /** Another name of `open`. */
  unlock(name: string): Promise<void> {
    return this.open(name);
  }

  read(range: KeyRange): Promise<Entry[]> {
    return this.#queue.run(async () => {
      requireStore(range.store);
      const spaces = await this.#spacesOf(range);
      const entries = (await Promise.all(spaces.map((space) => this.#readSpace(space, range)))).flat();
      return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
    });
  }

  commit(batch: WriteBatch): Promise<void> {
    return this.#queue.run(async () => {
      for (const { store } of [...batch.deletes, ...batch.puts]) requireStore(store);
      const { keys } = this.#opened();
      const changes = new Map<string, Change>();
      for (const range of batch.deletes) {
        for (const space of await this.#spacesOf(range, true)) {
          const change = changes.get(space.place) ?? new Change(space);
          changes.set(space.place, change);
          change.delete(range);
        }
      }
      for (const { store, key, value } of batch.puts) {
        const place = await opaque(keys.naming, 'space', spaceOf(key));
        const change = changes.get(place) ?? (await this.#changeOf(place, spaceOf(key)));
        changes.set(place, change);
        const known = change.space.index[store].get(key)?.place;
        change.put(store, { key, value }, known ?? `${place}/${await opaque(keys.naming, 'key', store, key)}`);
      }
      await this.#carryOut([...changes.values()], batch.durability);
    });
  }

  close(): Promise<void> {
    return this.#queue.run(async () => {
      this.#open = undefined;
      this.#spaces.clear();
      await this.#inner.close();
    });
  }

  /** Which keys unlock it. The store must be open, for this and for what follows. */
  keys(): Promise<KeyKind[]> {
    return this.#queue.run(async () => (await this.#header()).slots.map(({ kind }) => kind));
  }

  /** Puts a passphrase in place of the ones that were; one small write, and nothing is encrypted anew. */
  async changePassphrase(next: UnlockKey): Promise<void> {
    if (requireKey(next).kind !== 'passphrase') throw invalid('changePassphrase takes a key of fromPassphrase');
    await this.#changeHeader((header, root) => withKey(header, root, next, true));
    if (this.#key.kind === 'passphrase') this.#key = next;
  }

  /** Lets another key unlock it too. */
  async addKey(key: UnlockKey): Promise<void> {
    if (requireKey(key).kind === 'recovery') throw invalid('a recovery code is made by addRecoveryCode');
    await this.#changeHeader((header, root) => withKey(header, root, key));
  }

  /** Makes a code that unlocks it too, to be written down: it is shown this once. `replace` makes the earlier codes void. */
  async addRecoveryCode({ replace = false }: { replace?: boolean } = {}): Promise<string> {
    const code = await newRecoveryCode();
    await this.#changeHeader((header, root) => withKey(header, root, fromRecoveryCode(code), replace));
    return code;
  }

  /** Takes all keys of a kind away; not the kind that this object has unlocked it with. */
  async removeKeys(kind: KeyKind): Promise<void> {
    if (kind === this.#key.kind) throw invalid(`this object has unlocked the store with a key of the kind ${show(kind)}: unlock it with another one first`);
    await this.#changeHeader(async ({ id, slots }) => ({ id, slots: slots.filter((slot) => slot.kind !== kind) }));
  }

  /**
   * Destroys the key of one user and assistant, and what it has sealed. What remains of the bytes elsewhere can then be read by
   * nobody, unless an old copy of the wrapped key remains too. False: there was nothing. The memory must be closed: else LOCKED.
   */
  async shred(userId: string, assistantId = 'default'): Promise<boolean> {
    const { name } = this.#opened();
    const user = await spaceName(userId, assistantId);
    const release = await acquire(storeIdentity(this), { name, userId, assistantId }, { locks: platformLocks(), waitMs: SHRED_WAIT_MS });
    try {
      return await this.#queue.run(async () => {
        const place = await opaque(this.#opened().keys.naming, 'space', user);
        const deletes = [only('manifest', keyPlace(place)), only('manifest', statePlace(place)), ...STORES.map((store) => all(store, place))];
        const found = await Promise.all(deletes.map((range) => this.#inner.read(range)));
        await this.#inner.commit({ puts: [], deletes, durability: 'strict' });
        const known = this.#spaces.get(place);
        // Nothing of it is taken for good again, should its bytes be put back while this object lives.
        if (known) this.#versions.set(known.id, Number.POSITIVE_INFINITY);
        this.#spaces.delete(place);
        return found.some(({ length }) => length > 0);
      });
    } finally {
      release();
    }
  }

  async #unlocked(name: string): Promise<RootKeys> {
    const [stored] = await this.#inner.read(only('manifest', HEADER));
    if (stored) return this.#rootKeys(await decodeHeader(stored.value));
    // Two tabs that make it at once would each wrap a root of their own.
    return this.#alone(name, async () => {
      const [made] = await this.#inner.read(only('manifest', HEADER));
      return this.#rootKeys(made ? await decodeHeader(made.value) : await this.#makeHeader());
    });
  }

  /** A header of another store that the same key unlocks would show an empty one here. */
  async #checkHeader({ wrapping }: RootKeys): Promise<void> {
    const users = await this.#inner.read(KEYS);
    for (const { key, value } of users) if (await opensSpace(wrapping, key.slice(KEYS.from.length), value)) return;
    if (users.length > 0) damaged('the header with the wrapped keys is that of another store', 'wrong-header');
  }

  async #makeHeader(): Promise<Header> {
    for (const store of STORES) {
      const [found] = await this.#inner.read(whole(store));
      if (found) damaged('the store holds records and no header: it holds a memory that is not encrypted (see migrate), or its header was removed', 'no-header');
    }
    if (this.#key.kind === 'recovery') throw new MemoryOSError('FORBIDDEN', 'a recovery code cannot be the first key of a store: begin it with a passphrase or a device key', { data: { reason: 'no-such-key', kinds: [] } });
    const { root, header } = newRoot();
    const first = await withKey(header, root, this.#key);
    root.fill(0);
    await this.#writeHeader(first);
    return first;
  }

  async #rootKeys(header: Header): Promise<RootKeys> {
    return rootKeys(await unwrapRoot(header, this.#key), header.id);
  }

  async #header(): Promise<Header> {
    this.#opened();
    const [stored] = await this.#inner.read(only('manifest', HEADER));
    return stored ? decodeHeader(stored.value) : damaged('the header with the wrapped keys is gone', 'no-header');
  }

  /** One put in one commit: a crash leaves the old header or the new one. */
  async #writeHeader(header: Header): Promise<void> {
    await this.#inner.commit({ puts: [{ store: 'manifest', key: HEADER, value: await encodeHeader(header) }], deletes: [], durability: 'strict' });
  }

  /** The root is unwrapped for the change and wiped after it: nothing else here can hand it out. */
  #changeHeader(change: (header: Header, root: Uint8Array) => Promise<Header>): Promise<void> {
    return this.#queue.run(() => this.#alone(this.#opened().name, async () => {
      const header = await this.#header();
      const root = await unwrapRoot(header, this.#key);
      try {
        await this.#writeHeader(await change(header, root));
      } finally {
        root.fill(0);
      }
    }));
  }

  async #alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    const release = await hold(platformLocks() ?? processLocks, `memstrata:header:${JSON.stringify([storeIdentity(this.#inner), name])}`);
    try {
      return await work();
    } finally {
      release();
    }
  }

  async #readSpace(space: Space, { store, from, to }: KeyRange): Promise<Entry[]> {
    const inside = ({ key }: Entry): boolean => from <= key && key < to;
    const warm = space.warm[store];
    if (warm) {
      const entries = warm.filter(inside);
      if (entries.length === warm.length) delete space.warm[store];
      else return entries.map(({ key, value }) => ({ key, value: value.slice() }));
      return entries;
    }
    const index = space.index[store];
    const expected = [...index].filter(([key]) => from <= key && key < to);
    const one = expected.length === 1 ? expected[0] : undefined;
    if (expected.length === 0) return [];
    const records = await this.#inner.read(one ? only(store, one[1].place) : all(store, space.place));
    const entries = await Promise.all(records.map((record) => openRecord(space, store, record)));
    const sound = entries.length === (one ? 1 : index.size) && entries.every(({ key, mark }) => equal(index.get(key)?.mark ?? new Uint8Array(0), mark));
    if (!sound) damaged('a record was replaced by an older one, removed or brought back since it was written', 'replayed');
    return entries.filter(inside).map(({ key, value }) => ({ key, value }));
  }

  /** The spaces that a range may touch. `trusted`: as this object knows them, for its memory is their one owner. */
  async #spacesOf(range: KeyRange, trusted = false): Promise<Space[]> {
    const { keys } = this.#opened();
    const name = spaceOfRange(range);
    const places = name === undefined
      ? (await this.#inner.read(KEYS)).map(({ key }) => key.slice(KEYS.from.length))
      : [await opaque(keys.naming, 'space', name)];
    const spaces: Space[] = [];
    for (const place of places) {
      const space = await this.#space(place, trusted);
      if (space) spaces.push(space);
    }
    return spaces;
  }

  /** A space as it is stored now. Another tab may have had it since this one read it last. */
  async #space(place: string, trusted = false): Promise<Space | undefined> {
    const { keys } = this.#opened();
    const known = this.#spaces.get(place);
    if (known && trusted) return known;
    const [state] = await this.#inner.read(only('manifest', statePlace(place)));
    if (known?.sealedState && state && equal(known.sealedState, state.value)) return known;
    this.#spaces.delete(place);
    const space = await loadSpace(this.#inner, place, keys.wrapping, (id) => this.#versions.get(id) ?? 0);
    if (space) this.#keep(space);
    return space;
  }

  #keep(space: Space): void {
    this.#spaces.set(space.place, space);
    this.#versions.set(space.id, space.state.version);
  }

  async #changeOf(place: string, name: string): Promise<Change> {
    const space = await this.#space(place, true);
    if (space) return new Change(space);
    const made = await newSpace(place, name, this.#opened().keys.wrapping);
    return new Change(made.space, made.wrapped);
  }

  async #carryOut(changes: Change[], durability: WriteBatch['durability']): Promise<void> {
    const batch: WriteBatch = { puts: [], deletes: [], durability };
    const applies = await Promise.all(changes.map((change) => change.writeTo(batch)));
    try {
      await this.#inner.commit(batch);
    } catch (error) {
      // Perhaps it was carried out and only the answer is lost: what is stored now is read anew.
      for (const { space } of changes) this.#spaces.delete(space.place);
      throw error;
    }
    for (const apply of applies) apply();
    for (const { space } of changes) this.#keep(space);
  }

  #opened(): { name: string; keys: RootKeys } {
    if (!this.#open) throw new MemoryOSError('CLOSED', 'the store is not open');
    return this.#open;
  }
}

function requireStore(store: StoreName): void {
  if (!STORES.includes(store)) throw invalid(`there is no store ${show(store)}`);
}
