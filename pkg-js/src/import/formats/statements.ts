/** Memories that are single statements: MemOS cubes, Mem0, the MCP reference server. Each becomes a fact, as an entry of a list. */
import { wellFormed } from '../../text.js';
import type { FactInput } from '../../types.js';
import { dateOf, each, isObject, textOf } from '../entries.js';
import type { Entry, Format, Json } from '../entries.js';

/** Ends in a plural: such an attribute holds several values at once, so that no entry closes another. */
export const NOTES = 'notes';

/** A cube's textual_memory.json: a list of items, or the nodes of a tree, whose metadata say what they are. */
export const MEMOS: Format = {
  name: 'memos',
  matches: ({ memory, metadata, created_at: created }) => typeof memory === 'string' && isObject(metadata) && created === undefined
    && ['memory_type', 'status', 'type', 'memory_time', 'visibility', 'key', 'background'].some((key) => key in metadata),
  reader: each((value, place) => {
    const { memory, metadata } = value as { memory: string; metadata: Json };
    if (metadata.status === 'deleted') return [{ place, leftOut: 'deleted' }];
    const kind = ['preference', 'opinion', 'explicit_preference', 'implicit_preference'].includes(String(metadata.type)) ? 'preference' : metadata.type === 'event' ? 'event' : 'knowledge';
    return [note(place, memory, { kind, ...dateOf(metadata.memory_time ?? metadata.created_at ?? metadata.updated_at) })];
  }),
};

/** An export of Mem0: `memory` with its dates, and the edges of its graph. */
export const MEM0: Format = {
  name: 'mem0',
  matches: (value) => typeof value.memory === 'string' || isEdge(value),
  reader: each((value, place) => {
    const item = value as Json;
    if (isEdge(item)) return [relation(place, item.source, item.relationship ?? item.relation, item.target ?? item.destination)];
    return [note(place, item.memory, dateOf(item.created_at ?? item.updated_at))];
  }),
};

function isEdge(value: Json): boolean {
  return typeof value.source === 'string' && typeof (value.relationship ?? value.relation) === 'string' && typeof (value.target ?? value.destination) === 'string';
}

/** The reference memory server of MCP: lines of entities with observations, and of relations between them. */
export const MCP_MEMORY: Format = {
  name: 'mcp-memory',
  matches: ({ type, name, from }) => (type === 'entity' && typeof name === 'string') || (type === 'relation' && typeof from === 'string'),
  reader: each((value, place) => {
    const item = value as Json;
    if (item.type === 'relation') return [relation(place, item.from, item.relationType, item.to)];
    if (!Array.isArray(item.observations)) return [{ place, unreadable: 'its observations must be a list' }];
    const kind = textOf(item.entityType);
    return [
      ...(kind === undefined || isUser(item.name) ? [] : [fact(place, { ...about(item.name), attribute: 'types', value: kind })]),
      ...item.observations.map((said, at) => note(`${place}.observations[${at}]`, said, about(item.name))),
    ];
  }),
};

function isUser(name: unknown): boolean {
  return /^(default[ _])?user$/i.test(String(name));
}

function about(name: unknown): Pick<FactInput, 'subject' | 'subjectName'> {
  return isUser(name) ? { subject: 'user' } : { subject: 'other', subjectName: wellFormed(String(name)) };
}

function relation(place: string, from: unknown, kind: unknown, to: unknown): Entry {
  const [source, verb, target] = [textOf(from), textOf(kind), textOf(to)];
  if (source === undefined || verb === undefined || target === undefined) return { place, unreadable: 'a relation needs two names and its kind' };
  return fact(place, { ...about(source), attribute: 'relations', value: wellFormed(`${verb.replaceAll('_', ' ')} ${target}`) });
}

function note(place: string, said: unknown, rest: Partial<FactInput>): Entry {
  const text = textOf(said);
  if (text === undefined) return { place, unreadable: 'it must be a text' };
  return fact(place, { subject: 'user', ...rest, attribute: NOTES, value: wellFormed(text.trim()) });
}

function fact(place: string, input: FactInput): Entry {
  return { place, fact: input };
}
