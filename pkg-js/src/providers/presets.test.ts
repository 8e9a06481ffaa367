import { afterEach, describe, expect, test, vi } from 'vitest';
import { completion, json, modelServer } from '../fixtures/server.js';
import type { Answer, ModelServer } from '../fixtures/server.js';
import { deepseek, lmStudio, ollama, openai, PRESETS, qwen, siliconFlow } from './presets.js';
import * as presets from './presets.js';

const ASK = { messages: [{ role: 'user' as const, content: 'hello' }], responseSchema: { name: 'facts', schema: { type: 'object' } } };

let servers: ModelServer[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

async function serving(answer: Answer): Promise<ModelServer> {
  const server = await modelServer(answer);
  servers.push(server);
  return server;
}

const formatIn = ({ body }: { body: Record<string, unknown> }) => (body.response_format as { type: string } | undefined)?.type ?? ('tools' in body ? 'tool_call' : 'plain');

test('s16_every_preset_calls_its_own_address', async () => {
  for (const [name, notes] of Object.entries(PRESETS)) {
    const called: string[] = [];
    const fake: typeof fetch = async (input, init) => {
      called.push(`${String(input)} ${Object.keys(init?.headers as object).join(' ')}`);
      return Response.json({ choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] });
    };
    const make = presets[name as keyof typeof PRESETS];
    expect(make.notes).toBe(notes);
    expect((await make({ model: 'm', fetch: fake, ...(notes.needsKey ? { apiKey: 'sk-0123456789' } : {}) }).chat(ASK)).text).toBe('ok');
    expect(called).toEqual([`${notes.baseURL}/chat/completions content-type${notes.needsKey ? ' authorization' : ''}`]);
  }
});

test('a key that is needed and missing is asked for at once, not at the first call', () => {
  expect(() => openai({ model: 'm' })).toThrow(/OpenAI needs a key/);
  // A server of one's own in between may add it.
  expect(() => openai({ model: 'm', baseURL: 'https://mine.example/v1' })).not.toThrow();
  expect(() => ollama({ model: 'm' })).not.toThrow();
});

describe('structured answers', () => {
  test('case_43_a_server_without_schemas_is_asked_for_an_object_at_once', async () => {
    const server = await serving(completion('{}'));
    const model = deepseek({ baseURL: server.baseURL, model: 'm' });
    expect(await model.chat(ASK)).toMatchObject({ text: '{}', outputMode: 'json_object' });
    expect((await model.chat({ ...ASK, outputMode: 'json_object' })).outputMode).toBeUndefined();
    expect((await model.chat({ ...ASK, outputMode: 'plain' })).outputMode).toBeUndefined();
    expect((await model.chat({ messages: ASK.messages })).outputMode).toBeUndefined();
    expect(server.received.map(formatIn)).toEqual(['json_object', 'json_object', 'plain', 'plain']);
  });

  test('case_43_one_that_refuses_even_that_says_what_it_took', async () => {
    const server = await serving((request, response) => ('response_format' in request.body ? json(400, { error: { message: 'response_format is not supported' } }) : completion('{}'))(request, response));
    expect((await deepseek({ baseURL: server.baseURL, model: 'm' }).chat(ASK)).outputMode).toBe('tool_call');
  });
});

describe('thinking', () => {
  test('o23_it_is_switched_in_each_servers_own_way', async () => {
    const server = await serving(completion('ok'));
    const at = { baseURL: server.baseURL, model: 'm' };
    for (const make of [deepseek, qwen, ollama, presets.llamaCpp, presets.openRouter, siliconFlow, openai]) {
      await make({ ...at, thinking: false }).chat(ASK);
      await make({ ...at, thinking: true }).chat(ASK);
      await make(at).chat(ASK);
      const [off, on, neither] = server.received.splice(0).map(({ body }) => body);
      const { thinking } = make.notes;
      expect(off).toMatchObject(thinking?.off as object);
      expect(on).toMatchObject(thinking?.on as object);
      expect(Object.keys(neither ?? {})).not.toEqual(expect.arrayContaining(Object.keys(thinking?.on as object)));
    }
  });

  test('o23_a_server_without_a_switch_says_so', () => {
    expect(() => lmStudio({ model: 'm', thinking: false })).toThrow(/LM Studio has no switch for thinking/);
  });

  test('o23_thoughts_in_a_field_of_their_own_are_not_part_of_the_answer', async () => {
    const server = await serving(json(200, { choices: [{ message: { content: 'ok', reasoning_content: 'Hm.', reasoning: 'Hm.' }, finish_reason: 'stop' }] }));
    expect((await deepseek({ baseURL: server.baseURL, model: 'm' }).chat(ASK)).text).toBe('ok');
  });
});

describe('embeddings', () => {
  test('o24_the_length_that_is_known_of_a_model_need_not_be_given', () => {
    const key = { apiKey: 'sk-0123456789' };
    expect(ollama({ model: 'nomic-embed-text:v1.5', dimensions: true }).dimensions).toBe(768);
    expect(ollama({ model: 'Qwen3-Embedding:4b', dimensions: true }).dimensions).toBe(2560);
    expect(openai({ model: 'text-embedding-3-large', dimensions: true, ...key }).dimensions).toBe(3072);
    expect(siliconFlow({ model: 'BAAI/bge-m3', dimensions: true, ...key }).dimensions).toBe(1024);
    expect(() => ollama({ model: 'new-embedder', dimensions: true })).toThrow(/pass their length as `dimensions`/);
    expect(() => ollama({ model: 'constructor', dimensions: true })).toThrow(/pass their length/);
  });

  test('o24_another_length_is_asked_for_where_the_model_can_shorten', async () => {
    const server = await serving(json(200, { data: [{ embedding: [1, 0] }] }));
    const asks = async (model: { embed: (request: { texts: string[]; kind: 'query' }) => Promise<unknown> }) => {
      await model.embed({ texts: ['a'], kind: 'query' });
      return server.received.pop()?.body.dimensions;
    };
    const at = { baseURL: server.baseURL, dimensions: 2 };
    expect(await asks(openai({ ...at, model: 'text-embedding-3-small' }))).toBe(2);
    expect(await asks(openai({ ...at, model: 'text-embedding-3-small', requestDimensions: false }))).toBeUndefined();
    expect(await asks(ollama({ ...at, model: 'nomic-embed-text' }))).toBeUndefined();
  });
});

test('case_44_403_of_ollama_names_the_origin_and_the_remedy', async () => {
  const server = await serving(json(403, ''));
  vi.stubGlobal('location', { href: 'https://chat.example/app', origin: 'https://chat.example' });
  await expect(ollama({ baseURL: server.baseURL, model: 'm' }).chat(ASK)).rejects.toThrow(/start it with OLLAMA_ORIGINS=https:\/\/chat\.example/);
});
