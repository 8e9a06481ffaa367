/** Joins the messages of a conversation to turns: what the user said until the assistant answered, and the answer. */
import type { ContentPart, ImportTurn } from '../types.js';
import type { Entry } from './entries.js';

export interface Message {
  place: string;
  role: 'user' | 'assistant';
  parts: ContentPart[];
  /** Anything that a turn's timestamp may be; absent if unknown. */
  time?: number | string | undefined;
  /** Tells the turn that begins with it from others, also in a later export. */
  id?: string | undefined;
}

export class Pairs {
  readonly #shared: Pick<ImportTurn, 'session' | 'metadata'>;
  #held: Message[] = [];

  /** What every turn of the conversation gets. */
  constructor(shared: Pick<ImportTurn, 'session' | 'metadata'> = {}) {
    this.#shared = shared;
  }

  push(message: Message): Entry[] {
    const before = this.#held.at(-1);
    const done = message.role === 'user' && before?.role === 'assistant' ? this.end() : [];
    this.#held.push(message);
    return done;
  }

  end(): Entry[] {
    const [first] = this.#held;
    if (!first) return [];
    const said = (role: Message['role']): ContentPart[] => this.#held.filter((message) => message.role === role).flatMap(({ parts }) => parts);
    const time = this.#held.find((message) => message.time !== undefined)?.time;
    const turn: ImportTurn = {
      userInput: said('user'), agentResponse: said('assistant'), ...this.#shared,
      ...(time === undefined ? {} : { timestamp: time }),
      ...(first.id === undefined ? {} : { id: first.id }),
    };
    this.#held = [];
    return [{ place: first.place, turn }];
  }
}
