/** Entry of the dedicated worker. */
import type { Port } from './peer.js';
import { reportCrashes, serve } from './serve.js';

// Only in a worker: a bundler's dry run or a server-side render may load this file too.
const scope = globalThis as unknown as Port & EventTarget & { document?: unknown; WorkerGlobalScope?: unknown };
if (scope.WorkerGlobalScope !== undefined && scope.document === undefined) reportCrashes(scope, serve(scope));
