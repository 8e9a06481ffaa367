/** What the tests in a browser need and Rust cannot say shortly: hosts, and databases that misbehave. */

/** Databases of host engines by name: they outlive the engine, as those of a real one would. */
const databases = new Map();

/** A host with an engine of its own over `database`. */
export function hostWithStore(database) {
  const stores = databases.get(database) ?? { wal: new Map(), chunk: new Map(), manifest: new Map(), blob: new Map() };
  databases.set(database, stores);
  const host = {
    now: () => Date.now(),
    events: [],
    emit: (event) => host.events.push(event),
    closed: false,
    batches: [],
    async read({ store, from, to }) {
      if (host.closed) throw Object.assign(new Error('the store is not open'), { code: 'CLOSED' });
      const entries = [...stores[store]].filter(([key]) => from <= key && key < to).sort(([a], [b]) => (a < b ? -1 : 1));
      // A view into more than itself, which a reader must not take for the value.
      return entries.map(([key, value]) => ({ key, value: Uint8Array.from([9, ...value, 9]).subarray(1, 1 + value.length) }));
    },
    async commit(batch) {
      if (host.closed) throw Object.assign(new Error('the store is not open'), { code: 'CLOSED' });
      host.batches.push(batch);
      await undefined;
      if (batch.puts.some(({ key }) => key === 'throws' || key === 'aborts')) {
        throw Object.assign(new Error('this key is refused'), { code: 'STORAGE_UNAVAILABLE' });
      }
      for (const { store, from, to } of batch.deletes) {
        for (const key of [...stores[store].keys()]) if (from <= key && key < to) stores[store].delete(key);
      }
      for (const { store, key, value } of batch.puts) stores[store].set(key, value);
    },
  };
  return host;
}

/** A host whose retrievers answer what stands in `ranked`. */
export function hostThatRanks() {
  const host = {
    now: () => 1_717_243_200_000,
    emit() {},
    asked: [],
    ranked: [],
    async rank(request) {
      host.asked.push(request);
      if (host.ranked instanceof Error) throw host.ranked;
      return host.ranked;
    },
  };
  return host;
}

/** A host that writes down what it hears of panics. */
export function hostThatListens() {
  const host = { now: () => Date.now(), emit() {}, heard: [], panicked: (message) => host.heard.push(message) };
  return host;
}

/** Bytes of the buffers behind the values of the batches that a host got. */
export function buffersOf(host) {
  return host.batches.flatMap(({ puts }) => puts.map(({ value }) => value.buffer.byteLength));
}

/** A host whose `read` and `commit` do what the source says. */
export function hostThat(source) {
  const act = new Function(source);
  return { now: () => Date.now(), emit() {}, read: async () => act(), commit: async () => act() };
}

const settled = (request, give = () => undefined) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(give());
    request.onerror = () => reject(request.error);
    // A connection that was closed may still be ending its transactions; one that is held open stays.
    request.onblocked = () => setTimeout(() => reject(new Error('a connection is held open')), 5_000);
  });

export function deleteDatabase(name) {
  return settled(indexedDB.deleteDatabase(name));
}

export async function databaseExists(name) {
  return (await indexedDB.databases()).some((database) => database.name === name);
}

/** Makes every other connection let go, and leaves the database as it was. */
export async function interrupt(name) {
  const request = indexedDB.open(name, 1_000);
  request.onupgradeneeded = () => request.transaction.abort();
  await settled(request).catch((error) => {
    if (error?.name !== 'AbortError') throw error;
  });
}

/** What a later version of the package may do. */
export function upgrade(name, version) {
  const request = indexedDB.open(name, version);
  return settled(request, () => request.result.close());
}

const put = IDBObjectStore.prototype.put;
let fault;

const FAULTS = {
  throws() {
    throw new DOMException('made to fail', 'DataCloneError');
  },
  full() {
    throw new DOMException('made to be full', 'QuotaExceededError');
  },
  aborts(store) {
    // After the request is under way.
    queueMicrotask(() => store.transaction.abort());
  },
};

IDBObjectStore.prototype.put = function (value, key) {
  const now = fault ?? (Object.hasOwn(FAULTS, key) ? key : undefined);
  fault = undefined;
  if (now) FAULTS[now](this);
  return put.call(this, value, key);
};

/** The next put ends in this fault. */
export function failNextPut(kind) {
  if (!Object.hasOwn(FAULTS, kind)) throw new Error(`no fault ${kind}`);
  fault = kind;
}

const open = IDBFactory.prototype.open;

/** From now on no database opens. */
export function refuseToOpen() {
  const count = { attempts: 0 };
  IDBFactory.prototype.open = () => {
    count.attempts += 1;
    throw new DOMException('made to fail', 'InvalidStateError');
  };
  return count;
}

export function openAgain() {
  IDBFactory.prototype.open = open;
}
