import { afterEach, describe, expect, test, vi } from 'vitest';
import type { MemoryOSError } from '../errors.js';
import { fakeClock } from '../fixtures/clock.js';
import type { Made, MakeOptions, Said, WireDialect } from '../fixtures/dialects.js';
import { WIRES } from '../fixtures/dialects.js';
import { browserFetch, isStream, modelIn, playing, refusing, saying } from '../fixtures/misbehaving.js';
import type { Answer, ModelServer } from '../fixtures/server.js';
import { byteByByte, json, modelServer } from '../fixtures/server.js';
import { providerConformance } from './conformance.js';

const KEY = 'sk-test-0123456789abcdef';
const HELLO = { messages: [{ role: 'system' as const, content: 'Be brief.' }, { role: 'user' as const, content: 'hello' }] };
const ASK = { ...HELLO, responseSchema: { name: 'facts', schema: { type: 'object', properties: { facts: { type: 'array', items: { type: 'string' } } } } } };

let servers: ModelServer[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

async function serving(dialect: WireDialect, answers: Answer[], options: Partial<MakeOptions> = {}) {
  const server = await modelServer(...answers);
  servers.push(server);
  const clock = fakeClock();
  const model = dialect.make({ baseURL: server.baseURL, apiKey: KEY, model: 'm', clock, random: () => 1, ...options });
  return { server, clock, model };
}

async function failure(promise: Promise<unknown>): Promise<MemoryOSError> {
  const outcome = await promise.then((value) => ({ value }), (error: MemoryOSError) => ({ error }));
  if (!('error' in outcome)) throw new Error(`expected a failure, got ${JSON.stringify(outcome.value)}`);
  return outcome.error;
}

async function stream(model: Made, request: Parameters<Made['chat']>[0] = HELLO) {
  const pieces: string[] = [];
  return { pieces, result: await model.chat({ ...request, onText: (piece) => pieces.push(piece) }) };
}

const shownOf = (error: MemoryOSError): string => JSON.stringify([error.message, error.data, String(error.cause), error.cause]);

/** Moves the clock for a pause between two attempts, and not for the timers of a request that runs. */
async function pauses(clock: ReturnType<typeof fakeClock>, count: number): Promise<number[]> {
  const delays: number[] = [];
  while (delays.length < count) {
    if (clock.waiting().some((ms) => ms < 60_000)) delays.push(await clock.next());
    else await new Promise(setImmediate);
  }
  return delays;
}

describe.each(WIRES)('$name', (dialect) => {
  const chat = async (script: Parameters<typeof playing>[1]) => (await serving(dialect, [playing(dialect, script)], { maxRetries: 0 })).model;
  const embedder = async (script: Parameters<typeof playing>[1]) => (await serving(dialect, [playing(dialect, script)], { dimensions: 2 })).model as Required<Made>;
  for (const { name, run } of providerConformance({ chat, ...(dialect.vectors ? { embedder } : {}) })) test(`s16_${name}`, run);

  describe('case_41 streams', () => {
    const said: Said = { pieces: ['你好', '🌍, wo', 'rld\n'], end: 'length', mode: 'plain' };

    test('case_41_one_byte_a_chunk_crlf_comments_and_no_blank_line_at_the_end_give_the_exact_text', async () => {
      for (const lineEnd of ['\n', '\r\n', '\r']) {
        const lines = dialect.events(said).flatMap((event, at) => [`: keep-alive ${at}`, ...event, '']).slice(0, -1);
        const { model } = await serving(dialect, [byteByByte(lines.join(lineEnd))]);
        const { pieces, result } = await stream(model);
        expect(result).toMatchObject({ text: '你好🌍, world\n', finishReason: 'length', usage: { inputTokens: 7, outputTokens: 3 } });
        expect(pieces).toEqual(['你好', '🌍, wo', 'rld\n']);
      }
    });

    test('case_41_an_error_event_after_http_200_fails_without_showing_the_key', async () => {
      const events = [...dialect.events({ ...said, end: 'none' }), dialect.failureEvent(`overloaded, ${KEY}`)];
      const { model, server } = await serving(dialect, [byteByByte(events.map((lines) => lines.join('\n')).join('\n\n'))]);
      const pieces: string[] = [];
      const error = await failure(model.chat({ ...HELLO, onText: (piece) => pieces.push(piece) }));
      expect(pieces.join('')).toBe('你好🌍, world\n');
      expect(error).toMatchObject({ code: 'PROVIDER_FAILED', data: { status: 200, cause: 'server' }, message: expect.stringContaining('overloaded') as string });
      expect(shownOf(error)).not.toContain(KEY);
      // What was heard cannot be taken back: it is not asked for again.
      expect(server.received).toHaveLength(1);
    });

    test('case_41_a_stream_that_ends_without_a_reason_is_not_taken_for_a_whole_answer', async () => {
      const { model } = await serving(dialect, [byteByByte(dialect.events({ ...said, end: 'none' }).map((lines) => lines.join('\n')).join('\n\n'))]);
      expect((await stream(model)).result).toMatchObject({ text: '你好🌍, world\n', finishReason: 'unknown' });
    });

    test('a server that ignores the wish to stream is understood', async () => {
      const { model } = await serving(dialect, [json(200, dialect.whole({ ...said, end: 'stop' }))]);
      expect(await stream(model)).toMatchObject({ pieces: ['你好🌍, world\n'], result: { text: '你好🌍, world\n', finishReason: 'stop' } });
    });

    test('a stream that breaks off without an answer is a bad reply', async () => {
      const { model } = await serving(dialect, [byteByByte(': nothing\n\n')]);
      expect(await failure(stream(model))).toMatchObject({ code: 'PROVIDER_BAD_REPLY' });
    });
  });

  describe('case_42 headers', () => {
    const guarded: Answer = (request, response) =>
      request.method === 'OPTIONS'
        ? void response.writeHead(204, { 'access-control-allow-origin': '*', 'access-control-allow-headers': dialect.headers.join(', ') }).end()
        : saying(dialect, 'ok')(request, response);

    test('case_42_a_preflight_that_allows_only_what_the_dialect_needs_lets_the_call_through', async () => {
      const { model, server } = await serving(dialect, [guarded], { fetch: browserFetch });
      expect((await model.chat(HELLO)).text).toBe('ok');
      expect((await stream(model)).result.text).toBe('ok');
      const sent = server.received.filter(({ method }) => method === 'POST');
      const [header, value] = dialect.key(KEY);
      expect(sent.map(({ headers }) => headers[header])).toEqual([value, value]);
      const { model: chatty } = await serving(dialect, [guarded], { fetch: browserFetch, headers: { 'x-stainless-os': 'linux' }, maxRetries: 0 });
      expect(await failure(chatty.chat(HELLO))).toMatchObject({ code: 'PROVIDER_FAILED' });
    });

    test('case_42_the_key_is_in_one_header_and_nowhere_else', async () => {
      const { model, server } = await serving(dialect, [saying(dialect, 'ok')]);
      await model.chat(HELLO);
      const { path, headers, body } = server.received[0] as (typeof server.received)[0];
      const [name] = dialect.key(KEY);
      expect(JSON.stringify([path, body, Object.entries(headers).filter(([header]) => header !== name)])).not.toContain(KEY);
      const { model: open, server: free } = await serving(dialect, [saying(dialect, 'ok')], { apiKey: undefined });
      await open.chat(HELLO);
      expect(free.received[0]?.headers[name]).toBeUndefined();
    });
  });

  describe('case_43 structured answers', () => {
    const answer = saying(dialect, '{"facts":["你好"]}');

    test('case_43_a_refused_way_of_asking_leads_to_the_next_and_is_remembered_per_server_and_model', async () => {
      for (const [at, takes] of dialect.modes.entries()) {
        const { model, server } = await serving(dialect, [refusing(dialect, takes, answer)]);
        const result = await model.chat(ASK);
        expect(result).toMatchObject({ text: '{"facts":["你好"]}', finishReason: 'stop' });
        expect(result.outputMode).toBe(takes === 'json_schema' ? undefined : takes);
        await stream(model, ASK);
        const again = (name: string) => dialect.make({ baseURL: server.baseURL, apiKey: KEY, model: name }).chat(ASK);
        await again('m');
        const known = [...dialect.modes.slice(0, at + 1), takes, takes];
        expect(server.received.map(({ body }) => dialect.modeOf(body))).toEqual(known);
        expect(isStream(server.received[known.length - 2] as (typeof server.received)[0])).toBe(true);
        await again('other');
        expect(server.received.slice(known.length).map((request) => [modelIn(request), dialect.modeOf(request.body)])).toEqual(dialect.modes.slice(0, at + 1).map((mode) => ['other', mode]));
      }
    });

    test('case_43_words_are_streamed_as_they_come_also_where_json_is_known_to_need_a_tool', async () => {
      const { model } = await serving(dialect, [refusing(dialect, 'tool_call', (request, response) => playing(dialect, { pieces: request.body.tools ? ['{}'] : ['a', 'b'], end: 'stop' })(request, response))]);
      expect((await model.chat(ASK)).text).toBe('{}');
      expect((await stream(model)).pieces).toEqual(['a', 'b']);
    });

    test('case_43_where_the_schema_cannot_be_sent_it_stands_in_the_prompt_beside_the_word_json', async () => {
      const { model, server } = await serving(dialect, [refusing(dialect, 'plain', answer)]);
      await model.chat(ASK);
      const last = JSON.stringify(server.received.at(-1)?.body);
      expect(last).toContain('json');
      expect(last).toContain('JSON Schema');
      expect(last).not.toContain('"tools"');
    });

    test('case_43_a_request_refused_for_another_reason_is_neither_repeated_nor_remembered', async () => {
      const { model, server } = await serving(dialect, [json(400, dialect.failure('prompt is too long: 9000 tokens')), answer]);
      expect(await failure(model.chat(ASK))).toMatchObject({ code: 'PROVIDER_FAILED', data: { status: 400 }, message: expect.stringContaining('too long') as string });
      await model.chat(ASK);
      expect(server.received.map(({ body }) => dialect.modeOf(body))).toEqual([dialect.modes[0], dialect.modes[0]]);
    });

    test('a temperature that is refused is left out from then on', async () => {
      const picky: Answer = (request, response) => (JSON.stringify(request.body).includes('"temperature"') ? json(400, dialect.failure('temperature is not supported')) : saying(dialect, 'ok'))(request, response);
      const { model, server } = await serving(dialect, [picky]);
      for (let i = 0; i < 2; i++) expect((await model.chat({ ...HELLO, temperature: 0 })).text).toBe('ok');
      expect(server.received).toHaveLength(3);
    });
  });

  describe('case_44 failures', () => {
    test('case_44_retry_after_in_seconds_and_as_a_date_is_waited_for_and_shown', async () => {
      const notices: unknown[] = [];
      const date = new Date(1_700_000_000_000 + 2_000 + 9_000).toUTCString();
      const busy = (status: number, after: string): Answer => json(status, dialect.failure('slow down'), { 'retry-after': after });
      const { model, clock } = await serving(dialect, [busy(429, '2'), busy(529, date), saying(dialect, 'at last')], { onRetry: (notice) => notices.push(notice) });
      const answer = model.chat(HELLO);
      expect(await pauses(clock, 2)).toEqual([2_000, 9_000]);
      expect((await answer).text).toBe('at last');
      expect(notices).toEqual([{ attempt: 1, status: 429, delayMs: 2_000 }, { attempt: 2, status: 529, delayMs: 9_000 }]);
    });

    test('case_44_a_wait_that_is_too_long_is_reported_at_once', async () => {
      const { model, server } = await serving(dialect, [json(429, dialect.failure('slow down'), { 'retry-after': '120' })]);
      const error = await failure(model.chat(HELLO));
      expect(error).toMatchObject({ code: 'PROVIDER_FAILED', data: { status: 429, cause: 'quota', retryAfterMs: 120_000 }, message: expect.stringContaining('asks to wait 120 s') as string });
      expect(server.received).toHaveLength(1);
    });

    test('case_44_overload_is_tried_again_with_growing_delays_and_then_named', async () => {
      const { model, clock, server } = await serving(dialect, [json(529, dialect.failure('Overloaded'))]);
      const answer = failure(model.chat(HELLO));
      expect(await pauses(clock, 3)).toEqual([500, 1_000, 2_000]);
      expect(await answer).toMatchObject({ code: 'PROVIDER_FAILED', data: { status: 529, cause: 'server' }, message: expect.stringContaining('Overloaded') as string });
      expect(server.received).toHaveLength(4);
    });

    test('case_44_a_wrong_key_is_named_and_never_shown', async () => {
      for (const refused of [json(401, dialect.failure(`invalid x-api-key ${KEY}`)), json(403, dialect.failure(`${KEY} may not`))]) {
        const { model, server } = await serving(dialect, [refused]);
        const error = await failure(model.chat(HELLO));
        expect(shownOf(error)).not.toContain(KEY);
        expect(server.received).toHaveLength(1);
      }
      const broken = dialect.make({ baseURL: 'http://localhost:1', apiKey: `${KEY}\nsecond`, model: 'm' });
      expect(shownOf(await failure(broken.chat(HELLO)))).not.toContain(KEY);
    });

    test('case_44_a_blocked_origin_names_cause_and_remedy', async () => {
      vi.stubGlobal('location', { href: 'https://chat.example/app', origin: 'https://chat.example' });
      const model = dialect.make({ baseURL: 'https://api.example/v1', apiKey: KEY, model: 'm', fetch: () => Promise.reject(new TypeError(`Failed to fetch ${KEY}`)) });
      const error = await failure(model.chat(HELLO));
      expect(error).toMatchObject({ code: 'PROVIDER_FAILED', data: { cause: 'cors' }, message: expect.stringMatching(/does not allow requests from https:\/\/chat\.example \(CORS\)/) as string });
      expect(shownOf(error)).not.toContain(KEY);
    });

    test('case_44_a_web_page_and_broken_json_are_bad_replies', async () => {
      const html: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
      const broken: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":[');
      for (const [answer, message] of [[html, /web page/], [broken, /not a JSON object/], [json(200, {}), /no choice/]] as const) {
        const { model } = await serving(dialect, [answer]);
        expect(await failure(model.chat(HELLO))).toMatchObject({ code: 'PROVIDER_BAD_REPLY', message: expect.stringMatching(message) as string });
      }
    });

    test('case_17_a_pause_between_attempts_ends_when_the_caller_aborts', async () => {
      const { model, clock } = await serving(dialect, [json(429, dialect.failure('slow'), { 'retry-after': '30' })]);
      const cut = new AbortController();
      const answer = failure(model.chat({ ...HELLO, abortSignal: cut.signal }));
      while (!clock.waiting().includes(30_000)) await new Promise(setImmediate);
      cut.abort();
      expect((await answer).code).toBe('ABORTED');
      expect(clock.waiting()).toEqual([]);
    });
  });
});
