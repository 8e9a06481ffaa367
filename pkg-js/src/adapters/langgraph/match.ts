/** Filters and namespaces, as LangGraph's in-memory store has them. */
import { invalid } from '../../errors.js';
import { show } from '../../text.js';
import type { MatchCondition } from './types.js';

const OPERATORS: { [name: string]: (item: unknown, wanted: unknown) => boolean } = {
  $eq: (item, wanted) => item === wanted,
  $ne: (item, wanted) => item !== wanted,
  $gt: (item, wanted) => Number(item) > Number(wanted),
  $gte: (item, wanted) => Number(item) >= Number(wanted),
  $lt: (item, wanted) => Number(item) < Number(wanted),
  $lte: (item, wanted) => Number(item) <= Number(wanted),
  $in: (item, wanted) => Array.isArray(wanted) && wanted.includes(item),
  $nin: (item, wanted) => !Array.isArray(wanted) || !wanted.includes(item),
};

/** Whether the value meets every condition: equality, or operators. */
export function meets(value: { [key: string]: unknown }, filter: { [key: string]: unknown } = {}): boolean {
  return Object.entries(filter).every(([key, wanted]) => {
    const item = Object.hasOwn(value, key) ? value[key] : undefined;
    const tests = typeof wanted === 'object' && wanted !== null ? Object.entries(wanted) : [];
    if (typeof wanted !== 'object' || wanted === null || !tests.every(([name]) => Object.hasOwn(OPERATORS, name))) return item === wanted;
    return tests.every(([name, operand]) => OPERATORS[name]?.(item, operand));
  });
}

export function beginsWith(namespace: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((label, at) => namespace[at] === label);
}

export function fits(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (matchType !== 'prefix' && matchType !== 'suffix') throw invalid(`matchType must be prefix or suffix, got ${show(matchType)}`);
  if (path.length > namespace.length) return false;
  const part = matchType === 'prefix' ? namespace.slice(0, path.length) : namespace.slice(-path.length || namespace.length);
  return path.every((label, at) => label === '*' || label === part[at]);
}

/** Checks a namespace by LangGraph's rules. `empty`: none at all is everything. `reserved`: may begin with "langgraph". */
export function requireNamespace(namespace: unknown, { empty = false, reserved = false } = {}): void {
  if (!Array.isArray(namespace)) throw invalid(`a namespace must be a list of labels, got ${show(namespace)}`);
  if (namespace.length === 0 && !empty) throw invalid('a namespace must not be empty: give at least one label');
  for (const label of namespace as unknown[]) {
    if (typeof label !== 'string' || label === '' || /[.:\0]/.test(label)) {
      throw invalid(`the label ${show(label)} of a namespace must be a non-empty string without periods, colons and NUL`);
    }
  }
  if (namespace[0] === 'langgraph' && !reserved) throw invalid('a namespace must not begin with "langgraph", which is reserved');
}
