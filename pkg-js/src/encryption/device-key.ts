/** A key of this browser profile: made here, kept in IndexedDB, and not extractable by script. */
import { invalid, MemoryOSError, toMemoryOSError } from '../errors.js';
import { subtle } from './seal.js';
import { NO_COST, UnlockKey } from './unlock-key.js';

const DATABASE = 'memstrata-device-keys';
const STORE = 'keys';

/** Made at its first use. It is lost when the site's data are deleted: add a passphrase or a recovery code beside it. */
export function deviceKey(name = 'default'): UnlockKey {
  if (typeof name !== 'string' || name === '') throw invalid('the name of a device key must be a string that is not empty');
  return new UnlockKey('device', NO_COST, () => keptKey(name));
}

async function keptKey(name: string): Promise<CryptoKey> {
  if (typeof indexedDB === 'undefined') {
    throw new MemoryOSError('STORAGE_UNAVAILABLE', 'a device key is kept in IndexedDB, which is missing here: use fromPassphrase');
  }
  // Before the transaction, which would end while a key is made.
  const fresh = await subtle().generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
  const database = await opened();
  try {
    return await new Promise<CryptoKey>((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' });
      const store = transaction.objectStore(STORE);
      let key = fresh;
      const request = store.get(name);
      request.onsuccess = () => {
        if (request.result === undefined) store.add(fresh, name);
        else key = request.result as CryptoKey;
      };
      transaction.oncomplete = () => resolve(key);
      transaction.onabort = () => reject(toMemoryOSError(transaction.error ?? 'the device key cannot be kept', 'STORAGE_UNAVAILABLE'));
    });
  } finally {
    database.close();
  }
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => void request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(toMemoryOSError(request.error, 'STORAGE_UNAVAILABLE'));
  });
}
