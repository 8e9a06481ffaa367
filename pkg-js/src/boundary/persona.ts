/** What callers say of long-term memory, checked and in the core's shape. */
import type { WasmFactInput } from '../engine/contract.js';
import { invalid } from '../errors.js';
import { show } from '../text.js';
import { oneOf, text } from './query.js';
import { readMoment } from './time.js';

const SUBJECTS = ['user', 'assistant', 'other'] as const;
const KINDS = ['knowledge', 'preference', 'event'] as const;

/** "" is every subject. */
export function readSubject(value: unknown): WasmFactInput['subject'] | '' {
  return oneOf(value, 'subject', SUBJECTS, '');
}

export function readFact(value: unknown): WasmFactInput {
  const { attribute, value: said, ...rest } = readFactChanges(value);
  if (rest.subject === 'other' && rest.subjectName === undefined) throw invalid('subject is "other": subjectName must say who');
  return { subject: 'user', kind: 'knowledge', validFromMs: null, offsetMinutes: 0, ...rest, attribute: text(attribute, 'attribute'), value: text(said, 'value') };
}

/** The fields that are given. */
export function readFactChanges(changes: unknown): Partial<WasmFactInput> {
  if (typeof changes !== 'object' || changes === null) throw invalid(`a fact must be an object with attribute and value, got ${show(changes)}`);
  const given = changes as Record<string, unknown>;
  const clean: Partial<WasmFactInput> = {};
  for (const name of ['attribute', 'value', 'subjectName'] as const) if (given[name] !== undefined) clean[name] = text(given[name], name);
  if (given.subject !== undefined) clean.subject = oneOf(given.subject, 'subject', SUBJECTS);
  if (given.kind !== undefined) clean.kind = oneOf(given.kind, 'kind', KINDS);
  if (given.validFrom !== undefined) {
    const { epochMs, offsetMinutes } = readMoment(given.validFrom, 'validFrom');
    Object.assign(clean, { validFromMs: epochMs, offsetMinutes });
  }
  return clean;
}
