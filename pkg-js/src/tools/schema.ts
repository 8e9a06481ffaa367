/** The part of JSON Schema that the tools' inputs are written in, and its check: what a model sends is not to be relied on. */
import { invalid } from '../errors.js';
import { show } from '../text.js';

export type Schema = {
  type: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | ('string' | 'null' | 'number' | 'object')[];
  description?: string;
  enum?: readonly string[];
  properties?: { [name: string]: Schema };
  required?: readonly string[];
  additionalProperties?: boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
};

export type ObjectSchema = Schema & { type: 'object'; properties: { [name: string]: Schema } };

/** An object with these properties; those in `optional` may be left out. */
export function object(properties: { [name: string]: Schema }, optional: readonly string[] = [], description?: string): ObjectSchema {
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
  };
}

export function list(items: Schema, description?: string): Schema {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) };
}

export const text = (description?: string): Schema => ({ type: 'string', ...(description === undefined ? {} : { description }) });
export const textOrNull = (description?: string): Schema => ({ type: ['string', 'null'], ...(description === undefined ? {} : { description }) });

/** Throws INVALID_ARGUMENT at the first value that the schema does not allow, and names it. */
export function check(schema: Schema, value: unknown, path = 'arguments'): void {
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
  if (!types.some((type) => isOf(type, value))) throw invalid(`${path} must be of type ${types.join(' or ')}, got ${show(value)}`);
  if (schema.enum && !schema.enum.includes(value as string)) throw invalid(`${path} must be one of ${schema.enum.map((word) => JSON.stringify(word)).join(', ')}, got ${show(value)}`);
  if (typeof value === 'string') within(value.length, schema.minLength, schema.maxLength, `${path} must have`, 'characters');
  if (typeof value === 'number') within(value, schema.minimum, schema.maximum, `${path} must be`, '');
  if (Array.isArray(value)) {
    within(value.length, schema.minItems, schema.maxItems, `${path} must have`, 'entries');
    if (schema.items) for (const [at, item] of value.entries()) check(schema.items, item, `${path}[${at}]`);
  } else if (typeof value === 'object' && value !== null && schema.properties) {
    const given = value as { [name: string]: unknown };
    for (const name of schema.required ?? []) if (given[name] === undefined) throw invalid(`${path}.${name} is missing`);
    for (const [name, item] of Object.entries(given)) {
      const of = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      if (of) check(of, item, `${path}.${name}`);
      else if (schema.additionalProperties === false) throw invalid(`${path}.${name} is unknown; there are ${Object.keys(schema.properties).join(', ')}`);
    }
  }
}

function within(value: number, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, subject: string, unit: string): void {
  if (value < least || value > most) throw invalid(`${subject} ${least === Number.NEGATIVE_INFINITY ? 'any' : least} to ${most} ${unit}`.trimEnd() + `, got ${value}`);
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'array': return Array.isArray(value);
    case 'null': return value === null;
    case 'integer': return Number.isInteger(value);
    case 'object': return typeof value === 'object' && value !== null && !Array.isArray(value);
    default: return typeof value === type;
  }
}
