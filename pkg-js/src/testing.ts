/** For tests of code that uses memstrata, and of engines and providers written for it. */
export { MemoryStorage } from './storage/memory.js';
export type { MemoryStorageOptions } from './storage/memory.js';
export { storageConformance } from './storage/conformance.js';
export type { ConformanceTest } from './storage/conformance.js';
export { providerConformance } from './providers/conformance.js';
export type { ModelScript, ProviderSubject } from './providers/conformance.js';
export { scriptedChat, scriptedEmbedder } from './providers/scripted.js';
export type { ScriptedChat, ScriptedEmbedder, ScriptedReply } from './providers/scripted.js';
