/** What the MemoryOS Python package writes, read by the importer that has an entry of its own. */
import { isObject } from '../entries.js';
import type { Entry, Format, Reader } from '../entries.js';
import { read } from '../memoryos.js';

const FILES = ['sessions', 'user_profiles', 'knowledge_base', 'assistant_knowledge', 'shortTerm', 'midTerm', 'longTerm'];

export const MEMORYOS: Format = {
  name: 'memoryos',
  matches: (value) => FILES.some((key) => isObject(value[key]) || Array.isArray(value[key])) || ('user_input' in value && 'agent_response' in value && 'timestamp' in value),
  reader: () => new MemoryOSReader(),
};

/** A file is read as a whole: a dialogue may stand in it several times. */
class MemoryOSReader implements Reader {
  readonly #pages: unknown[] = [];
  #file: unknown;

  take(value: unknown): Entry[] {
    if (isObject(value) && 'user_input' in value) this.#pages.push(value);
    else this.#file = value;
    return [];
  }

  end(): Entry[] {
    const { pages, facts, profiles, skipped } = read(this.#file ?? this.#pages, {});
    return [
      ...pages,
      ...facts,
      ...profiles.map(({ place, text }) => ({ place, profile: { of: 'user' as const, text } })),
      ...skipped.map(({ place, reason }) => ({ place, unreadable: reason })),
    ];
  }
}
