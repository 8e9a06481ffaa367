/**
 * A JSON Schema in Gemini's words: `responseSchema` is a subset of OpenAPI 3.0 that refuses what it does not know. What it
 * cannot say is left out, which asks for less than the schema: the answer is parsed and checked in any case.
 */

type Schema = Record<string, unknown>;

/** What means the same in both; numbers of a range and of a length among them. */
const KEPT = [
  'title', 'description', 'format', 'required', 'minimum', 'maximum', 'minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties',
  'pattern', 'default', 'example', 'propertyOrdering',
];

/** Formats beyond these are refused. */
const FORMATS = new Set(['enum', 'date-time', 'float', 'double', 'int32', 'int64']);

export function geminiSchema(schema: object): Schema {
  return convert(schema as Schema, schema as Schema, []);
}

function convert(schema: Schema, root: Schema, path: string[]): Schema {
  const { $ref: ref } = schema;
  if (typeof ref === 'string') {
    const found = resolve(root, ref);
    // What holds itself cannot be written out: it may be anything there.
    if (!found || path.includes(ref)) return { type: 'OBJECT' };
    return convert({ ...found, ...without(schema, '$ref') }, root, [...path, ref]);
  }
  const converted: Schema = {};
  for (const key of KEPT) {
    if (schema[key] !== undefined && !(key === 'format' && !FORMATS.has(schema[key] as string))) converted[key] = schema[key];
  }
  const types = [schema.type].flat().filter((type): type is string => typeof type === 'string');
  const named = types.filter((type) => type !== 'null');
  if (types.includes('null')) converted.nullable = true;
  if (named.length === 1) converted.type = named[0]?.toUpperCase();
  if (named.length > 1) converted.anyOf = named.map((type) => convert({ ...without(schema, 'title', 'description'), type }, root, path));
  Object.assign(converted, choices(schema, root, path));
  if (named.length > 1) return converted;
  if (isSchema(schema.properties)) {
    const properties = Object.entries(schema.properties).filter(([, value]) => isSchema(value));
    converted.properties = Object.fromEntries(properties.map(([name, value]) => [name, convert(value as Schema, root, path)]));
    // Without it the model writes them by the alphabet, and an answer that is to be reasoned first comes before its reasons.
    converted.propertyOrdering ??= properties.map(([name]) => name);
    converted.type ??= 'OBJECT';
  }
  if (isSchema(schema.items)) {
    converted.items = convert(schema.items, root, path);
    converted.type ??= 'ARRAY';
  }
  return converted;
}

function choices(schema: Schema, root: Schema, path: string[]): Schema {
  const values = Array.isArray(schema.enum) ? (schema.enum as unknown[]) : schema.const === undefined ? [] : [schema.const];
  // Only texts can be listed.
  if (values.length > 0 && values.every((value) => typeof value === 'string' || value === null)) {
    const texts = values.filter((value) => value !== null);
    return { type: 'STRING', format: 'enum', enum: texts, ...(texts.length < values.length ? { nullable: true } : {}) };
  }
  const given = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list)) as unknown[] | undefined;
  if (!given) return {};
  const options = given.filter(isSchema);
  const some = options.filter(({ type }) => type !== 'null');
  const nullable = some.length < options.length ? { nullable: true } : {};
  return some.length === 1 ? { ...convert(some[0] as Schema, root, path), ...nullable } : { anyOf: some.map((option) => convert(option, root, path)), ...nullable };
}

function resolve(root: Schema, ref: string): Schema | undefined {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isSchema(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return isSchema(at) ? at : undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function without(schema: Schema, ...names: string[]): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)));
}
