/**
 * The calls that may come from outside, each with what its arguments may be. This is the shape alone, for what comes over a
 * Port is anybody's; the values are checked by the memory itself, as those of every caller are.
 */
import { invalid } from '../errors.js';
import { show } from '../text.js';

const TURN = ['userInput', 'agentResponse', 'timestamp', 'metadata', 'id', 'session', 'userName', 'agentName'];
const FACT = ['subject', 'subjectName', 'attribute', 'value', 'kind', 'validFrom'];

interface Call {
  /** One reader an argument; what is absent is `undefined`. */
  args: ((value: unknown, name: string) => unknown)[];
  /** Whether it may be made again of another host, which does not know whether the first carried it out. */
  repeats: boolean;
}

export const CALLS = {
  addMemory: { args: [fields(TURN)], repeats: true },
  retrieve: { args: [asIs, fields(['topK', 'budgetTokens', 'strategy', 'profile', 'filter', 'now', 'asOf'])], repeats: true },
  getResponse: { args: [asIs, fields(['style', 'relationship', 'budgetTokens', 'metadata', 'timestamp', 'id', 'userName', 'agentName', 'session'])], repeats: false },
  facts: { args: [fields(['subject', 'closed', 'asOf'])], repeats: true },
  addFact: { args: [fields(FACT)], repeats: false },
  editFact: { args: [asIs, fields(FACT)], repeats: false },
  retractFact: { args: [asIs], repeats: false },
  pinFact: { args: [asIs, asIs], repeats: false },
  neverRecall: { args: [asIs, asIs], repeats: true },
  forget: { args: [asIs], repeats: false },
  pages: { args: [fields(['offset', 'limit'])], repeats: true },
  stats: { args: [], repeats: true },
} satisfies { [name: string]: Call };

/** One of `CALL_NAMES`. */
export type CallName = keyof typeof CALLS;
/** Names of the calls that cross a Port. */
export const CALL_NAMES = Object.keys(CALLS) as CallName[];

/** Of unknown outcome, these may be made again by their caller: a second one does no harm. */
export const HARMLESS: readonly CallName[] = ['forget', 'getResponse', ...CALL_NAMES.filter((name) => CALLS[name].repeats)];

export function readCall(method: unknown): CallName {
  if (!CALL_NAMES.includes(method as CallName)) throw invalid(`${show(method)} cannot be called from outside: the calls are ${CALL_NAMES.join(', ')}`);
  return method as CallName;
}

/** Arguments in the shape of the call, in objects of our own. */
export function readArgs(method: CallName, args: unknown): unknown[] {
  const { args: readers }: Call = CALLS[method];
  if (!Array.isArray(args) || args.length > readers.length) throw invalid(`${method} takes ${readers.length} arguments, got ${show(args)}`);
  return readers.map((read, at) => (args[at] === undefined || args[at] === null ? undefined : read(args[at], `argument ${at + 1} of ${method}`)));
}

function asIs(value: unknown): unknown {
  return value;
}

/** An object of these fields and no others. */
function fields(known: string[]): Call['args'][number] {
  return (value, name) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${name} must be an object, got ${show(value)}`);
    const entries = Object.entries(value);
    const other = entries.find(([key]) => !known.includes(key));
    if (other) throw invalid(`${name} has an unknown field ${show(other[0])}: there are ${known.join(', ')}`);
    return Object.fromEntries(entries);
  };
}
