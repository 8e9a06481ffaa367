/** The turns that are under way: recalled once and stored once, however many steps each takes. */
import type { MemoryOSError } from '../../errors.js';
import { toMemoryOSError } from '../../errors.js';
import type { MemoryOS } from '../../memory-os.js';
import type { AddMemoryInput, ContentPart, Filter } from '../../types.js';
import { hash64 } from '../hash.js';
import type { Exchange } from './prompt.js';
import type { MemoryMiddlewareOptions } from './types.js';

export interface Turn {
  user: string;
  userInput: string | ContentPart[];
  session: string | undefined;
  id: string | undefined;
  store: boolean;
  /** What was recalled; never rejects. */
  recalled: Promise<string>;
  /** What the assistant has said, while a tool's answer is awaited. */
  waiting?: string;
  /** Page that holds the user's message alone. */
  half?: string;
  whole: boolean;
  written: Promise<void>;
}

/** Turns kept at hand; an older one is closed as it is. */
const MOST_TURNS = 64;
/** Metadata key of a fingerprint of the exchange: what stands in the prompt is not recalled beside it. */
const MARK = 'exchange';
const MOST_MARKS = 200;
const TIMEOUT_MS = 5_000;

export class Turns {
  readonly #memory: MemoryOS;
  readonly #options: MemoryMiddlewareOptions;
  readonly #byKey = new Map<string, Turn>();

  constructor(memory: MemoryOS, options: MemoryMiddlewareOptions) {
    this.#memory = memory;
    this.#options = options;
  }

  /** The turn of this key that is under way; one that is stored gives way to a new one, unless a step of it follows. */
  find(key: string, begun: boolean): Turn | undefined {
    const turn = this.#byKey.get(key);
    return turn && (begun || !turn.whole) ? turn : undefined;
  }

  begin(key: string, turn: Turn): void {
    this.#byKey.delete(key);
    this.#byKey.set(key, turn);
    for (const [oldKey, old] of this.#byKey) {
      if (this.#byKey.size <= MOST_TURNS) break;
      if (old.waiting !== undefined) void this.write(old, old.waiting);
      this.#byKey.delete(oldKey);
    }
  }

  /** The conversation has gone on: what it shows of turns that ended at a tool is their answer. */
  closeShown(earlier: readonly Exchange[]): void {
    for (const turn of this.#byKey.values()) {
      const { waiting } = turn;
      if (waiting === undefined) continue;
      const shown = earlier.findLast(({ user, assistant }) => user === turn.user && assistant.join('\n').startsWith(waiting));
      if (shown) void this.write(turn, shown.assistant.join('\n'));
    }
  }

  async recall(query: string, shown: readonly Exchange[], signal: AbortSignal | undefined): Promise<string> {
    const { retrieve = {}, timeoutMs = TIMEOUT_MS } = this.#options;
    if (query.trim() === '') return '';
    try {
      const marks = shown.slice(-MOST_MARKS).map(({ user, assistant }) => mark(user, assistant.join('\n')));
      const limit = AbortSignal.timeout(timeoutMs);
      const found = await this.#memory.retrieve(query, {
        ...retrieve,
        filter: without(marks, retrieve.filter),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      return found.context;
    } catch (error) {
      if (!signal?.aborted) this.#failed(error, 'recall');
      return '';
    }
  }

  /** Stores the exchange, or the user's message alone where there is no answer. Never rejects. */
  write(turn: Turn, answer: string): Promise<void> {
    delete turn.waiting;
    if (!turn.store) {
      turn.whole ||= answer !== '';
      return Promise.resolve();
    }
    turn.written = turn.written.then(() => this.#write(turn, answer)).catch((error: unknown) => this.#failed(error, 'store'));
    return turn.written;
  }

  async #write(turn: Turn, answer: string): Promise<void> {
    if (turn.whole || (answer === '' && turn.half !== undefined)) return;
    if (answer === '' && turn.userInput === '') return;
    if (turn.half !== undefined) await this.#memory.forget(turn.half);
    delete turn.half;
    let added = await this.#memory.addMemory(this.#input(turn, answer));
    if (added.status === 'duplicate' && answer !== '' && (await this.#isHalf(added.id))) {
      await this.#memory.forget(added.id);
      added = await this.#memory.addMemory(this.#input(turn, answer));
    }
    if (answer === '') turn.half = added.id;
    else turn.whole = true;
  }

  #input({ user, userInput, id, session }: Turn, answer: string): AddMemoryInput {
    const { metadata, userName, agentName } = this.#options;
    return {
      userInput,
      agentResponse: answer,
      metadata: { ...metadata, [MARK]: mark(user, answer) },
      ...(id === undefined ? {} : { id }),
      ...(session === undefined ? {} : { session }),
      ...(userName === undefined ? {} : { userName }),
      ...(agentName === undefined ? {} : { agentName }),
    };
  }

  /** Whether an earlier run stored the user's message of this id and never got an answer to it. */
  async #isHalf(pageId: string): Promise<boolean> {
    const page = (await this.#memory.pages({ limit: 100 })).find(({ id }) => id === pageId);
    return page?.agentResponse === '';
  }

  async settle(): Promise<void> {
    const turns = [...this.#byKey.values()];
    await Promise.all(turns.map((turn) => (turn.waiting === undefined ? turn.written : this.write(turn, turn.waiting))));
  }

  #failed(error: unknown, during: 'recall' | 'store'): void {
    const known: MemoryOSError = toMemoryOSError(error, 'INTERNAL');
    try {
      this.#options.onError?.(known, during);
    } catch {
      // Whoever is told may fail too; the model call must not.
    }
  }
}

function mark(user: string, assistant: string): string {
  return hash64(`${user}\0${assistant}`);
}

function without(marks: string[], filter: Filter = {}): Filter {
  if (marks.length === 0) return filter;
  return { ...filter, not: [...[filter.not ?? []].flat(), { where: { [MARK]: { in: marks } } }] };
}
