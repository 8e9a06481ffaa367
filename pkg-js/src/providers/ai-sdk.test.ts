import { describe, expect, test } from 'vitest';
import type { MemoryOSError } from '../errors.js';
import { fakeSdkEmbedder, fakeSdkModel } from '../fixtures/engines.js';
import type { SdkVersion } from '../fixtures/engines.js';
import { aiSdk } from './ai-sdk.js';
import type { ModelScript } from './conformance.js';

const SAYS: ModelScript = { pieces: ['a', 'b'], end: 'stop' };
const JSON_SAYS: ModelScript = { pieces: ['{"facts"', ':[]}'], end: 'stop' };
const HELLO = { messages: [{ role: 'system' as const, content: 'Be brief.' }, { role: 'user' as const, content: 'q' }, { role: 'assistant' as const, content: 'a' }, { role: 'user' as const, content: 'hello' }] };
const ASK = { ...HELLO, responseSchema: { name: 'facts', schema: { type: 'object' } } };
const VERSIONS: SdkVersion[] = ['v2', 'v3', 'v4'];

describe.each(VERSIONS)('version %s', (version) => {
  test('s16_prompt_limits_and_counts_are_in_its_words', async () => {
    const model = fakeSdkModel(SAYS, { version });
    const chat = aiSdk(model, { maxConcurrency: 3, providerOptions: { fake: { cache: true } } });
    expect(chat).toMatchObject({ provider: 'ai-sdk/fake.chat', modelId: 'm', maxConcurrency: 3 });
    expect(await chat.chat({ ...HELLO, maxOutputTokens: 5, temperature: 0 })).toEqual({ text: 'ab', finishReason: 'stop', usage: { inputTokens: 7, outputTokens: 3 } });
    const part = (text: string) => [{ type: 'text', text }];
    expect(model.calls[0]).toEqual({
      prompt: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: part('q') }, { role: 'assistant', content: part('a') }, { role: 'user', content: part('hello') }],
      maxOutputTokens: 5, temperature: 0, providerOptions: { fake: { cache: true } },
    });
    expect((await chat.chat({ ...HELLO, onText: () => undefined })).usage).toEqual({ inputTokens: 7, outputTokens: 3 });
  });

  test('case_43_a_provider_that_warns_that_it_lacks_the_format_is_asked_for_a_tool_and_then_in_words', async () => {
    for (const onText of [undefined, () => undefined]) {
      const ask = { ...ASK, ...(onText ? { onText } : {}) };
      const full = fakeSdkModel(JSON_SAYS, { version });
      expect(await aiSdk(full).chat(ask)).toMatchObject({ text: '{"facts":[]}', finishReason: 'stop' });
      expect(full.calls[0]?.responseFormat).toEqual({ type: 'json', name: 'facts', schema: { type: 'object' } });

      const tools = fakeSdkModel(JSON_SAYS, { version, lacks: ['responseFormat'] });
      const byTool = aiSdk(tools);
      for (let i = 0; i < 2; i++) expect(await byTool.chat(ask)).toMatchObject({ text: '{"facts":[]}', finishReason: 'stop', outputMode: 'tool_call' });
      expect(tools.calls.map((call) => 'tools' in call)).toEqual([false, true, true]);
      expect(tools.calls[1]).toMatchObject({ tools: [{ type: 'function', name: 'facts', inputSchema: { type: 'object' } }], toolChoice: { type: 'required' } });

      const words = fakeSdkModel(JSON_SAYS, { version, lacks: ['responseFormat', 'tools'] });
      expect(await aiSdk(words).chat(ask)).toMatchObject({ text: '{"facts":[]}', outputMode: 'plain' });
      expect(JSON.stringify(words.calls[2]?.prompt)).toContain('JSON Schema');
    }
  });

  test('a warning about something else changes nothing', async () => {
    const model = fakeSdkModel(JSON_SAYS, { version });
    const generate = model.doGenerate.bind(model);
    const warned = { ...model, doGenerate: async (call: Record<string, unknown>) => ({ ...(await generate(call)), warnings: [{ type: 'unsupported-setting', setting: 'temperature' }, { type: 'other', message: 'responseFormat is new' }, null] }) };
    expect(await aiSdk(warned).chat(ASK)).not.toHaveProperty('outputMode');
  });
});

test('the text that version 4 names as the answer by schema is the answer, even if empty', async () => {
  const reply = (structuredOutputText?: string) => ({
    ...fakeSdkModel(SAYS),
    doGenerate: async () => ({ content: [{ type: 'text', text: 'Draft. ' }, { type: 'text', text: '{}' }], ...(structuredOutputText === undefined ? {} : { structuredOutputText }), finishReason: { unified: 'stop' }, usage: {}, warnings: [] }),
  });
  expect((await aiSdk(reply('{}')).chat(ASK)).text).toBe('{}');
  expect((await aiSdk(reply('')).chat(ASK)).text).toBe('');
  expect((await aiSdk(reply('{}')).chat(HELLO)).text).toBe('Draft. {}');
  expect(await aiSdk(reply()).chat(ASK)).toEqual({ text: 'Draft. {}', finishReason: 'stop' });
});

test('reasons that are no end by themselves are not taken for one', async () => {
  const ended = (finishReason: unknown) => aiSdk({ ...fakeSdkModel(SAYS), doGenerate: async () => ({ content: [{ type: 'text', text: 'a' }], finishReason, usage: undefined, warnings: [] }) }).chat(HELLO);
  const reasons: [unknown, string][] = [['other', 'unknown'], ['unknown', 'unknown'], [{ unified: 'interrupted' }, 'unknown'], [{ unified: 'other' }, 'unknown'], [undefined, 'unknown'], ['error', 'error'], [{ unified: 'tool-calls' }, 'tool-calls'], ['toString', 'unknown']];
  for (const [given, expected] of reasons) expect(await ended(given)).toEqual({ text: 'a', finishReason: expected });
});

test('a call that comes whole in a stream is the answer, and a second one is not', async () => {
  const parts = [{ type: 'tool-call', toolCallId: 'a', input: '{"a":1}' }, { type: 'tool-call', toolCallId: 'b', input: '{"b":2}' }, { type: 'finish', finishReason: { unified: 'tool-calls' }, usage: {} }];
  const model = { ...fakeSdkModel(SAYS), doStream: async () => ({ stream: new ReadableStream({ start: (controller) => (parts.forEach((part) => controller.enqueue(part)), controller.close()) }) }) };
  const heard: string[] = [];
  expect(await aiSdk(model).chat({ ...ASK, outputMode: 'tool_call', onText: (piece) => heard.push(piece) })).toEqual({ text: '{"a":1}', finishReason: 'stop' });
  expect(heard).toEqual(['{"a":1}']);
});

test('a model that does not heed the signal is left alone', async () => {
  let cancelled = 0;
  const deaf = { ...fakeSdkModel(SAYS), doStream: async () => ({ stream: new ReadableStream({ start: (controller) => controller.enqueue({ type: 'text-delta', delta: 'a' }), cancel: () => void cancelled++ }) }) };
  const cut = new AbortController();
  await expect(aiSdk(deaf).chat({ ...HELLO, abortSignal: cut.signal, onText: () => cut.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
  await new Promise(setImmediate);
  expect(cancelled).toBe(1);
});

test('case_44_an_error_of_the_sdk_has_its_status_and_never_its_key', async () => {
  const key = 'sk-live-0123456789abcdef';
  const thrown = (statusCode: number, message: string) => Object.assign(new Error(message), { name: 'AI_APICallError', statusCode, requestBodyValues: {}, responseHeaders: { 'x-api-key': key }, url: `https://api.example/v1?key=${key}` });
  const cases: [number, string][] = [[401, 'key'], [404, 'not-found'], [429, 'quota'], [503, 'server'], [418, 'unknown']];
  for (const [status, cause] of cases) {
    const model = { ...fakeSdkModel(SAYS), doGenerate: () => Promise.reject(thrown(status, `refused ${key} and ?key=AbCdEf and Bearer zz.yy`)) };
    const error = await aiSdk(model).chat(HELLO).then(() => new Error('answered'), (one: unknown) => one as MemoryOSError);
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', data: { status, cause }, message: 'fake.chat m failed: refused [key] and ?key=[key] and Bearer [key]' });
    expect(JSON.stringify([error, error.message, String(error.cause), Object.entries(error.cause as object)])).not.toContain('0123456789');
  }
});

test('what is no model of a known version is refused at once', () => {
  expect(() => aiSdk('openai/gpt-5' as never)).toThrow(/pass a model object of the AI SDK.*got "openai\/gpt-5"/);
  expect(() => aiSdk({ ...fakeSdkModel(SAYS), specificationVersion: 'v1' })).toThrow(/version "v1".*v2, v3 and v4/);
  expect(() => aiSdk(fakeSdkEmbedder(SAYS), {} as never)).toThrow(/as `dimensions`/);
});

test('o24_an_embedder_keeps_to_its_models_own_limit', async () => {
  const embedder = aiSdk(fakeSdkEmbedder({ ...SAYS, vectors: [[1, 0]] }), { dimensions: 2 });
  expect([embedder.maxEmbeddingsPerCall, embedder.provider]).toEqual([5, 'ai-sdk/fake.embedding']);
  expect(await embedder.embed({ texts: ['a'], kind: 'query' })).toEqual({ vectors: [Float32Array.of(1, 0)], usage: { inputTokens: 4 } });
  for (const maxEmbeddingsPerCall of [undefined, Infinity, Promise.resolve(3)]) {
    expect(aiSdk({ ...fakeSdkEmbedder(SAYS), maxEmbeddingsPerCall }, { dimensions: 2 }).maxEmbeddingsPerCall).toBe(64);
  }
});
