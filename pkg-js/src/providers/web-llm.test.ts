import { expect, test } from 'vitest';
import { fakeWebLLM } from '../fixtures/engines.js';
import type { ModelScript } from './conformance.js';
import type { ChatRequest } from './types.js';
import { webLLM } from './web-llm.js';

const SAYS: ModelScript = { pieces: ['a', 'b'], end: 'stop' };
const HELLO: ChatRequest = { messages: [{ role: 'user', content: 'q' }, { role: 'system', content: 'late' }, { role: 'user', content: 'hello' }] };
const SCHEMA = { name: 'facts', schema: { type: 'object' } };
const settled = () => new Promise(setImmediate);

test('system messages come first and as one, since the engine refuses them elsewhere', async () => {
  const engine = fakeWebLLM(SAYS);
  const { usage } = await webLLM({ engine, model: 'm', thinking: false }).chat({ ...HELLO, maxOutputTokens: 5, temperature: 0 });
  expect(usage).toEqual({ inputTokens: 7, outputTokens: 2 });
  expect(engine.requests[0]).toEqual({
    stream: true, stream_options: { include_usage: true }, model: 'm', max_tokens: 5, temperature: 0, extra_body: { enable_thinking: false },
    messages: [{ role: 'system', content: 'late' }, { role: 'user', content: 'q' }, { role: 'user', content: 'hello' }],
  });
});

test('case_43_the_schema_goes_along_as_text_and_where_its_grammar_is_refused_into_the_prompt', async () => {
  const engine = fakeWebLLM({ pieces: ['{}'], end: 'stop' });
  expect(await webLLM({ engine, model: 'm' }).chat({ ...HELLO, responseSchema: SCHEMA })).toMatchObject({ text: '{}' });
  expect(engine.requests[0]?.response_format).toEqual({ type: 'json_object', schema: '{"type":"object"}' });
  const picky = fakeWebLLM({ pieces: ['{}'], end: 'stop' });
  const complete = picky.chatCompletion.bind(picky);
  picky.chatCompletion = async (request) => (request.response_format?.schema ? Promise.reject(new Error('Cannot compile the schema to a grammar')) : complete(request));
  const model = webLLM({ engine: picky, model: 'm' });
  for (let i = 0; i < 2; i++) expect(await model.chat({ ...HELLO, responseSchema: SCHEMA })).toMatchObject({ text: '{}', outputMode: 'json_object' });
  expect(picky.requests.map(({ response_format }) => response_format)).toEqual([{ type: 'json_object' }, { type: 'json_object' }]);
  expect(JSON.stringify(picky.requests[0]?.messages)).toContain('JSON Schema');
});

test('case_17_an_abort_interrupts_the_answer_that_runs_and_none_other', async () => {
  const engine = fakeWebLLM({ ...SAYS, hangs: true });
  const [one, two] = [webLLM({ engine, model: 'm' }), webLLM({ engine, model: 'm' })];
  const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
  const code = (promise: Promise<unknown>) => promise.then(() => 'answered', (error: { code: string }) => error.code);
  const running = code(one.chat({ ...HELLO, abortSignal: first.signal }));
  const waiting = code(two.chat({ ...HELLO, abortSignal: second.signal }));
  const last = code(two.chat({ ...HELLO, abortSignal: third.signal }));
  await settled();
  // One engine, one answer at a time, also over two providers.
  expect([engine.requests.length, engine.running]).toEqual([1, 1]);
  second.abort();
  expect(await waiting).toBe('ABORTED');
  expect([engine.interrupts, engine.running]).toEqual([0, 1]);
  first.abort();
  expect(await running).toBe('ABORTED');
  await settled();
  // The one that was aborted while it waited is never asked.
  expect([engine.interrupts, engine.requests.length, engine.running]).toEqual([1, 2, 1]);
  third.abort();
  expect(await last).toBe('ABORTED');
  await settled();
  expect(engine.running).toBe(0);
});

test('s16_the_real_engines_own_check_takes_every_request', async () => {
  // Its types are for bundlers; only what is used of it is named here.
  const real = (await import(/* @vite-ignore */ String('@mlc-ai/web-llm'))) as {
    postInitAndCheckFieldsChatCompletion(request: unknown, model: string, type: unknown): void;
    ModelType: { LLM: unknown };
  };
  const check = (request: unknown) => real.postInitAndCheckFieldsChatCompletion(request, 'm', real.ModelType.LLM);
  const engine = fakeWebLLM({ pieces: ['{}'], end: 'stop' });
  const model = webLLM({ engine, model: 'm', thinking: false });
  for (const outputMode of ['json_schema', 'json_object', 'tool_call', 'plain'] as const) await model.chat({ ...HELLO, maxOutputTokens: 5, temperature: 0, responseSchema: SCHEMA, outputMode });
  await model.chat(HELLO);
  expect(engine.requests).toHaveLength(5);
  for (const request of engine.requests) expect(() => check(structuredClone(request))).not.toThrow();
  // What it would have refused, as the fake does.
  expect(() => check({ messages: HELLO.messages })).toThrow(/System prompt should always be the first message/);
});

test('an engine without embeddings is a bad reply, and an empty text is sent as a space', async () => {
  const { embedding: _, ...none } = fakeWebLLM(SAYS);
  await expect(webLLM({ engine: none, model: 'm', dimensions: 2 }).embed({ texts: ['a'], kind: 'query' })).rejects.toMatchObject({ code: 'PROVIDER_BAD_REPLY' });
  const engine = fakeWebLLM({ ...SAYS, vectors: [[1, 0]] });
  expect(await webLLM({ engine, model: 'm', dimensions: 2 }).embed({ texts: [''], kind: 'query' })).toEqual({ vectors: [Float32Array.of(1, 0)], usage: { inputTokens: 4 } });
});
