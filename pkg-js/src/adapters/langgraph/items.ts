/** An item as a page: its text is what is searched, its value stands whole in the metadata. */
import { withoutTags } from '../fence.js';
import { invalid } from '../../errors.js';
import { show } from '../../text.js';
import type { AddMemoryInput, PageView } from '../../types.js';
import { textOf } from './text.js';
import type { StoreItem } from './types.js';

export interface Kept extends StoreItem {
  /** Counts the items of the store: those made earlier come first. */
  order: number;
  /** Counts the values of an item: the last one holds. */
  version: number;
  indexed: boolean;
}

/** Names that the memory's filters see: the store, and every namespace that the item is under. */
export const STORE = 'store';
export const UNDER = 'under';
export const INDEXED = 'indexed';

export const pathOf = (namespace: readonly string[]): string => JSON.stringify(namespace);
export const idOf = ({ namespace, key }: { namespace: readonly string[]; key: string }): string => JSON.stringify([namespace, key]);

export function toPage(store: string, item: Kept, fields: readonly string[]): AddMemoryInput {
  const { namespace, key, order, version, createdAt, updatedAt } = item;
  const text = item.indexed ? withoutTags(textOf(item.value, fields)) : '';
  return {
    // A page must say something; one that is not to be found says its name.
    userInput: text.trim() === '' ? `${namespace.join(' ')} ${key}` : text,
    agentResponse: '',
    timestamp: updatedAt,
    session: `${store}: ${namespace.join(' ')}`,
    metadata: {
      [STORE]: store,
      [UNDER]: namespace.map((_, at) => pathOf(namespace.slice(0, at + 1))),
      [INDEXED]: item.indexed && text.trim() !== '',
      // As text: metadata drops keys and turns dates that JSON in a string keeps.
      item: JSON.stringify({ namespace, key, value: item.value, order, version, createdAt: createdAt.getTime(), updatedAt: updatedAt.getTime() }),
    },
  };
}

export function fromPage(store: string, { metadata }: PageView): Kept | undefined {
  if (metadata[STORE] !== store || typeof metadata.item !== 'string') return undefined;
  const { createdAt, updatedAt, ...item } = JSON.parse(metadata.item) as Omit<Kept, 'createdAt' | 'updatedAt'> & { createdAt: number; updatedAt: number };
  return { ...item, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt), indexed: metadata[INDEXED] === true };
}

/** A copy of a value, as JSON has it; a key that would set a prototype is dropped. */
export function cleanValue(value: unknown): { [key: string]: any } {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    throw invalid(`a value must be JSON: ${(error as Error).message}`);
  }
  const clean: unknown = json === undefined ? undefined : JSON.parse(json, (key, item: unknown) => (key === '__proto__' ? undefined : item));
  if (typeof clean !== 'object' || clean === null || Array.isArray(clean)) throw invalid(`a value must be an object, got ${show(value)}`);
  return clean;
}
