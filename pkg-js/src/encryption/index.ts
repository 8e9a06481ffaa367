/** Encryption at rest: `memstrata/encryption`. */
export { encrypted } from './encrypted.js';
export type { EncryptedStorage } from './encrypted.js';
export { fromPassphrase } from './passphrase.js';
export type { PassphraseOptions } from './passphrase.js';
export { deviceKey } from './device-key.js';
export { fromRecoveryCode } from './unlock-key.js';
export type { KeyKind, UnlockKey } from './unlock-key.js';
export { migrate } from './migrate.js';
export type { MigrateOptions, Migration, MigrationProgress } from './migrate.js';
export { exportEncrypted, importEncrypted } from './file.js';
export { indexedDBStorage } from '../storage/indexeddb.js';
export type { IndexedDBStorageOptions } from '../storage/indexeddb.js';
