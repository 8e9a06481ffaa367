import { afterEach, describe, expect, test, vi } from 'vitest';
import { MemoryOSError } from '../errors.js';
import { fakeClock } from '../fixtures/clock.js';
import { completion, json, modelServer } from '../fixtures/server.js';
import type { Answer, ModelServer } from '../fixtures/server.js';
import { testConnection } from './connection.js';
import type { ConnectionResult } from './connection.js';
import { openAICompatible } from './openai-compatible.js';
import type { OpenAICompatibleOptions } from './openai-compatible.js';
import { scriptedChat } from './scripted.js';

const KEY = 'sk-test-0123456789abcdef';

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

const asked = (baseURL: string, options: Partial<OpenAICompatibleOptions> = {}): Promise<ConnectionResult> =>
  testConnection(openAICompatible({ baseURL, apiKey: KEY, model: 'm', maxRetries: 0, ...options }));

test('a chat model is asked for one token, and says how it takes a request for JSON', async () => {
  const without = (...fields: string[]): Answer => (request, response) => (fields.some((field) => field in request.body) ? json(400, { error: { message: `no ${fields.join(' or ')} here` } }) : completion('{', 'length'))(request, response);
  const plain = await serving(without('response_format', 'tools'));
  expect(await asked(plain.baseURL)).toEqual({ ok: true, ms: expect.any(Number) as number, outputMode: 'plain' });
  const tools = await serving(without('response_format'));
  expect(await asked(tools.baseURL)).toMatchObject({ ok: true, outputMode: 'tool_call' });
  expect(plain.received[0]?.body).toMatchObject({ max_tokens: 1 });
  expect(await testConnection(scriptedChat('{'))).toMatchObject({ ok: true, outputMode: 'json_schema' });
  const thinking = await serving(json(400, { error: { message: 'Could not finish the message because max_tokens or model output limit was reached.' } }));
  expect(await asked(thinking.baseURL)).toMatchObject({ ok: true });
});

test('an embedding model is asked for one vector, and its length is checked', async () => {
  const server = await serving(json(200, { data: [{ embedding: [1, 0, 0] }] }));
  const embedder = (dimensions: number) => testConnection(openAICompatible({ baseURL: server.baseURL, model: 'e', dimensions }));
  expect(await embedder(3)).toEqual({ ok: true, ms: expect.any(Number) as number });
  expect(await embedder(2)).toMatchObject({ ok: false, cause: 'unknown', message: expect.stringContaining('vector of 3 dimensions') as string });
  expect(server.received.every(({ path }) => path === '/v1/embeddings')).toBe(true);
});

describe('case_44_causes', () => {
  const html: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
  const answers: [string, Answer, string, RegExp][] = [
    ['a wrong key', json(401, { error: { message: `Incorrect API key: ${KEY}` } }), 'key', /check the API key/],
    ['a wrong key in a 400', json(400, { error: { message: 'API key not valid' } }), 'key', /check the API key/],
    ['a page that Ollama refuses', json(403, ''), 'cors', /OLLAMA_ORIGINS/],
    ['a model that is not there', json(404, { error: { message: 'model "m" not found' } }), 'not-found', /server has the model "m"/],
    ['a web page', html, 'not-found', /web page/],
    ['an empty account', json(429, { error: { message: 'You exceeded your current quota' } }), 'quota', /no credit/],
    ['credit to be bought', json(402, { error: { message: 'Insufficient credits' } }), 'quota', /no credit/],
    ['too many requests', json(429, {}), 'quota', /wait and try again/],
    ['a fault', json(503, {}), 'server', /overloaded/],
    ['a fault inside HTTP 200', json(200, { error: 'model is loading' }), 'server', /model is loading/],
    ['a gateway that waited too long', json(504, {}), 'timeout', /504/],
    ['something else', json(400, { error: { message: 'no idea' } }), 'unknown', /no idea/],
  ];
  test.each(answers)('case_44_%s', async (_title, answer, cause, message) => {
    const server = await serving(answer);
    const result = await asked(server.baseURL);
    expect(result).toEqual({ ok: false, cause, message: expect.stringMatching(message) as string });
    expect(JSON.stringify(result)).not.toContain(KEY);
  });

  test('case_44_a_server_that_cannot_be_reached', async () => {
    const cause = async (baseURL: string): Promise<string> => {
      const result = await asked(baseURL, { fetch: () => Promise.reject(new TypeError('Failed to fetch')) });
      return result.ok ? 'ok' : result.cause;
    };
    const gone = await modelServer();
    await gone.close();
    expect(await asked(gone.baseURL)).toMatchObject({ ok: false, cause: 'local', message: expect.stringContaining('nothing listens there') as string });
    expect(await cause('https://api.example/v1')).toBe('unknown');
    vi.stubGlobal('location', { href: 'https://chat.example/app', origin: 'https://chat.example' });
    expect(await cause('https://api.example/v1')).toBe('cors');
    expect(await cause('http://10.0.0.5:1234/v1')).toBe('mixed-content');
    vi.stubGlobal('navigator', { onLine: false });
    expect(await cause('https://api.example/v1')).toBe('offline');
    // A server on this machine needs no network.
    expect(await cause('http://localhost:11434/v1')).toBe('local');
  });

  test('case_44_a_server_that_says_nothing_and_a_key_that_cannot_be_sent', async () => {
    const silent = await serving(() => undefined);
    const clock = fakeClock();
    const waiting = asked(silent.baseURL, { clock });
    await clock.next();
    expect(await waiting).toMatchObject({ ok: false, cause: 'timeout' });
    expect(await asked(silent.baseURL, { apiKey: 'two words' })).toMatchObject({ ok: false, cause: 'key' });
  });

  test('case_44_a_model_of_the_callers_own_is_believed', async () => {
    expect(await testConnection(scriptedChat(new MemoryOSError('PROVIDER_TIMEOUT', 'slow')))).toEqual({ ok: false, cause: 'timeout', message: 'slow' });
    expect(await testConnection(scriptedChat(new Error('broken')))).toEqual({ ok: false, cause: 'unknown', message: 'broken' });
  });
});

test('case_17_a_test_can_be_aborted', async () => {
  const controller = new AbortController();
  const silent = await serving(() => undefined);
  const testing = testConnection(openAICompatible({ baseURL: silent.baseURL, model: 'm' }), { signal: controller.signal }).catch((error: unknown) => error);
  controller.abort();
  expect(await testing).toMatchObject({ code: 'ABORTED' });
});
