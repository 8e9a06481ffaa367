import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { fakeClock } from '../fixtures/clock.js';
import { json, modelServer } from '../fixtures/server.js';
import type { Answer, ModelServer } from '../fixtures/server.js';
import { gemini } from './gemini.js';
import { geminiSchema } from './gemini-schema.js';
import type { ChatRequest } from './types.js';

const HELLO = { messages: [{ role: 'user' as const, content: 'hello' }] };

let servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

const content = (fields: object): Answer => json(200, { candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP', ...fields }] });

async function asked(request: ChatRequest, answer: Answer = content({}), options: Partial<Parameters<typeof gemini>[0]> = {}) {
  const server = await modelServer(answer);
  servers.push(server);
  const result = await gemini({ baseURL: server.baseURL, apiKey: 'AIza-0123456789', model: 'm', maxRetries: 0, ...options }).chat(request);
  return { result, sent: server.received[0] as (typeof server.received)[0] };
}

test('s16_roles_system_and_limits_are_in_the_apis_words_and_the_key_in_a_header', async () => {
  const messages: ChatRequest['messages'] = [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'q' }, { role: 'assistant', content: 'a' }, { role: 'assistant', content: '' }, { role: 'user', content: 'r' }];
  const { sent } = await asked({ messages, maxOutputTokens: 9, temperature: 0 }, undefined, { model: 'models/m', thinkingBudgetTokens: 0 });
  expect(sent.path).toBe('/v1/models/m:generateContent');
  expect(sent.headers['x-goog-api-key']).toBe('AIza-0123456789');
  expect(sent.body).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'q' }] }, { role: 'model', parts: [{ text: 'a' }] }, { role: 'user', parts: [{ text: 'r' }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: { maxOutputTokens: 9, temperature: 0, thinkingConfig: { thinkingBudget: 0 } },
  });
  expect((await asked({ ...HELLO, onText: () => undefined })).sent.path).toBe('/v1/models/m:streamGenerateContent?alt=sse');
});

test('a key in the address is refused, without being shown', () => {
  const make = () => gemini({ baseURL: 'https://x.example/v1beta?key=AIza-0123456789', model: 'm' });
  expect(make).toThrow(/pass the key as `apiKey`/);
  expect(make).not.toThrow(/AIza/);
});

test('s16_every_finish_reason_has_its_meaning_and_a_blocked_prompt_is_filtered', async () => {
  const reasons = {
    STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content-filter', RECITATION: 'content-filter', PROHIBITED_CONTENT: 'content-filter', SPII: 'content-filter', BLOCKLIST: 'content-filter',
    MALFORMED_FUNCTION_CALL: 'error', OTHER: 'unknown', FINISH_REASON_UNSPECIFIED: 'unknown',
  };
  for (const [given, expected] of Object.entries(reasons)) expect((await asked(HELLO, content({ finishReason: given }))).result.finishReason).toBe(expected);
  const blocked = await asked(HELLO, json(200, { promptFeedback: { blockReason: 'SAFETY' } }));
  expect(blocked.result).toEqual({ text: '', finishReason: 'content-filter' });
});

test('s16_thoughts_are_counted_and_not_said', async () => {
  const answer = json(200, {
    candidates: [{ content: { parts: [{ text: 'Hm.', thought: true }, { text: 'o' }, null, { text: 'k' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, thoughtsTokenCount: 40 },
  });
  expect((await asked(HELLO, answer)).result).toEqual({ text: 'ok', finishReason: 'stop', usage: { inputTokens: 5, outputTokens: 42 } });
  // All that the model may write went into thinking: there are no parts at all.
  expect((await asked(HELLO, content({ content: {}, finishReason: 'MAX_TOKENS' }))).result).toEqual({ text: '', finishReason: 'length' });
});

test('case_43_a_schema_goes_along_in_the_apis_words', async () => {
  const responseSchema = { name: 'facts', schema: { type: 'object', additionalProperties: false, properties: { n: { type: ['integer', 'null'] } }, required: ['n'] } };
  const { sent } = await asked({ ...HELLO, responseSchema }, content({}));
  expect(sent.body.generationConfig).toEqual({
    responseMimeType: 'application/json',
    responseSchema: { type: 'OBJECT', required: ['n'], properties: { n: { type: 'INTEGER', nullable: true } }, propertyOrdering: ['n'] },
  });
});

test('case_44_a_delay_in_the_body_of_a_429_is_heeded', async () => {
  const busy = json(429, { error: { code: 429, message: 'You exceeded your current quota, please check your plan and billing details. Please retry in 34.5s.', details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }] } });
  const server = await modelServer(busy, content({}));
  servers.push(server);
  const clock = fakeClock();
  const answer = gemini({ baseURL: server.baseURL, model: 'm', clock }).chat(HELLO);
  while (!clock.waiting().includes(34_500)) await new Promise(setImmediate);
  while ((await clock.next()) !== 34_500);
  expect((await answer).text).toBe('ok');
});

describe('embeddings', () => {
  const embedder = async (values: unknown, extra = {}) => {
    const server = await modelServer(json(200, { embeddings: values }));
    servers.push(server);
    return { server, model: gemini({ baseURL: server.baseURL, model: 'gemini-embedding-001', dimensions: 2, ...extra }) };
  };

  test('s16_texts_are_embedded_together_for_their_task_and_come_as_unit_vectors', async () => {
    const { model, server } = await embedder([{ values: [3, 4] }, { values: [0, 2] }]);
    const { vectors } = await model.embed({ texts: ['a', 'b'], kind: 'query' });
    expect(vectors).toEqual([Float32Array.of(0.6, 0.8), Float32Array.of(0, 1)]);
    expect(server.received[0]).toMatchObject({ path: '/v1/models/gemini-embedding-001:batchEmbedContents', body: { requests: ['a', 'b'].map((text) => ({ model: 'models/gemini-embedding-001', content: { parts: [{ text }] }, outputDimensionality: 2, taskType: 'RETRIEVAL_QUERY' })) } });
    await model.embed({ texts: ['a', 'b'], kind: 'passage' });
    expect(JSON.stringify(server.received[1]?.body)).toContain('RETRIEVAL_DOCUMENT');
    expect(model.maxEmbeddingsPerCall).toBe(100);
  });

  test('s16_a_model_that_knows_no_tasks_is_told_none', async () => {
    const { model, server } = await embedder([{ values: [1, 0] }], { model: 'gemini-embedding-2' });
    await model.embed({ texts: ['a'], kind: 'query' });
    expect(JSON.stringify(server.received[0]?.body)).not.toContain('taskType');
  });

  test('case_22_vectors_of_nothing_stay_nothing', async () => {
    const { model } = await embedder([{ values: [0, 0] }]);
    expect((await model.embed({ texts: ['a'], kind: 'passage' })).vectors).toEqual([Float32Array.of(0, 0)]);
    for (const values of [null, [null], [{}], [{ values: 'x' }]]) {
      const { model: broken } = await embedder(values);
      await expect(broken.embed({ texts: ['a'], kind: 'passage' })).rejects.toMatchObject({ code: 'PROVIDER_BAD_REPLY' });
    }
  });
});

describe('geminiSchema', () => {
  const cases: [string, object, object][] = [
    ['references are written out', { type: 'object', properties: { f: { $ref: '#/$defs/fact' } }, $defs: { fact: { type: 'string' } } }, { type: 'OBJECT', properties: { f: { type: 'STRING' } }, propertyOrdering: ['f'] }],
    ['what holds itself ends', { $ref: '#/$defs/t', $defs: { t: { type: 'array', items: { $ref: '#/$defs/t' } } } }, { type: 'ARRAY', items: { type: 'OBJECT' } }],
    ['a reference that leads nowhere is anything', { type: 'array', items: { $ref: '#/none' } }, { type: 'ARRAY', items: { type: 'OBJECT' } }],
    ['listed texts', { type: ['string', 'null'], enum: ['a', 'b', null] }, { type: 'STRING', format: 'enum', enum: ['a', 'b'], nullable: true }],
    ['a constant', { const: 'a' }, { type: 'STRING', format: 'enum', enum: ['a'] }],
    ['listed numbers cannot be said', { type: 'integer', enum: [1, 2] }, { type: 'INTEGER' }],
    ['several types', { type: ['string', 'number'] }, { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] }],
    ['a choice with null', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'STRING', nullable: true }],
    ['oneOf is anyOf', { oneOf: [{ type: 'string' }, { type: 'boolean' }] }, { anyOf: [{ type: 'STRING' }, { type: 'BOOLEAN' }] }],
    ['formats that are not known', { type: 'string', format: 'email', minLength: 1 }, { type: 'STRING', minLength: 1 }],
    ['a property called $ref or type', { properties: { type: { type: 'string' }, $ref: { type: 'number' } } }, { type: 'OBJECT', properties: { type: { type: 'STRING' }, $ref: { type: 'NUMBER' } }, propertyOrdering: ['type', '$ref'] }],
  ];
  test.each(cases)('%s', (_title, schema, expected) => expect(geminiSchema(schema)).toEqual(expected));

  test('every schema of the core is said without a word that Gemini does not know', () => {
    const folder = new URL('../../../src/generation/prompt/', import.meta.url);
    const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
    const schemas = sources.flatMap((source) => [...source.matchAll(/const SCHEMA: &str = r(#+)"([\s\S]+?)"\1;/g)].map(([, , text]) => JSON.parse(text as string) as object));
    expect(schemas.length).toBeGreaterThanOrEqual(6);
    const known = new Set(['type', 'format', 'enum', 'required', 'properties', 'propertyOrdering', 'items', 'nullable']);
    const check = (schema: Record<string, unknown>): void => {
      expect(Object.keys(schema).filter((key) => !known.has(key))).toEqual([]);
      expect(schema.type).toMatch(/^(OBJECT|ARRAY|STRING|NUMBER|INTEGER|BOOLEAN)$/);
      // A reference that was lost would be an object without properties.
      if (schema.type === 'OBJECT') expect(Object.keys(schema.properties as object)).toEqual(schema.propertyOrdering);
      Object.values((schema.properties ?? {}) as Record<string, Record<string, unknown>>).forEach(check);
      if (schema.items) check(schema.items as Record<string, unknown>);
    };
    for (const schema of schemas) check(geminiSchema(schema));
  });

  test('the schema it was given stays as it was', () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { type: 'string', enum: ['p'] } } };
    const before = structuredClone(schema);
    geminiSchema(schema);
    expect(schema).toEqual(before);
  });
});
