/** Which calls of an engine look, and which may change something. Every call is in one of the two. */
import type { EngineCalls } from './protocol.js';

/** Calls after which no job can be due that was not due before. */
export const READS = ['candidates', 'stats', 'tiers', 'jobs', 'page', 'pages', 'facts', 'profile', 'traits', 'history', 'ledger', 'exportAll', 'pause'] as const satisfies readonly (keyof EngineCalls)[];

/** Calls that write, count visits or lift a limit: they wake the background work. */
export const WRITES = [
  'add', 'addMany', 'complete', 'retrieve', 'respond', 'merge', 'forget', 'analyse', 'resume', 'configure', 'undo', 'addFact', 'editFact', 'retractFact', 'pinFact',
  'setNeverRecall', 'setProfile', 'flush', 'retryJob', 'importAll', 'clear',
] as const satisfies readonly (keyof EngineCalls)[];

/** A call that is in neither list would be missing among the handlers of whoever serves an engine. */
export type Served = (typeof READS)[number] | (typeof WRITES)[number];
