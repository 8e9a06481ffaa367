import { afterEach, describe, expect, test, vi } from 'vitest';
import type { MemoryOSError } from '../errors.js';
import { fakeClock } from '../fixtures/clock.js';
import { byteByByte, completion, delta, json, modelServer } from '../fixtures/server.js';
import type { Answer, ModelServer } from '../fixtures/server.js';
import { openAICompatible } from './openai-compatible.js';
import type { OpenAICompatibleOptions } from './openai-compatible.js';
import { retryAfterMs } from './retry.js';

const KEY = 'sk-test-0123456789abcdef';
const HELLO = { messages: [{ role: 'user' as const, content: 'hello' }] };

let servers: ModelServer[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

async function serving(answers: Answer[], options: Partial<OpenAICompatibleOptions> = {}) {
  const server = await modelServer(...answers);
  servers.push(server);
  const clock = fakeClock();
  return { server, clock, chat: openAICompatible({ baseURL: server.baseURL, apiKey: KEY, model: 'm', clock, random: () => 1, ...options }) };
}

async function failure(promise: Promise<unknown>): Promise<MemoryOSError> {
  const outcome = await promise.then((value) => ({ value }), (error: MemoryOSError) => ({ error }));
  if (!('error' in outcome)) throw new Error(`expected a failure, got ${JSON.stringify(outcome.value)}`);
  return outcome.error;
}

async function stream(chat: { chat: ReturnType<typeof openAICompatible>['chat'] }) {
  const pieces: string[] = [];
  const result = await chat.chat({ ...HELLO, onText: (piece) => pieces.push(piece) });
  return { pieces, result };
}

describe('streams', () => {
  test('case_41_one_byte_a_chunk_crlf_comments_and_no_blank_line_at_the_end_give_the_exact_text', async () => {
    const events = [': keep-alive', `data: ${delta('你好')}`, '', ': comment', 'event: message', `data: ${delta('🌍, wo')}`, '', 'data:', '', `data: ${delta('rld\n', 'length')}`, '', 'data: [DONE]'];
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const { chat } = await serving([byteByByte(events.join(lineEnd))]);
      const { pieces, result } = await stream(chat);
      expect(result).toMatchObject({ text: '你好🌍, world\n', finishReason: 'length' });
      expect(pieces).toEqual(['你好', '🌍, wo', 'rld\n']);
    }
  });

  test('case_41_the_last_event_counts_without_a_line_end_or_done', async () => {
    const { chat } = await serving([byteByByte(`data: ${delta('whole', 'stop')}`)]);
    expect((await stream(chat)).result).toEqual({ text: 'whole', finishReason: 'stop' });
  });

  test('case_41_an_error_event_in_the_middle_of_a_200_fails_and_keeps_what_was_said', async () => {
    for (const event of [`data: {"error":{"message":"overloaded, ${KEY}","code":529}}`, 'event: error\ndata: {"message":"overloaded"}']) {
      const { chat } = await serving([byteByByte(`data: ${delta('half a')}\n\n${event}\n\n`)]);
      const pieces: string[] = [];
      const error = await failure(chat.chat({ ...HELLO, onText: (piece) => pieces.push(piece) }));
      expect(pieces).toEqual(['half a']);
      expect(error).toMatchObject({ code: 'PROVIDER_FAILED', data: { status: 200 }, message: expect.stringContaining('overloaded') as string });
      expect(JSON.stringify([error.message, error.cause])).not.toContain(KEY);
    }
  });

  test('a stream that ends without a finish reason is not taken for a whole answer', async () => {
    const { chat } = await serving([byteByByte(`data: ${delta('half')}\n\n`)]);
    expect((await stream(chat)).result.finishReason).toBe('unknown');
  });

  test('usage of the last event is read, and a server that ignores `stream` is understood', async () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":2}}\n\n';
    const one = await serving([byteByByte(`data: ${delta('a', 'stop')}\n\n${usage}data: [DONE]\n\n`)]);
    expect((await stream(one.chat)).result.usage).toEqual({ inputTokens: 11, outputTokens: 2 });
    expect(one.server.received[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    const two = await serving([completion('at once')]);
    expect(await stream(two.chat)).toEqual({ pieces: ['at once'], result: { text: 'at once', finishReason: 'stop', usage: { inputTokens: 7, outputTokens: 3 } } });
  });

  test('a server that refuses stream_options is asked without, and remembered', async () => {
    const answers = [json(400, { error: { message: 'Unknown field: stream_options' } }), byteByByte(`data: ${delta('a', 'stop')}\n\n`)];
    const { chat, server } = await serving(answers);
    await stream(chat);
    await stream(chat);
    expect(server.received.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false]);
  });

  test('an aborted stream stops at once and says so', async () => {
    const open: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${delta('first')}\n\n`);
    const { chat } = await serving([open]);
    const controller = new AbortController();
    const error = await failure(chat.chat({ ...HELLO, abortSignal: controller.signal, onText: () => controller.abort('enough') }));
    expect(error).toMatchObject({ code: 'ABORTED', cause: 'enough' });
  });

  test('silence in the middle and a server that never answers run into their timeouts', async () => {
    const open: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${delta('first')}\n\n`);
    const silent = await serving([open], { idleTimeoutMs: 5_000 });
    let heard: () => void = () => undefined;
    const first = new Promise<void>((resolve) => (heard = resolve));
    const waiting = failure(silent.chat.chat({ ...HELLO, onText: () => heard() }));
    await first;
    expect(await silent.clock.next()).toBe(5_000);
    expect(await waiting).toMatchObject({ code: 'PROVIDER_TIMEOUT', message: expect.stringContaining('fell silent for 5000 ms') as string });

    const dead = await serving([() => undefined], { timeoutMs: 7_000 });
    const never = failure(dead.chat.chat(HELLO));
    expect(await dead.clock.next()).toBe(7_000);
    expect(await never).toMatchObject({ code: 'PROVIDER_TIMEOUT', message: expect.stringContaining('did not answer within 7000 ms') as string });
  });
});

describe('requests', () => {
  test('case_42_only_authorization_and_content_type_are_set', async () => {
    const sent: string[][] = [];
    const watching: typeof fetch = (input, init) => {
      sent.push(Object.keys(init?.headers as Record<string, string>));
      return fetch(input, init);
    };
    const { chat, server } = await serving([completion('ok')], { fetch: watching });
    await chat.chat(HELLO);
    expect(sent).toEqual([['content-type', 'authorization']]);
    expect(server.received[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' });

    const open = await serving([completion('ok')], { fetch: watching, apiKey: undefined });
    await open.chat.chat(HELLO);
    expect(sent[1]).toEqual(['content-type']);
    expect(open.server.received[0]?.headers.authorization).toBeUndefined();
  });

  test('case_42_a_preflight_that_allows_only_these_two_lets_the_call_through', async () => {
    const allowed = new Set(['authorization', 'content-type']);
    const server = await modelServer((request, response) => {
      if (request.method === 'OPTIONS') response.writeHead(204, { 'access-control-allow-origin': '*', 'access-control-allow-headers': [...allowed].join(', ') }).end();
      else completion('ok')(request, response);
    });
    servers.push(server);
    // A browser asks first for every header that is not CORS-safelisted, and refuses the call if one is missing.
    const browserLike: typeof fetch = async (input, init) => {
      const headers = Object.keys(init?.headers as Record<string, string>).map((name) => name.toLowerCase());
      const preflight = await fetch(input, { method: 'OPTIONS', headers: { 'access-control-request-headers': headers.join(',') } });
      const granted = new Set((preflight.headers.get('access-control-allow-headers') ?? '').split(', '));
      if (!headers.every((name) => granted.has(name))) throw new TypeError('Failed to fetch');
      return fetch(input, init);
    };
    const chat = openAICompatible({ baseURL: server.baseURL, apiKey: KEY, model: 'm', fetch: browserLike });
    expect((await chat.chat(HELLO)).text).toBe('ok');
    const chatty = openAICompatible({ baseURL: server.baseURL, apiKey: KEY, model: 'm', fetch: browserLike, headers: { 'x-stainless-os': 'linux' } });
    expect(await failure(chatty.chat(HELLO))).toMatchObject({ code: 'PROVIDER_FAILED' });
  });

  test('case_42_a_key_may_have_a_header_of_its_own_and_a_request_fields_of_its_own', async () => {
    const { chat, server } = await serving([completion('ok')], { keyHeader: 'api-key', extraBody: { enable_thinking: false } });
    await chat.chat(HELLO);
    expect(server.received[0]?.headers).toMatchObject({ 'api-key': KEY });
    expect(server.received[0]?.headers.authorization).toBeUndefined();
    expect(server.received[0]?.body).toEqual({ model: 'm', messages: HELLO.messages, enable_thinking: false });
  });

  test('a base address is joined as people write it', async () => {
    const { server } = await serving([completion('ok')]);
    const bases = [server.baseURL, `${server.baseURL}/`, ` ${server.baseURL}// `, `${server.baseURL}/chat/completions`, `${server.baseURL}?api-version=1`];
    for (const baseURL of bases) await openAICompatible({ baseURL, model: 'm' }).chat(HELLO);
    expect(server.received.map(({ path }) => path)).toEqual([...Array<string>(4).fill('/v1/chat/completions'), '/v1/chat/completions?api-version=1']);
  });

  test('what cannot be an address, a key or a model is refused without showing the key', () => {
    const make = (options: Partial<OpenAICompatibleOptions>) => () => openAICompatible({ baseURL: 'http://localhost/v1', model: 'm', ...options });
    for (const baseURL of ['', 'nonsense', 'ftp://x/v1', 'https://user:secret@x/v1']) expect(make({ baseURL })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    expect(make({ baseURL: 'https://user:secret@x/v1' })).not.toThrow(/secret/);
    expect(make({ model: '' })).toThrow(/model must be/);
  });

  test('a key with a line break in it is cut clean, and one that cannot be sent is never shown', async () => {
    const { server } = await serving([completion('ok')]);
    await openAICompatible({ baseURL: server.baseURL, apiKey: () => ` ${KEY}\n`, model: 'm' }).chat(HELLO);
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    const error = await failure(openAICompatible({ baseURL: server.baseURL, apiKey: `${KEY}\nsecond`, model: 'm' }).chat(HELLO));
    expect(error.code).toBe('INVALID_ARGUMENT');
    expect(JSON.stringify([error.message, String(error.cause)])).not.toContain(KEY);
  });

  test('finish reasons are mapped and kept', async () => {
    const reasons = { stop: 'stop', length: 'length', tool_calls: 'tool-calls', content_filter: 'content-filter', toString: 'unknown', novel: 'unknown' };
    for (const [given, expected] of Object.entries(reasons)) {
      const { chat } = await serving([completion('x', given)]);
      expect((await chat.chat(HELLO)).finishReason).toBe(expected);
    }
  });
});

describe('structured output', () => {
  const ASK = { messages: HELLO.messages, responseSchema: { name: 'facts', schema: { type: 'object', properties: { facts: { type: 'array' } } } } };
  /** The mode that a request's body is in. */
  const modeIn = (body: Record<string, unknown>) => (body.response_format as { type: string } | undefined)?.type ?? ('tools' in body ? 'tool_call' : 'plain');
  const call = (given: unknown, finishReason = 'tool_calls', content: string | null = null): Answer =>
    json(200, { choices: [{ message: { role: 'assistant', content, tool_calls: [{ id: 'c', type: 'function', function: { name: 'facts', arguments: given } }] }, finish_reason: finishReason }] });

  test('case_43_a_refused_json_schema_falls_back_to_json_object_with_the_word_json_and_is_remembered', async () => {
    const picky: Answer = (request, response) => {
      const format = (request.body.response_format as { type: string } | undefined)?.type;
      const text = JSON.stringify(request.body.messages);
      if (format === 'json_schema') return json(400, { error: { message: "response_format type 'json_schema' is not supported" } })(request, response);
      if (format === 'json_object' && !text.includes('json')) return json(400, { error: { message: "'messages' must contain the word 'json'" } })(request, response);
      return completion('{"facts":[]}')(request, response);
    };
    const { chat, server } = await serving([picky]);
    expect((await chat.chat(ASK)).text).toBe('{"facts":[]}');
    await chat.chat(ASK);
    // Another object for the same server and model knows it too; another model starts afresh.
    await openAICompatible({ baseURL: server.baseURL, model: 'm' }).chat(ASK);
    await openAICompatible({ baseURL: server.baseURL, model: 'other' }).chat(ASK);
    const asked = server.received.map(({ body }) => `${String(body.model)} ${(body.response_format as { type: string }).type}`);
    expect(asked).toEqual(['m json_schema', 'm json_object', 'm json_object', 'm json_object', 'other json_schema', 'other json_object']);
  });

  test('case_43_a_server_without_any_format_gets_the_schema_in_words', async () => {
    const plain: Answer = (request, response) => ('response_format' in request.body || 'tools' in request.body ? json(422, { detail: 'bad request' }) : completion('{}'))(request, response);
    const { chat, server } = await serving([plain]);
    expect((await chat.chat(ASK)).outputMode).toBe('plain');
    expect(server.received.map(({ body }) => modeIn(body))).toEqual(['json_schema', 'json_object', 'tool_call', 'plain']);
    expect(JSON.stringify(server.received[3]?.body.messages)).toContain('JSON Schema');
    await chat.chat(ASK);
    expect(server.received.slice(4).map(({ body }) => modeIn(body))).toEqual(['plain']);
  });

  test('case_43_a_server_without_formats_is_asked_for_the_call_of_a_tool_that_has_the_schema', async () => {
    const tools: Answer = (request, response) => ('response_format' in request.body ? json(400, { error: { message: 'response_format is not supported' } }) : call('{"facts":[]}'))(request, response);
    const { chat, server } = await serving([tools]);
    for (let i = 0; i < 2; i++) expect(await chat.chat(ASK)).toEqual({ text: '{"facts":[]}', finishReason: 'stop', outputMode: 'tool_call' });
    expect(server.received.map(({ body }) => modeIn(body))).toEqual(['json_schema', 'json_object', 'tool_call', 'tool_call']);
    const { messages, ...rest } = server.received[3]?.body ?? {};
    expect(rest).toEqual({
      model: 'm',
      tools: [{ type: 'function', function: { name: 'facts', parameters: ASK.responseSchema.schema } }],
      tool_choice: 'required',
    });
    // A server that ignores tools knows the schema by these words alone.
    expect(JSON.stringify(messages)).toContain('JSON Schema');
  });

  test('case_43_what_a_tool_is_called_with_is_the_answer', async () => {
    const by = { ...ASK, outputMode: 'tool_call' as const };
    const cases: [Answer, string, string][] = [
      [call({ facts: ['a'] }), '{"facts":["a"]}', 'stop'],
      [call('{"facts":[]}', 'stop', 'Let me note that.'), '{"facts":[]}', 'stop'],
      [call('{"fac', 'length'), '{"fac', 'length'],
      // Nothing was called, or nothing said with it.
      [completion('{"facts":[]}'), '{"facts":[]}', 'stop'],
      [json(200, { choices: [{ message: { content: '{}', tool_calls: null }, finish_reason: 'stop' }] }), '{}', 'stop'],
      [call(''), '', 'tool-calls'],
      [json(200, { choices: [{ message: { tool_calls: [null] }, finish_reason: 'tool_calls' }] }), '', 'tool-calls'],
    ];
    for (const [answer, text, finishReason] of cases) {
      const { chat } = await serving([answer]);
      const pieces: string[] = [];
      const result = await chat.chat({ ...by, onText: (piece) => pieces.push(piece) });
      expect(result).toMatchObject({ text, finishReason });
      expect(result.outputMode).toBeUndefined();
      expect(pieces.join('')).toBe(text);
    }
    // Where no tool was asked for, none is the answer.
    const { chat } = await serving([call('{"facts":[]}')]);
    expect(await chat.chat(HELLO)).toEqual({ text: '', finishReason: 'tool-calls' });
  });

  test('case_43_the_arguments_of_the_first_call_are_streamed_as_text', async () => {
    const streamed = async (...deltas: [delta: unknown, finishReason?: string][]) => {
      const chunks = deltas.map(([delta, finish_reason = null]: [unknown, (string | null)?]) => `data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`);
      const { chat } = await serving([byteByByte(chunks.join(''))]);
      const pieces: string[] = [];
      const { text, finishReason } = await chat.chat({ ...ASK, outputMode: 'tool_call', onText: (piece) => pieces.push(piece) });
      return { pieces, text, finishReason };
    };
    const piece = (argument: unknown, index?: number) => ({ tool_calls: [{ ...(index === undefined ? {} : { index }), function: { arguments: argument } }] });
    const called = { pieces: ['{"facts":', '["你好"]}'], text: '{"facts":["你好"]}', finishReason: 'stop' };
    expect(await streamed([{ role: 'assistant', content: null, tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'facts', arguments: '' } }] }], [piece('{"facts":', 0)], [piece('["你好"]}', 0)], [piece('{"facts":["again"]}', 1)], [{}, 'tool_calls'])).toEqual(called);
    expect(await streamed([{ content: 'Let me see.' }], [piece('{"facts":')], [piece('["你好"]}'), 'tool_calls'])).toEqual(called);
    expect(await streamed([piece({ facts: [] }), 'tool_calls'])).toMatchObject({ text: '{"facts":[]}', finishReason: 'stop' });
    // Tools ignored, and a stream that breaks off.
    expect(await streamed([{ content: '{"facts"' }], [{ content: ':[]}' }, 'stop'])).toEqual({ pieces: ['{"facts":[]}'], text: '{"facts":[]}', finishReason: 'stop' });
    expect(await streamed([piece('{"fac', 0)])).toMatchObject({ text: '{"fac', finishReason: 'unknown' });
  });

  test('case_43_a_model_without_tools_is_asked_in_words_also_where_the_refusal_is_a_404', async () => {
    for (const refusal of [json(400, { error: { message: 'm does not support tools' } }), json(404, { error: { message: 'No endpoints found that support tool use' } })]) {
      const { chat, server } = await serving([(request, response) => ('tools' in request.body ? refusal : completion('{}'))(request, response)]);
      expect((await chat.chat({ ...ASK, outputMode: 'tool_call' })).outputMode).toBe('plain');
      await chat.chat(ASK);
      expect(server.received.map(({ body }) => modeIn(body))).toEqual(['tool_call', 'plain', 'plain']);
    }
  });

  test('case_43_a_request_starts_at_the_weaker_of_its_own_mode_and_the_servers', async () => {
    const picky: Answer = (request, response) => {
      const format = (request.body.response_format as { type: string } | undefined)?.type;
      return (format === 'json_schema' ? json(400, { error: { message: 'json_schema is not supported' } }) : completion('{}'))(request, response);
    };
    const { chat, server } = await serving([picky]);
    const used: unknown[] = [];
    for (const outputMode of ['json_object', 'tool_call', 'plain', undefined, 'json_schema', 'plain'] as const) {
      used.push((await chat.chat({ ...ASK, ...(outputMode ? { outputMode } : {}) })).outputMode);
    }
    // Told only where it is weaker than what was asked for.
    expect(used).toEqual([undefined, undefined, undefined, 'json_object', 'json_object', undefined]);
    const asked = server.received.map(({ body }) => modeIn(body));
    // A caller's own wish teaches nothing about the server; its refusal does.
    expect(asked).toEqual(['json_object', 'tool_call', 'plain', 'json_schema', 'json_object', 'json_object', 'plain']);
  });

  test('case_43_a_caller_who_asks_in_words_has_his_words_left_alone', async () => {
    const { chat, server } = await serving([completion('{}')]);
    await chat.chat({ ...ASK, outputMode: 'plain' });
    expect(server.received[0]?.body).toEqual({ model: 'm', messages: ASK.messages });
    const none = await serving([(request, response) => ('response_format' in request.body || 'tools' in request.body ? json(400, {}) : completion('{}'))(request, response)]);
    expect((await none.chat.chat({ ...ASK, outputMode: 'json_object' })).outputMode).toBe('plain');
    expect(JSON.stringify(none.server.received[2]?.body.messages)).toContain('JSON Schema');
    expect((await none.chat.chat(HELLO)).outputMode).toBeUndefined();
  });

  test('a request that is refused for another reason is neither repeated nor remembered', async () => {
    const { chat, server } = await serving([json(400, { error: { message: "This model's maximum context length is 8192 tokens" } }), completion('{}')]);
    expect(await failure(chat.chat(ASK))).toMatchObject({ code: 'PROVIDER_FAILED', data: { status: 400 }, message: expect.stringContaining('context length') as string });
    await chat.chat(ASK);
    expect(server.received.map(({ body }) => (body.response_format as { type: string }).type)).toEqual(['json_schema', 'json_schema']);
  });

  test('a model that wants max_completion_tokens and no temperature gets what it wants', async () => {
    const { chat, server } = await serving([
      json(400, { error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." } }),
      json(400, { error: { message: "Unsupported value: 'temperature' does not support 0" } }),
      completion('ok'),
    ]);
    await chat.chat({ ...HELLO, maxOutputTokens: 50, temperature: 0 });
    expect(server.received[2]?.body).toEqual({ model: 'm', messages: HELLO.messages, max_completion_tokens: 50 });
  });
});

describe('failures', () => {
  test('case_44_retry_after_in_seconds_and_as_a_date_is_waited_for_and_shown', async () => {
    const notices: unknown[] = [];
    const date = new Date(1_700_000_000_000 + 2_000 + 9_000).toUTCString();
    const { chat, clock } = await serving([json(429, {}, { 'retry-after': '2' }), json(503, {}, { 'retry-after': date }), completion('at last')], { onRetry: (notice) => notices.push(notice) });
    const answer = chat.chat(HELLO);
    const delays: number[] = [];
    while (delays.length < 2) {
      const ms = await nextPause(clock);
      if (ms !== undefined) delays.push(ms);
    }
    expect((await answer).text).toBe('at last');
    expect(delays).toEqual([2_000, 9_000]);
    expect(notices).toEqual([{ attempt: 1, status: 429, delayMs: 2_000 }, { attempt: 2, status: 503, delayMs: 9_000 }]);
  });

  test('case_44_a_wait_that_is_too_long_is_reported_at_once', async () => {
    const { chat, server } = await serving([json(429, { error: { message: 'slow down' } }, { 'retry-after': '120' })]);
    const error = await failure(chat.chat(HELLO));
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', data: { status: 429, retryAfterMs: 120_000 } });
    expect(error.message).toContain('slow down: too many requests: it asks to wait 120 s');
    expect(server.received).toHaveLength(1);
  });

  test('case_44_403_of_ollama_names_the_origin_and_the_remedy', async () => {
    const { chat } = await serving([json(403, '')]);
    vi.stubGlobal('location', { href: 'https://chat.example/app', origin: 'https://chat.example' });
    expect((await failure(chat.chat(HELLO))).message).toContain('start it with OLLAMA_ORIGINS=https://chat.example');
  });

  test('case_44_a_blocked_origin_and_a_server_that_is_down_name_cause_and_remedy', async () => {
    const blocked = (baseURL: string) => openAICompatible({ baseURL, model: 'm', fetch: () => Promise.reject(new TypeError('Failed to fetch')) }).chat(HELLO);
    vi.stubGlobal('location', { href: 'https://chat.example/app', origin: 'https://chat.example' });
    expect((await failure(blocked('https://api.example/v1'))).message).toMatch(/does not allow requests from https:\/\/chat\.example \(CORS\)/);
    expect((await failure(blocked('http://localhost:11434/v1'))).message).toMatch(/is the server running\?.*OLLAMA_ORIGINS=https:\/\/chat\.example/);
    expect((await failure(blocked('http://10.0.0.5:1234/v1'))).message).toMatch(/https and the server plain http/);
    vi.stubGlobal('navigator', { onLine: false });
    expect((await failure(blocked('https://api.example/v1'))).message).toMatch(/offline/);
    vi.unstubAllGlobals();

    const gone = await modelServer();
    await gone.close();
    const error = await failure(openAICompatible({ baseURL: gone.baseURL, apiKey: KEY, model: 'm' }).chat(HELLO));
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', cause: { name: 'TypeError' }, message: expect.stringMatching(/nothing listens there/) as string });
  });

  test('408, 409 and 5xx are tried again with growing delays, 401 and an empty account are not', async () => {
    const { chat, clock, server } = await serving([json(500, {}), json(408, {}), json(409, {}), json(500, { error: { message: 'still down' } })]);
    const answer = failure(chat.chat(HELLO));
    const delays: number[] = [];
    while (delays.length < 3) {
      const ms = await nextPause(clock);
      if (ms !== undefined) delays.push(ms);
    }
    expect(await answer).toMatchObject({ code: 'PROVIDER_FAILED', message: expect.stringContaining('still down') as string });
    expect(delays).toEqual([500, 1_000, 2_000]);
    expect(server.received).toHaveLength(4);

    for (const refusing of [json(401, { error: { message: `Incorrect API key provided: ${KEY}` } }), json(429, { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } })]) {
      const { chat: strict, server: once } = await serving([refusing]);
      const error = await failure(strict.chat(HELLO));
      expect(JSON.stringify([error.message, error.cause, error.data])).not.toContain(KEY);
      expect(once.received).toHaveLength(1);
    }
  });

  test('a pause between attempts ends when the caller aborts', async () => {
    const { chat, clock } = await serving([json(429, {}, { 'retry-after': '30' })]);
    const controller = new AbortController();
    const answer = failure(chat.chat({ ...HELLO, abortSignal: controller.signal }));
    while (!clock.waiting().includes(30_000)) await new Promise(setImmediate);
    controller.abort();
    expect((await answer).code).toBe('ABORTED');
    expect(clock.waiting()).toEqual([]);
  });

  test('a web page, broken JSON, no choices and an error inside HTTP 200 are told apart', async () => {
    const html: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
    const broken: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[');
    const cases: [Answer, string, RegExp][] = [
      [html, 'PROVIDER_BAD_REPLY', /web page: check baseURL/],
      [broken, 'PROVIDER_BAD_REPLY', /not a JSON object/],
      [json(200, { choices: [] }), 'PROVIDER_BAD_REPLY', /no choice/],
      [json(200, { error: 'model is loading' }), 'PROVIDER_FAILED', /model is loading/],
      [json(404, { error: { message: 'model "m" not found' } }), 'PROVIDER_FAILED', /usually ends in \/v1/],
    ];
    for (const [answer, code, message] of cases) {
      const { chat } = await serving([answer]);
      expect(await failure(chat.chat(HELLO))).toMatchObject({ code, message: expect.stringMatching(message) as string });
    }
    const { chat } = await serving([html]);
    expect(await failure(chat.chat({ ...HELLO, onText: () => undefined }))).toMatchObject({ code: 'PROVIDER_BAD_REPLY' });
  });

  test('Retry-After is read in all its forms', () => {
    const read = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), 1_000_000);
    expect(read({ 'retry-after': '1.5' })).toBe(1_500);
    expect(read({ 'retry-after-ms': '20', 'retry-after': '9' })).toBe(20);
    expect(read({ 'retry-after': new Date(1_005_000).toUTCString() })).toBe(5_000);
    expect(read({ 'retry-after': new Date(0).toUTCString() })).toBe(0);
    expect([read({ 'retry-after': 'soon' }), read({})]).toEqual([undefined, undefined]);
  });
});

describe('embeddings', () => {
  const embedder = async (data: unknown, extra = {}) => {
    const server = await modelServer(json(200, { data, usage: { prompt_tokens: 4 } }));
    servers.push(server);
    return { server, model: openAICompatible({ baseURL: server.baseURL, model: 'e', dimensions: 2, ...extra }) };
  };
  const ask = { texts: ['a', 'b'], kind: 'passage' as const };

  test('case_22_vectors_out_of_order_are_sorted_by_their_index', async () => {
    const { model, server } = await embedder([{ index: 1, embedding: [0, 1] }, { index: 0, embedding: [1, 0] }]);
    expect(await model.embed(ask)).toEqual({ vectors: [Float32Array.of(1, 0), Float32Array.of(0, 1)], usage: { inputTokens: 4 } });
    expect(server.received[0]).toMatchObject({ path: '/v1/embeddings', body: { model: 'e', input: ['a', 'b'] } });
    expect(server.received[0]?.body).not.toHaveProperty('dimensions');
  });

  test('case_22_too_few_doubled_and_not_finite_vectors_are_a_bad_reply', async () => {
    const bad = [
      [{ index: 0, embedding: [1, 0] }],
      [{ index: 0, embedding: [1, 0] }, { index: 0, embedding: [1, 0] }],
      [{ index: 0, embedding: [1, 0] }, { index: 5, embedding: [1, 0] }],
      [{ index: 0, embedding: [1, null] }, { index: 1, embedding: [1, 0] }],
      [{ index: 0, embedding: [1, 0] }, { index: 1, embedding: [1, 'x'] }],
      [{ index: 0, embedding: [1, 0] }, { index: 1, embedding: [1, 1e300] }],
      [{ index: 0, embedding: [1, 0] }, { index: 1, embedding: 'AAAA' }],
      null,
    ];
    for (const data of bad) {
      const { model } = await embedder(data);
      expect(await failure(model.embed(ask))).toMatchObject({ code: 'PROVIDER_BAD_REPLY' });
    }
  });

  test('another length than promised is a DIMENSION_MISMATCH; a length can be asked for', async () => {
    const { model, server } = await embedder([{ embedding: [1, 0, 0] }, { embedding: [1, 0, 0] }], { requestDimensions: true });
    expect(await failure(model.embed(ask))).toMatchObject({ code: 'DIMENSION_MISMATCH', data: { expected: 2, got: 3 } });
    expect(server.received[0]?.body.dimensions).toBe(2);
  });
});

/** Passes over the timers of running requests; moves the clock only for a pause between two attempts. */
async function nextPause(clock: ReturnType<typeof fakeClock>): Promise<number | undefined> {
  const pauses = clock.waiting().filter((ms) => ms < 60_000);
  if (pauses.length > 0) return clock.next();
  await new Promise(setImmediate);
  return undefined;
}
