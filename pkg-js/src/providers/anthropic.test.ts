import { afterEach, expect, test } from 'vitest';
import { byteByByte, json, modelServer } from '../fixtures/server.js';
import type { Answer, ModelServer } from '../fixtures/server.js';
import { anthropic } from './anthropic.js';
import type { AnthropicOptions } from './anthropic.js';
import { testConnection } from './connection.js';
import type { ChatRequest } from './types.js';

const HELLO = { messages: [{ role: 'user' as const, content: 'hello' }] };
const SCHEMA = { name: 'facts', schema: { type: 'object', properties: { facts: { type: 'array' } } } };

let servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

const message = (fields: object): Answer => json(200, { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 }, ...fields });

async function asked(request: ChatRequest, answer: Answer = message({}), options: Partial<AnthropicOptions> = {}) {
  const server = await modelServer(answer);
  servers.push(server);
  const result = await anthropic({ baseURL: server.baseURL, apiKey: 'sk-ant-0123456789', model: 'm', maxRetries: 0, ...options }).chat(request);
  return { result, sent: server.received[0] as (typeof server.received)[0], received: server.received };
}

test('s16_a_request_has_the_headers_that_a_page_needs_and_a_limit_of_tokens', async () => {
  const { sent } = await asked(HELLO);
  expect(sent.path).toBe('/v1/messages');
  expect(sent.headers).toMatchObject({ 'x-api-key': 'sk-ant-0123456789', 'anthropic-version': '2023-06-01', 'anthropic-dangerous-direct-browser-access': 'true' });
  expect(sent.headers.authorization).toBeUndefined();
  expect(sent.body).toEqual({ model: 'm', max_tokens: 4_096, messages: HELLO.messages });
  expect((await asked({ ...HELLO, maxOutputTokens: 9 }, undefined, { maxOutputTokens: 50 })).sent.body.max_tokens).toBe(9);
  const pasted = await modelServer(message({}));
  servers.push(pasted);
  await anthropic({ baseURL: `${pasted.baseURL}/messages/`, model: 'm' }).chat(HELLO);
  expect(pasted.received[0]?.path).toBe('/v1/messages');
});

test('s16_system_messages_go_apart_and_what_the_api_refuses_is_left_out', async () => {
  const { sent } = await asked({
    messages: [
      { role: 'system', content: 'a' },
      { role: 'user', content: 'q' },
      { role: 'assistant', content: '' },
      { role: 'system', content: 'b' },
      { role: 'user', content: 'r' },
      { role: 'assistant', content: 'So: \n' },
    ],
    temperature: 1.5,
  });
  expect(sent.body).toMatchObject({ system: 'a\n\nb', temperature: 1, messages: [{ role: 'user', content: 'q' }, { role: 'user', content: 'r' }, { role: 'assistant', content: 'So:' }] });
});

test('case_43_json_is_the_input_of_a_tool_that_must_be_called_once', async () => {
  const answer = message({
    content: [{ type: 'text', text: 'Noted.' }, { type: 'tool_use', name: 'facts', input: { facts: ['a'] } }],
    stop_reason: 'tool_use',
  });
  const { sent, result } = await asked({ ...HELLO, responseSchema: SCHEMA }, answer);
  expect(sent.body).toMatchObject({ tools: [{ name: 'facts', input_schema: SCHEMA.schema }], tool_choice: { type: 'tool', name: 'facts', disable_parallel_tool_use: true } });
  expect(sent.body.messages).toEqual(HELLO.messages);
  expect(result).toEqual({ text: '{"facts":["a"]}', finishReason: 'stop', outputMode: 'tool_call', usage: { inputTokens: 1, outputTokens: 1 } });
  const words = await asked({ ...HELLO, responseSchema: SCHEMA }, message({ content: [{ type: 'text', text: '{"facts":[]}' }] }));
  expect(words.result.text).toBe('{"facts":[]}');
  const cut = await asked({ ...HELLO, responseSchema: SCHEMA }, message({ content: [{ type: 'tool_use', name: 'facts', input: {} }], stop_reason: 'max_tokens' }));
  expect(cut.result.finishReason).toBe('length');
});

test('s16_thinking_is_asked_for_beside_words_and_never_beside_a_forced_tool', async () => {
  const options = { thinkingBudgetTokens: 2_000, maxOutputTokens: 100 };
  const words = await asked({ ...HELLO, temperature: 0 }, message({ content: [{ type: 'thinking', thinking: 'Hm.' }, { type: 'redacted_thinking', data: 'x' }, { type: 'text', text: 'ok' }] }), options);
  expect(words.sent.body).toEqual({ model: 'm', max_tokens: 2_100, thinking: { type: 'enabled', budget_tokens: 2_000 }, messages: HELLO.messages });
  expect(words.result.text).toBe('ok');
  const tool = await asked({ ...HELLO, responseSchema: SCHEMA }, message({}), options);
  expect(tool.sent.body).toMatchObject({ max_tokens: 100 });
  expect(tool.sent.body).not.toHaveProperty('thinking');
});

test('s16_every_stop_reason_has_its_meaning', async () => {
  const reasons = {
    end_turn: 'stop', stop_sequence: 'stop', max_tokens: 'length', model_context_window_exceeded: 'length', refusal: 'content-filter', tool_use: 'tool-calls', pause_turn: 'unknown', toString: 'unknown',
  };
  for (const [given, expected] of Object.entries(reasons)) expect((await asked(HELLO, message({ stop_reason: given }))).result.finishReason).toBe(expected);
});

test('s16_what_the_prompt_cache_took_counts_as_input_and_a_missing_count_is_missing', async () => {
  expect((await asked(HELLO, message({ usage: { input_tokens: 2, cache_read_input_tokens: 30, cache_creation_input_tokens: 400, output_tokens: 5 } }))).result.usage).toEqual({ inputTokens: 432, outputTokens: 5 });
  expect((await asked(HELLO, message({ usage: { output_tokens: 5 } }))).result.usage).toEqual({ outputTokens: 5 });
  expect((await asked(HELLO, message({ usage: null }))).result.usage).toBeUndefined();
});

test('case_43_the_input_of_a_second_tool_is_not_part_of_the_answer', async () => {
  const event = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
  const tool = (index: number, json: string) => event({ type: 'content_block_start', index, content_block: { type: 'tool_use', input: {} } }) + event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: json } });
  const body = event({ type: 'message_start', message: {} }) + tool(0, '{"a":1}') + tool(1, '{"b":2}') + event({ type: 'message_delta', delta: { stop_reason: 'tool_use' } });
  expect((await asked({ ...HELLO, responseSchema: SCHEMA, onText: () => undefined }, byteByByte(body))).result).toMatchObject({ text: '{"a":1}', finishReason: 'stop' });
  const whole = message({ content: [{ type: 'tool_use', input: { a: 1 } }, { type: 'tool_use', input: { b: 2 } }] });
  expect((await asked({ ...HELLO, responseSchema: SCHEMA }, whole)).result.text).toBe('{"a":1}');
});

test('case_44_an_empty_account_is_told_apart_and_asked_once', async () => {
  const server = await modelServer(json(400, { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' } }));
  servers.push(server);
  const error: unknown = await anthropic({ baseURL: server.baseURL, model: 'm' }).chat({ ...HELLO, responseSchema: SCHEMA }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'PROVIDER_FAILED', data: { cause: 'quota' }, message: expect.stringContaining('no credit') as string });
  expect(server.received).toHaveLength(1);
});

test('case_44_a_connection_can_be_tried_out', async () => {
  const tried = async (answer: Answer) => {
    const server = await modelServer(answer);
    servers.push(server);
    return testConnection(anthropic({ baseURL: server.baseURL, apiKey: 'sk-ant-0123456789', model: 'm', maxRetries: 0 }));
  };
  expect(await tried(message({ stop_reason: 'max_tokens' }))).toMatchObject({ ok: true, outputMode: 'tool_call' });
  expect(await tried(json(401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }))).toMatchObject({ ok: false, cause: 'key' });
  expect(await tried(json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }))).toMatchObject({ ok: false, cause: 'server' });
});

test('limits out of range are refused', () => {
  expect(() => anthropic({ model: 'm', maxOutputTokens: 0 })).toThrow(/at least 1, got 0/);
  expect(() => anthropic({ model: 'm', thinkingBudgetTokens: 1_000 })).toThrow(/at least 1024, got 1000/);
  expect(() => anthropic({ model: '' })).toThrow(/model must be/);
});
