/** The turns that are under way: recalled once and stored once, however many steps each takes. */
import type { MemoryOSError } from '../../errors.js';
import { toMemoryOSError } from '../../errors.js';
import type { MemoryOS } from '../../memory-os.js';
import { raced } from '../../race.js';
import type { AddMemoryInput, ContentPart } from '../../types.js';
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
/** Newest pages that are held against the prompt. */
const NEWEST = 100;
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

  /** What bears on the question, ready for a prompt; nothing where the memory fails, or takes too long. */
  async recall(query: string, shown: readonly Exchange[], signal: AbortSignal | undefined): Promise<string> {
    if (query.trim() === '') return '';
    try {
      const limit = this.#limit();
      const either = signal ? AbortSignal.any([signal, limit]) : limit;
      return await raced(this.#search(query, shown, either), either);
    } catch (error) {
      if (!signal?.aborted) this.failed(error, 'recall');
      return '';
    }
  }

  async #search(query: string, shown: readonly Exchange[], signal: AbortSignal): Promise<string> {
    const { retrieve = {} } = this.#options;
    // By page, not by a condition on turns: such a condition would leave facts out.
    const exclude = [...(retrieve.filter?.exclude ?? []), ...(await this.#shown(shown))];
    return (await this.#memory.retrieve(query, { ...retrieve, filter: { ...retrieve.filter, exclude }, signal })).context;
  }

  #limit(): AbortSignal {
    return AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS);
  }

  /** Pages whose exchange stands in the prompt, word for word: they are not recalled beside it. */
  async #shown(shown: readonly Exchange[]): Promise<string[]> {
    const said = new Set(shown.map(({ user, assistant }) => JSON.stringify([user, assistant.join('\n')])));
    const newest = await this.#memory.pages({ limit: NEWEST });
    return newest.filter(({ userInput, agentResponse }) => said.has(JSON.stringify([userInput, agentResponse]))).map(({ id }) => id);
  }

  /**
   * Stores the exchange, or the user's message alone where there is no answer. Never rejects, and keeps nobody waiting longer
   * than the limit; the write goes on.
   */
  write(turn: Turn, answer: string): Promise<void> {
    delete turn.waiting;
    if (!turn.store) {
      turn.whole ||= answer !== '';
      return Promise.resolve();
    }
    turn.written = turn.written.then(() => this.#write(turn, answer)).catch((error: unknown) => this.failed(error, 'store'));
    return raced(turn.written, this.#limit()).catch((error: unknown) => this.failed(error, 'store'));
  }

  async #write(turn: Turn, answer: string): Promise<void> {
    if (turn.whole || (answer === '' && (turn.half !== undefined || turn.userInput === ''))) return;
    if (turn.half === undefined) {
      const { id, status } = await this.#memory.addMemory(this.#input(turn, answer));
      // An earlier run stored the user's message of this id: what it has of an answer stays.
      const isHalf = status === 'duplicate' ? (await this.#memory.getMemory(id))?.agentResponse === '' : answer === '';
      if (isHalf) turn.half = id;
    }
    if (answer === '') return;
    if (turn.half !== undefined) await this.#memory.completeMemory(turn.half, answer);
    delete turn.half;
    turn.whole = true;
  }

  #input({ userInput, id, session }: Turn, answer: string): AddMemoryInput {
    const { metadata, userName, agentName } = this.#options;
    return {
      userInput,
      agentResponse: answer,
      ...(metadata === undefined ? {} : { metadata }),
      ...(id === undefined ? {} : { id }),
      ...(session === undefined ? {} : { session }),
      ...(userName === undefined ? {} : { userName }),
      ...(agentName === undefined ? {} : { agentName }),
    };
  }

  async settle(): Promise<void> {
    const turns = [...this.#byKey.values()];
    for (const turn of turns) if (turn.waiting !== undefined) void this.write(turn, turn.waiting);
    await Promise.all(turns.map(({ written }) => written));
  }

  failed(error: unknown, during: 'recall' | 'store'): void {
    const known: MemoryOSError = toMemoryOSError(error, 'INTERNAL');
    try {
      this.#options.onError?.(known, during);
    } catch {
      // Whoever is told may fail too; the model call must not.
    }
  }
}
