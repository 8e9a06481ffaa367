/** The part of the tests of encryption that runs in the browser. */
import { MemoryOS } from 'memstrata';
import { deviceKey, encrypted, exportEncrypted, fromPassphrase, fromRecoveryCode, importEncrypted, indexedDBStorage, migrate } from 'memstrata/encryption';
import { pageOf } from '../bench/grammar.mjs';

const KEYS = { passphrase: fromPassphrase, device: deviceKey, recovery: fromRecoveryCode };
const OPTIONS = { userId: 'ines.moreau', embedder: 'none' };
let memory;
let storage;

const coded = (error) => ({ error: { code: error.code, reason: error.data?.reason, message: error.message } });

export async function open(name, kind, secret) {
  storage = encrypted(indexedDBStorage(), KEYS[kind](secret));
  try {
    memory = await MemoryOS.open({ name, storage, ...OPTIONS });
    return { role: (await memory.stats()).role };
  } catch (error) {
    return coded(error);
  }
}

export async function openPlain(name) {
  memory = await MemoryOS.open({ name, ...OPTIONS });
}

export const close = () => memory.close();
export const add = (input) => memory.addMemory(input);
export const count = async () => (await memory.stats()).pages;
export const found = async (query) => (await memory.retrieve(query)).hits.map(({ text }) => text);
export const addRecoveryCode = () => storage.addRecoveryCode();
export const addDeviceKey = (name) => storage.addKey(deviceKey(name));
export const changePassphrase = (next) => storage.changePassphrase(fromPassphrase(next));

/** The plain memory of a name into an encrypted one, and an encrypted file of that into a third. */
export async function moveAndExport(name, passphrase) {
  const plain = await MemoryOS.open({ name, ...OPTIONS });
  const sealed = await MemoryOS.open({ name, storage: encrypted(indexedDBStorage(), fromPassphrase(passphrase)), ...OPTIONS });
  const third = await MemoryOS.open({ name: `${name}-third`, ...OPTIONS });
  try {
    const moved = await migrate(plain, sealed, { clearSource: true });
    const imported = await importEncrypted(third, await exportEncrypted(sealed, passphrase), passphrase);
    return { moved, imported, left: (await plain.stats()).pages };
  } finally {
    await Promise.all([plain, sealed, third].map((one) => one.close()));
  }
}

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

/** What encryption costs: milliseconds of a commit (one turn added), of opening 1,000 turns, and of unlocking with the longest time between two frames in it. */
export async function measure(engine) {
  const name = `measure-${engine}`;
  const key = fromPassphrase('p');
  const store = () => (engine === 'core' ? 'indexeddb' : engine === 'plain' ? indexedDBStorage() : encrypted(indexedDBStorage(), key));
  // Frames, not timers: what a person sees. Timers wait behind the slices of Argon2id, frames and input do not.
  let longest = 0;
  let watching = true;
  const watch = (last) => watching && requestAnimationFrame((now) => {
    longest = Math.max(longest, now - last);
    watch(now);
  });
  watch(performance.now());
  let start = performance.now();
  let own = await MemoryOS.open({ name, storage: store(), paused: true, ...OPTIONS });
  const first = performance.now() - start;
  watching = false;
  const adds = [];
  for (let n = 0; n < 1_000; n++) {
    start = performance.now();
    await own.addMemory(pageOf(n));
    adds.push(performance.now() - start);
  }
  await own.close();
  const opens = [];
  for (let n = 0; n < 5; n++) {
    start = performance.now();
    own = await MemoryOS.open({ name, storage: store(), paused: true, ...OPTIONS });
    opens.push(performance.now() - start);
    await own.close();
  }
  return { engine, add: median(adds), open: median(opens), first, longest };
}
