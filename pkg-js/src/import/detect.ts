/** Which format a file is in, by its first record that is of one. */
import { invalid } from '../errors.js';
import { show } from '../text.js';
import { isObject } from './entries.js';
import type { Entry, Format } from './entries.js';
import { CHATGPT } from './formats/chatgpt.js';
import { CLAUDE } from './formats/claude.js';
import { GENERIC } from './formats/generic.js';
import { MEMORYOS } from './formats/memoryos.js';
import { MEMSTRATA } from './formats/memstrata.js';
import { MCP_MEMORY, MEM0, MEMOS } from './formats/statements.js';
import type { FileRecord } from './records.js';

/** What is more particular comes first. */
const FORMATS: readonly Format[] = [MEMSTRATA, CHATGPT, CLAUDE, MCP_MEMORY, MEMORYOS, MEMOS, MEM0, GENERIC];

/** Formats that `importFile` reads. */
export type FormatName = 'memstrata' | 'chatgpt' | 'claude' | 'mcp-memory' | 'memoryos' | 'memos' | 'mem0' | 'generic';

/** Records that may be of no format before the search is given up. */
const MOST_UNKNOWN = 100;

/** Lists inside an object that is the whole file. */
const LISTS = ['results', 'memories', 'nodes', 'relations', 'entities', 'conversations', 'data', 'items', 'turns'];

export function formatNamed(name: unknown): Format | undefined {
  if (name === undefined || name === 'auto') return undefined;
  const format = FORMATS.find((known) => known.name === name);
  if (!format) throw invalid(`format must be "auto" or one of ${FORMATS.map((known) => JSON.stringify(known.name)).join(', ')}, got ${show(name)}`);
  return format;
}

/** The entries of a file; `chosen` is told the format once it is known. */
export async function* entriesOf(records: AsyncIterable<FileRecord>, wanted: Format | undefined, chosen: (format: Format) => void): AsyncGenerator<Entry> {
  let format = wanted;
  let reader = format?.reader();
  if (format) chosen(format);
  const unknown: { place: string; value: unknown }[] = [];
  for await (const record of unwrapped(records)) {
    if ('error' in record) {
      yield { place: record.place, unreadable: record.error };
      continue;
    }
    const { place, value } = record;
    if (!reader) {
      format = FORMATS.find((known) => isObject(value) && known.matches(value));
      if (!format) {
        unknown.push({ place, value });
        if (unknown.length > MOST_UNKNOWN) break;
        continue;
      }
      chosen(format);
      reader = format.reader();
    }
    if (isObject(value) && format?.matches(value)) yield* reader.take(value, place);
    else yield { place, unreadable: `it is no record of the format ${format?.name}: ${show(value)}` };
  }
  if (!reader) {
    const [first] = unknown;
    throw invalid(`the file is of no known format${first ? `: it begins with ${show(first.value)}` : ' or empty'}; name its \`format\`, one of ${FORMATS.map(({ name }) => name).join(', ')}`);
  }
  for (const { place, value } of unknown) yield { place, unreadable: `it is of no known format: ${show(value)}` };
  yield* reader.end();
}

/** An object that is the whole file may hold the records in its lists. */
async function* unwrapped(records: AsyncIterable<FileRecord>): AsyncGenerator<FileRecord> {
  for await (const record of records) {
    const value = 'value' in record && record.place === '' && isObject(record.value) ? record.value : undefined;
    const lists = value && !FORMATS.some((format) => format.matches(value)) ? LISTS.filter((name) => Array.isArray(value[name])) : [];
    if (!value || lists.length === 0) yield record;
    else for (const name of lists) for (const [at, item] of (value[name] as unknown[]).entries()) yield { place: `${name}[${at}]`, value: item };
  }
}
