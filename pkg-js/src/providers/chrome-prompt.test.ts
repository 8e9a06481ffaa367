import { afterEach, describe, expect, test, vi } from 'vitest';
import { serve } from '../engine/serve.js';
import { ChannelWorker } from '../fixtures/channel-worker.js';
import { fakeChrome } from '../fixtures/engines.js';
import { MemoryOS } from '../index.js';
import { chromePrompt, chromePromptAvailability } from './chrome-prompt.js';
import { pieces } from './chrome-stream.js';
import type { ModelScript } from './conformance.js';
import type { ChatRequest } from './types.js';

const SAYS: ModelScript = { pieces: ['Yes', ', ', 'you did.'], end: 'stop' };
const HELLO: ChatRequest = { messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'q' }, { role: 'assistant', content: 'a' }, { role: 'user', content: 'hello' }] };
const SCHEMA = { name: 'facts', schema: { type: 'object' } };

afterEach(() => vi.unstubAllGlobals());

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then((value) => Promise.reject(new Error(`expected a failure, got ${JSON.stringify(value)}`)), (error: unknown) => error);
}

describe('a session', () => {
  test('begins with all but the last message and is let go afterwards, whatever happens', async () => {
    const languageModel = fakeChrome(SAYS);
    const result = await chromePrompt({ languageModel, languages: ['en', 'ja'] }).chat(HELLO);
    expect(languageModel.created[0]).toMatchObject({ initialPrompts: HELLO.messages.slice(0, 3), expectedInputs: [{ type: 'text', languages: ['en', 'ja'] }], expectedOutputs: [{ type: 'text', languages: ['en', 'ja'] }] });
    expect(languageModel.prompts).toEqual([{ input: [{ role: 'user', content: 'hello' }], constraint: undefined }]);
    expect(result).toEqual({ text: 'Yes, you did.', finishReason: 'stop', usage: { inputTokens: 4, outputTokens: 3 } });
    expect(languageModel.open).toBe(0);
    const failing = fakeChrome({ ...SAYS, failure: 'crashed' });
    await failure(chromePrompt({ languageModel: failing }).chat(HELLO));
    await failure(chromePrompt({ languageModel: failing }).chat({ ...HELLO, onText: () => undefined }));
    expect([failing.created.length, failing.open]).toEqual([2, 0]);
  });

  test('counts by the fields of each version', async () => {
    for (const version of ['old', 'middle', 'new'] as const) {
      const { usage } = await chromePrompt({ languageModel: fakeChrome(SAYS, { version }) }).chat(HELLO);
      expect(usage).toEqual({ inputTokens: 4, outputTokens: 3 });
    }
  });

  test('of a system message alone is asked something all the same', async () => {
    const languageModel = fakeChrome(SAYS);
    await chromePrompt({ languageModel }).chat({ messages: [{ role: 'system', content: 'Be brief.' }] });
    expect(languageModel.prompts[0]?.input).toEqual([{ role: 'user', content: '' }]);
  });

  test('takes a temperature as a number where there are numbers, else as a mode', async () => {
    const languageModel = fakeChrome(SAYS);
    await chromePrompt({ languageModel }).chat({ ...HELLO, temperature: 0 });
    await chromePrompt({ languageModel }).chat({ ...HELLO, temperature: 1 });
    await chromePrompt({ languageModel: Object.assign(languageModel, { params: async () => ({ defaultTopK: 3, maxTemperature: 2 }) }) }).chat({ ...HELLO, temperature: 5 });
    const [mode, none, numbers] = languageModel.created;
    expect(mode).toMatchObject({ samplingMode: 'most-predictable' });
    expect(none).not.toHaveProperty('samplingMode');
    expect(numbers).toMatchObject({ temperature: 2, topK: 3 });
    expect(numbers).not.toHaveProperty('samplingMode');
  });
});

test('case_43_the_schema_is_a_constraint_and_one_that_is_refused_goes_into_the_prompt', async () => {
  const json: ModelScript = { pieces: ['{}'], end: 'stop' };
  const languageModel = fakeChrome(json);
  const model = chromePrompt({ languageModel });
  expect(await model.chat({ ...HELLO, responseSchema: SCHEMA })).toMatchObject({ text: '{}' });
  expect(languageModel.prompts[0]?.constraint).toEqual(SCHEMA.schema);
  const picky = fakeChrome(json);
  const create = picky.create.bind(picky);
  picky.create = async (options) => {
    const session = await create(options);
    const prompt = session.prompt.bind(session);
    session.prompt = async (input, call) => (call?.responseConstraint ? Promise.reject(new DOMException('constraint', 'NotSupportedError')) : prompt(input, call));
    return session;
  };
  const other = chromePrompt({ languageModel: picky });
  for (let i = 0; i < 2; i++) expect(await other.chat({ ...HELLO, responseSchema: SCHEMA })).toMatchObject({ text: '{}', outputMode: 'plain' });
  expect(JSON.stringify(picky.prompts)).toContain('JSON Schema');
  // The refusal is remembered: three sessions for two answers.
  expect(picky.created).toHaveLength(3);
  expect(picky.open).toBe(0);
});

describe('the pieces of a stream', () => {
  const read = async (chunks: string[], session: { contextWindow?: number } = {}) => {
    const out: string[] = [];
    const stream = new ReadableStream<string>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    for await (const piece of pieces(session, stream)) out.push(piece);
    return out;
  };
  const soFar = (parts: string[]) => parts.map((_, at) => parts.slice(0, at + 1).join(''));
  const texts = [['The lease', ' ends in', ' May', '.'], ['ha', 'ha', 'ha, ', 'ha'], ['你', '好', '🌍'], ['a', 'ab', 'c'], ['One'], []];

  test('are the same from chunks that repeat what was before and from chunks that do not', async () => {
    for (const parts of texts) {
      expect((await read(parts)).join('')).toBe(parts.join(''));
      expect((await read(parts, { contextWindow: 9 }))).toEqual(parts);
      expect((await read(soFar(parts))).join('')).toBe(parts.join(''));
      expect((await read(['', ...soFar(parts)])).join('')).toBe(parts.join(''));
    }
  });

  test('of a version that does not repeat itself are never taken for repetitions', async () => {
    const echo = ['no', 'no, no', 'no, no, no and no again, I say'];
    expect(await read(echo, { contextWindow: 9 })).toEqual(echo);
  });

  test('are given out as they come once it is certain that chunks repeat', async () => {
    const parts = ['A first sentence that is long. ', 'A second. ', 'A third.'];
    expect(await read(soFar(parts))).toEqual(parts);
    expect(await read([...soFar(parts), parts.join('')])).toEqual(parts);
  });
});

describe('failures', () => {
  const chat = (options: Parameters<typeof chromePrompt>[0]) => failure(chromePrompt(options).chat(HELLO));
  const creating = (error: unknown) => Object.assign(fakeChrome(SAYS), { create: () => Promise.reject(error as Error) });

  test('where there is no such API the message says where there is one', async () => {
    expect(await chat({})).toMatchObject({ code: 'PROVIDER_FAILED', data: { cause: 'not-found' }, message: expect.stringMatching(/Chrome 138.*not a worker/) as string });
    expect(await chromePromptAvailability()).toBe('missing');
    vi.stubGlobal('LanguageModel', fakeChrome(SAYS, { availability: 'downloadable' }));
    expect(await chromePromptAvailability()).toBe('downloadable');
    expect((await chromePrompt().chat(HELLO)).text).toBe('Yes, you did.');
    vi.stubGlobal('LanguageModel', fakeChrome(SAYS, { availability: 'unavailable' }));
    expect(await chat({})).toMatchObject({ code: 'PROVIDER_FAILED', message: expect.stringMatching(/not supported/) as string });
  });

  test('case_44_each_names_cause_and_remedy', async () => {
    const cases: [unknown, RegExp][] = [
      [new DOMException('x', 'NotAllowedError'), /must begin with a click/],
      [new DOMException('x', 'NetworkError'), /check the connection/],
      [new DOMException('x', 'NotSupportedError'), /this language/],
      [new DOMException('GPU gone', 'UnknownError'), /GPU gone/],
    ];
    for (const [error, message] of cases) expect(await chat({ languageModel: creating(error) })).toMatchObject({ code: 'PROVIDER_FAILED', message: expect.stringMatching(message) as string });
  });

  test('a prompt that is too long is no full disk', async () => {
    const quota = Object.assign(new DOMException('too large', 'QuotaExceededError'), {});
    expect(await chat({ languageModel: creating(quota) })).toMatchObject({ code: 'PROVIDER_FAILED', message: expect.stringMatching(/prompt is too long: lower `budgetTokens`/) as string });
    const counted = { name: 'QuotaExceededError', message: 'too large', requested: 9_000.4, quota: 6_144 };
    expect(await chat({ languageModel: creating(counted) })).toMatchObject({ code: 'PROVIDER_FAILED', data: { requested: 9_000.4, quota: 6_144 }, message: expect.stringMatching(/of 9001 tokens; it holds 6144/) as string });
    // It is measured before it is asked: older prompts would be dropped in silence.
    const small = fakeChrome(SAYS, { window: 3 });
    expect(await chat({ languageModel: small })).toMatchObject({ code: 'PROVIDER_FAILED', data: { requested: 4, quota: 3 } });
    expect(small.prompts).toEqual([]);
  });
});

test('the download is told from 0 to 1, in parts and in bytes', async () => {
  const heard: number[] = [];
  const languageModel = fakeChrome(SAYS);
  await chromePrompt({ languageModel, onDownload: (part) => heard.push(part) }).chat(HELLO);
  const target = new EventTarget();
  (languageModel.created[0]?.monitor as (target: EventTarget) => void)(target);
  for (const fields of [{ loaded: 0.25, total: 1 }, { loaded: 512, total: 1_024 }, { loaded: 1, total: 1 }]) target.dispatchEvent(Object.assign(new Event('downloadprogress'), fields));
  expect(heard).toEqual([0.25, 0.5, 1]);
});

describe('in memory', () => {
  test.each(['this thread', 'a worker'])('s16_the_model_is_asked_in_the_window_with_the_engine_on %s', async (place) => {
    const languageModel = fakeChrome(SAYS);
    const { port1, port2 } = new MessageChannel();
    if (place === 'a worker') serve(port2, { idle: () => undefined });
    const worker = place === 'a worker' ? () => new ChannelWorker(port1) as unknown as Worker : false;
    const memory = await MemoryOS.open({ name: 'm', userId: 'u', embedder: 'none', storage: 'memory', worker, chat: chromePrompt({ languageModel }) });
    await memory.addMemory({ userInput: 'I planted tomatoes on the balcony.', agentResponse: '' });
    const heard: string[] = [];
    for await (const text of memory.getResponse('Did I plant tomatoes?', { stream: true })) heard.push(text);
    expect(heard.join('')).toBe('Yes, you did.');
    expect(heard.length).toBeGreaterThan(1);
    expect(JSON.stringify([languageModel.created, languageModel.prompts])).toContain('I planted tomatoes on the balcony.');
    await memory.close();
    port1.close();
    expect(languageModel.open).toBe(0);
  });
});
