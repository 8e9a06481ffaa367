/**
 * What becomes of a call whose engine is lost before it answers. What only looks, or what the core recognises when it comes
 * again, is asked of the next one. Of anything else nobody can know whether it was carried out, and the caller is told so.
 */
import type { WasmAddInput } from '../engine/contract.js';
import type { Args, EngineCalls } from '../engine/protocol.js';
import { isMemoryOSError, MemoryOSError } from '../errors.js';
import { randomName } from './room.js';

type Method = keyof EngineCalls;

/** Doing these twice is the same as doing them once. */
const HARMLESS: readonly Method[] = [
  'candidates', 'stats', 'tiers', 'jobs', 'page', 'pages', 'facts', 'profile', 'traits', 'history', 'ledger', 'exportAll', 'retrieve', 'merge',
  'pause', 'resume', 'configure', 'flush', 'analyse', 'setNeverRecall', 'complete',
];

/** Harmless too, but the second answer is another than the first: the caller decides. */
const CALLERS_CHOICE: readonly Method[] = ['forget', 'importAll', 'retryJob'];

/** Begins the ids that stand in for those the caller did not give. */
const ID_PREFIX = 'call:';

/** Arguments of a call whose name is known by now. */
export function argsOf<M extends Method>(_method: M, args: unknown): Args<EngineCalls, M> {
  return args as Args<EngineCalls, M>;
}

/** Turns without an id get one, by which the core knows them again. */
export function identified<M extends Method>(method: M, args: Args<EngineCalls, M>): Args<EngineCalls, M> {
  const named = <T extends Pick<WasmAddInput, 'clientId'>>(turn: T): T => (turn.clientId === undefined ? { ...turn, clientId: `${ID_PREFIX}${randomName()}` } : turn);
  switch (method) {
    case 'add': return [named(argsOf('add', args)[0])] as unknown as Args<EngineCalls, M>;
    case 'addMany': return [argsOf('addMany', args)[0].map(named)] as unknown as Args<EngineCalls, M>;
    case 'respond': {
      const [query, input] = argsOf('respond', args);
      return [query, named(input)] as unknown as Args<EngineCalls, M>;
    }
    default: return args;
  }
}

function turnsOf<M extends Method>(method: M, args: Args<EngineCalls, M>): Pick<WasmAddInput, 'clientId'>[] | undefined {
  if (method === 'add') return [argsOf('add', args)[0]];
  if (method === 'addMany') return argsOf('addMany', args)[0];
  return method === 'respond' ? [argsOf('respond', args)[1]] : undefined;
}

/** Whether the call may be made again without anybody being asked. */
export function repeats<M extends Method>(method: M, args: Args<EngineCalls, M>): boolean {
  return HARMLESS.includes(method) || (turnsOf(method, args)?.every(({ clientId }) => clientId !== undefined) ?? false);
}

/** The answer of a repeated call as that of the first: a turn that we named ourselves is a duplicate of nobody else's. */
export function asFirst<M extends Method, R>(method: M, args: Args<EngineCalls, M>, result: R): R {
  if (method !== 'add' && method !== 'addMany') return result;
  const turns = turnsOf(method, args) ?? [];
  const own = <T extends { status: string }>(added: T, at: number): T => (turns[at]?.clientId?.startsWith(ID_PREFIX) ? { ...added, status: 'stored' } : added);
  return (Array.isArray(result) ? result.map(own) : own(result as R & { status: string }, 0)) as R;
}

const LOST = 'owner-lost';

/** The owner is gone, or its engine is. `sent`: it may have carried the call out. */
export function ownerLost(sent: boolean): MemoryOSError {
  return new MemoryOSError('CLOSED', 'the engine that was asked is gone', { data: { reason: LOST, sent } });
}

/** Whether this is no answer, but the end of the one that should have answered. */
export function lostCall(error: unknown): { sent: boolean } | undefined {
  if (!isMemoryOSError(error) || error.code !== 'CLOSED') return undefined;
  const { reason, sent } = (error.data ?? {}) as { reason?: unknown; sent?: unknown };
  return reason === LOST ? { sent: sent !== false } : undefined;
}

/**
 * What the caller is told. `data.repeatable` says whether the same call may be made again: one that nobody has begun may, and one
 * that does no harm; of unknown outcome is a write that the core would not recognise.
 */
export function undone<M extends Method>(method: M, args: Args<EngineCalls, M>, sent: boolean): MemoryOSError {
  if (!sent || HARMLESS.includes(method)) {
    return new MemoryOSError('NOT_OPEN', `the memory is changing hands between tabs or being opened anew, and ${method} ${sent ? 'was not answered' : 'was not begun'}: call it again`, { data: { reason: 'hand-over', method, repeatable: true } });
  }
  // An id that the caller did not give would be another one the next time.
  const turns = turnsOf(method, args);
  const repeatable = CALLERS_CHOICE.includes(method) || (turns?.every(({ clientId }) => clientId !== undefined && !clientId.startsWith(ID_PREFIX)) ?? false);
  return new MemoryOSError(
    'STORAGE_UNAVAILABLE',
    `the engine of the memory ended before it answered ${method} (its tab is gone, or it was opened anew), so its outcome is unknown: ${repeatable ? 'call it again' : 'look whether it was carried out before you call it again'}`,
    { data: { reason: LOST, method, repeatable } },
  );
}
