/** The middleware under the real SDK, in its current major version and the one before, over the SDK's own mock models. */
import * as sdk7 from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import * as sdk6 from 'ai-6';
import { MockLanguageModelV3 } from 'ai-6/test';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { MemoryOS } from '../../index.js';
import { closeAll, counted, opened } from '../../fixtures/memories.js';
import { memoryMiddleware } from './index.js';
import type { MemoryMiddlewareOptions } from './index.js';

afterEach(closeAll);

/** One answer of the mock model: text, then perhaps a call of the tool, or an error. */
type Answer = { text: string; call?: boolean } | Error;

interface Asked {
  prompt: { role: string; content: { type: string; text?: string }[] | string; providerOptions?: unknown }[];
  providerOptions?: unknown;
}

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const reason = (answer: { call?: boolean }) => ({ unified: answer.call ? 'tool-calls' : 'stop', raw: undefined });
const call = (at: number) => ({ type: 'tool-call', toolCallId: `call ${at}`, toolName: 'clock', input: '{}' });

function script(answers: Answer[]) {
  const asked: Asked[] = [];
  const next = (options: unknown) => {
    const answer = answers[asked.push(options as Asked) - 1];
    if (!answer) throw new Error('the script is over');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return {
    asked,
    provider: 'mock',
    modelId: 'mock',
    doGenerate: async (options: unknown) => {
      const answer = next(options);
      const text = answer.text === '' ? [] : [{ type: 'text', text: answer.text }];
      return { content: [{ type: 'reasoning', text: 'hm' }, ...text, ...(answer.call ? [call(asked.length)] : [])], finishReason: reason(answer), usage, warnings: [] };
    },
    doStream: async (options: unknown) => {
      const answer = next(options);
      const words = (answer.text.match(/\s*\S+/g) ?? []).map((delta) => ({ type: 'text-delta', id: 't', delta }));
      const parts = [
        { type: 'stream-start', warnings: [] },
        ...(words.length > 0 ? [{ type: 'text-start', id: 't' }, ...words, { type: 'text-end', id: 't' }] : []),
        ...(answer.call ? [call(asked.length)] : []),
        { type: 'finish', finishReason: reason(answer), usage },
      ];
      return { stream: simulateReadableStream({ chunks: parts, initialDelayInMs: null, chunkDelayInMs: null }) };
    },
  };
}

// The two versions' own types are tested below; here one set of tests runs over both.
const versions = [
  { name: 'ai 7', sdk: sdk7 as any, Mock: MockLanguageModelV4 as any },
  { name: 'ai 6', sdk: sdk6 as any, Mock: MockLanguageModelV3 as any },
];

describe.each(versions)('$name', ({ sdk, Mock }) => {
  function wrapped(memory: MemoryOS, answers: Answer[], options: MemoryMiddlewareOptions = {}) {
    const { asked, ...mock } = script(answers);
    const middleware = memoryMiddleware(memory, { onError: (error) => { throw error; }, ...options });
    return { asked, middleware, model: sdk.wrapLanguageModel({ model: new Mock(mock), middleware }) };
  }
  const clock = () => sdk.tool({ description: 'the time', inputSchema: z.object({}), execute: () => 'noon' });
  const threeSteps: Answer[] = [{ text: 'Let me see.', call: true }, { text: '', call: true }, { text: 'Rex eats at noon.' }];
  const question = 'When does my dog eat?';

  async function remembering(): Promise<MemoryOS> {
    const memory = await opened();
    await memory.addMemory({ userInput: 'My dog is called Rex.', agentResponse: 'A fine name.' });
    return memory;
  }

  async function generate(how: 'generateText' | 'streamText', args: object): Promise<string> {
    if (how === 'generateText') return (await sdk.generateText(args)).text;
    let text = '';
    for await (const piece of sdk.streamText({ onError: () => undefined, ...args }).textStream) text += piece;
    return text;
  }

  test.each(['generateText', 'streamText'] as const)('case_15_%s_of_three_steps_recalls_once_and_stores_one_turn', async (how) => {
    const memory = await remembering();
    const recalled = counted(memory, 'retrieve');
    const added = counted(memory, 'addMemory');
    const { model, asked } = wrapped(memory, threeSteps);
    await generate(how, { model, prompt: question, tools: { clock: clock() }, stopWhen: sdk.stepCountIs(5) });
    expect(asked).toHaveLength(3);
    expect(recalled.calls.map(([query]) => query)).toEqual([question]);
    expect(added.calls).toHaveLength(1);
    expect((await memory.pages())[0]).toMatchObject({ userInput: question, agentResponse: 'Let me see.\nRex eats at noon.' });
    // Each step sees the same block, in the user's message and nowhere else.
    const blocks = asked.map(({ prompt }) => JSON.stringify(prompt).match(/<memory [0-9a-f]{8}>/g));
    expect(blocks.map((found) => found?.length)).toEqual([1, 1, 1]);
    expect(new Set(blocks.flat()).size).toBe(1);
    const message = asked[2]?.prompt.find(({ role }) => role === 'user');
    expect(message?.content).toMatchObject([{ text: expect.stringMatching(/^<memory [^]*called Rex[^]*<\/memory \w+>\n\n$/) as string }, { text: question }]);
    expect(asked[2]?.prompt.filter(({ role }) => role === 'system')).toEqual([]);
  });

  test('what stands in the conversation is not recalled beside it', async () => {
    const memory = await opened();
    const { model, asked } = wrapped(memory, [{ text: 'A fine name.' }, { text: 'Rex.' }, { text: 'Rex!' }]);
    const first = [{ role: 'user', content: 'My dog is called Rex.' }];
    await sdk.generateText({ model, messages: first });
    const second = [...first, { role: 'assistant', content: 'A fine name.' }, { role: 'user', content: 'What is my dog called?' }];
    await sdk.generateText({ model, messages: second });
    expect(JSON.stringify(asked[1]?.prompt)).not.toContain('<memory');
    // In another conversation it is.
    await sdk.generateText({ model, prompt: 'What is the name of my dog?' });
    expect(JSON.stringify(asked[2]?.prompt)).toMatch(/<memory [^]*My dog is called Rex/);
    expect((await memory.pages()).map(({ agentResponse }) => agentResponse)).toEqual(['Rex!', 'Rex.', 'A fine name.']);
  });

  test('facts are recalled in the midst of a conversation, and the filter of the caller holds', async () => {
    const memory = await opened();
    await memory.addFact({ attribute: 'name of the dog', value: 'Rex' });
    const [other] = await memory.addMany([{ userInput: 'A dog called Tom barked.', agentResponse: '' }]);
    const { model, asked } = wrapped(memory, [{ text: 'Hello.' }, { text: 'Rex.' }], { retrieve: { filter: { exclude: [other?.id as string] } } });
    await sdk.generateText({ model, prompt: 'Hello!' });
    const messages = [{ role: 'user', content: 'Hello!' }, { role: 'assistant', content: 'Hello.' }, { role: 'user', content: 'The name of the dog?' }];
    await sdk.generateText({ model, messages });
    expect(JSON.stringify(asked[1]?.prompt)).toMatch(/<memory [^]*name of the dog: Rex/);
    expect(JSON.stringify(asked[1]?.prompt)).not.toContain('Tom');
  });

  test.each(['generateText', 'streamText'] as const)('a memory that fails breaks no call: %s', async (how) => {
    const memory = await remembering();
    await memory.close();
    const told: string[] = [];
    const { model } = wrapped(memory, [{ text: 'Hello.' }], {
      onError: ({ code }, during) => {
        told.push(`${during} ${code}`);
        throw new Error('the listener fails too');
      },
    });
    expect(await generate(how, { model, prompt: question })).toBe('Hello.');
    expect(told).toEqual(['recall CLOSED', 'store CLOSED']);
  });

  test.each([
    { method: 'pages', during: 'recall', others: 'store' },
    { method: 'retrieve', during: 'recall', others: 'store' },
    { method: 'addMemory', during: 'store', others: 'recall' },
  ])('a memory whose $method hangs is waited for only so long', async ({ method, during, others }) => {
    const memory = await remembering();
    const told: string[] = [];
    const options: MemoryMiddlewareOptions = { timeoutMs: 1, onError: ({ code }, during) => told.push(`${during} ${code}`) };
    Object.defineProperty(memory, method, { value: () => new Promise(() => undefined) });
    const { model } = wrapped(memory, [{ text: 'Hello.' }], options);
    expect((await sdk.generateText({ model, prompt: question, providerOptions: { memstrata: { [others]: false } } })).text).toBe('Hello.');
    expect(told).toEqual([`${during} PROVIDER_TIMEOUT`]);
  });

  test('a prompt that cannot be read is answered all the same', async () => {
    const told: string[] = [];
    const { model, asked } = wrapped(await opened(), [{ text: 'Hello.' }], { onError: ({ code }) => told.push(code) });
    const { content } = await model.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi', providerOptions: { mock: { n: 1n } } }] }], providerOptions: { memstrata: { session: 's' }, mock: { seen: true } },
    });
    expect(content).toContainEqual({ type: 'text', text: 'Hello.' });
    expect(told).toEqual(['INTERNAL']);
    expect(asked[0]?.providerOptions).toEqual({ mock: { seen: true } });
  });

  test('a call says what it wants, and its provider does not hear of it', async () => {
    const memory = await remembering();
    const { model, asked } = wrapped(memory, [{ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'd' }], { session: 'usual', metadata: { app: 'test' } });
    const ask = (memstrata: object) => sdk.generateText({ model, prompt: question, providerOptions: { memstrata, mock: { seen: true } } });
    await ask({ enabled: false });
    await ask({ recall: false, session: 'other' });
    await ask({ store: false });
    await ask({});
    expect(asked.map(({ providerOptions }) => providerOptions)).toEqual(Array(4).fill({ mock: { seen: true } }));
    expect(asked.map(({ prompt }) => JSON.stringify(prompt).includes('<memory'))).toEqual([false, false, true, true]);
    const stored = (await memory.pages()).slice(0, -1);
    expect(stored.map(({ agentResponse, session }) => [agentResponse, session])).toEqual([['d', 'usual'], ['b', 'other']]);
    expect(stored[0]?.metadata).toMatchObject({ app: 'test' });
  });

  test('case_15_the_same_message_id_is_stored_once_also_by_another_middleware', async () => {
    const memory = await opened();
    const messages = [{ role: 'user', content: [{ type: 'text', text: question }], providerOptions: { memstrata: { id: 'm1' } } }];
    for (let run = 0; run < 3; run++) {
      const { model, asked } = wrapped(memory, [{ text: `answer ${run}` }]);
      await sdk.generateText({ model, messages });
      expect(JSON.stringify(asked[0])).not.toContain('m1');
    }
    expect((await memory.pages()).map(({ clientId, agentResponse }) => [clientId, agentResponse])).toEqual([['m1', 'answer 0']]);
  });

  test.each([undefined, 'm1'])('a call that fails leaves the user’s message; the next one of the turn completes it (id %s)', async (id) => {
    const memory = await opened();
    const args = { prompt: question, maxRetries: 0, providerOptions: { memstrata: { id } } };
    const { model, middleware } = wrapped(memory, [new Error('down'), new Error('down'), { text: 'At noon.' }]);
    await expect(sdk.generateText({ model, ...args })).rejects.toThrow('down');
    await generate('streamText', { model, ...args });
    await middleware.settle();
    expect((await memory.pages()).map(({ userInput, agentResponse }) => [userInput, agentResponse])).toEqual([[question, '']]);
    await sdk.generateText({ model, ...args });
    expect((await memory.pages()).map(({ userInput, agentResponse }) => [userInput, agentResponse])).toEqual([[question, 'At noon.']]);
  });

  test('a turn that is whole stays so, whatever is asked and fails under its id', async () => {
    const memory = await opened();
    const args = { prompt: question, maxRetries: 0, providerOptions: { memstrata: { id: 'm1' } } };
    const { model } = wrapped(memory, [{ text: 'At noon.' }, new Error('down'), { text: 'At one.' }]);
    await sdk.generateText({ model, ...args });
    await expect(sdk.generateText({ model, ...args })).rejects.toThrow('down');
    await sdk.generateText({ model, ...args });
    expect((await memory.pages()).map(({ agentResponse }) => agentResponse)).toEqual(['At noon.']);
  });

  test('a message that an earlier run left without an answer gets it, by its id', async () => {
    const memory = await opened();
    await memory.addMemory({ userInput: question, agentResponse: '', id: 'm1' });
    const { model } = wrapped(memory, [{ text: 'At noon.' }]);
    await sdk.generateText({ model, prompt: question, providerOptions: { memstrata: { id: 'm1' } } });
    expect((await memory.pages()).map(({ clientId, agentResponse }) => [clientId, agentResponse])).toEqual([['m1', 'At noon.']]);
  });

  test('case_17_a_stream_that_is_cancelled_or_aborted_leaves_the_user_s_message', async () => {
    const memory = await opened();
    const { model, middleware } = wrapped(memory, [{ text: 'one two three four' }, { text: 'one two three four' }]);
    const part = { role: 'user', content: [{ type: 'text', text: 'first' }] };
    const cancelled = await model.doStream({ prompt: [part] });
    const reader = (cancelled.stream as ReadableStream).getReader();
    for (let part = 0; part < 3; part++) await reader.read();
    await reader.cancel();
    const controller = new AbortController();
    const aborted = sdk.streamText({ model, prompt: 'second', abortSignal: controller.signal, onError: () => undefined });
    for await (const _piece of aborted.textStream) controller.abort();
    await middleware.settle();
    expect((await memory.pages()).map(({ userInput, agentResponse }) => [userInput, agentResponse])).toEqual([['second', ''], ['first', '']]);
  });

  test('a stream that fails half way leaves the user’s message, and fails as it did', async () => {
    const memory = await opened();
    const middleware = memoryMiddleware(memory);
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue({ type: 'text-start', id: 't' });
        controller.enqueue({ type: 'text-delta', id: 't', delta: 'half' });
      },
      pull: (controller) => controller.error(new Error('the line is dead')),
    });
    const model = sdk.wrapLanguageModel({ model: new Mock({ doStream: async () => ({ stream: broken }) }), middleware });
    await expect(generate('streamText', { model, prompt: question })).rejects.toThrow('the line is dead');
    expect((await memory.pages()).map(({ userInput, agentResponse }) => [userInput, agentResponse])).toEqual([[question, '']]);
  });

  test('a turn that ends at a tool is stored when the conversation goes on, or at settle', async () => {
    const memory = await opened();
    const { model, middleware } = wrapped(memory, [{ text: 'Let me see.', call: true }, { text: 'Fine.' }, { text: 'Again.', call: true }]);
    const tools = { clock: clock() };
    const { response } = await sdk.generateText({ model, prompt: question, tools });
    expect(await memory.pages()).toEqual([]);
    const messages = [{ role: 'user', content: question }, ...response.messages, { role: 'user', content: 'Thanks.' }];
    await sdk.generateText({ model, messages, tools });
    await middleware.settle();
    expect((await memory.pages()).map(({ agentResponse }) => agentResponse).sort()).toEqual(['Fine.', 'Let me see.']);
    await sdk.generateText({ model, prompt: 'And now?', tools });
    await middleware.settle();
    await middleware.settle();
    expect((await memory.pages()).map(({ agentResponse }) => agentResponse).sort()).toEqual(['Again.', 'Fine.', 'Let me see.']);
  });

  test('case_11_files_are_kept_as_references_and_case_14_recalled_blocks_are_stripped', async () => {
    const memory = await remembering();
    const { model, asked } = wrapped(memory, [{ text: 'A dog.' }, { text: 'Rex.' }]);
    await sdk.generateText({
      model,
      messages: [{ role: 'user', content: [
        { type: 'text', text: 'What is' },
        { type: 'file', data: new URL('https://example.org/a.png'), mediaType: 'image/png' },
        { type: 'file', data: new Uint8Array(5_000), mediaType: 'application/pdf', filename: 'b.pdf' },
        { type: 'text', text: 'this dog?' },
      ] }],
      experimental_download: async (all: unknown[]) => all.map(() => null),
    });
    const [page] = await memory.pages();
    expect(page).toMatchObject({ userInput: 'What is\nthis dog?', agentResponse: 'A dog.' });
    expect(page?.metadata.attachments).toEqual([
      { side: 'user', type: 'file', mediaType: 'image/png', url: 'https://example.org/a.png' },
      { side: 'user', type: 'file', mediaType: 'application/pdf', filename: 'b.pdf' },
    ]);
    const [block] = /<memory [^]*<\/memory \w+>/.exec(String((asked[0]?.prompt[0]?.content[0] as { text: string }).text)) as RegExpExecArray;
    await sdk.generateText({ model, prompt: `${block}\n\nSo what is it called?` });
    expect((await memory.pages())[0]?.userInput).toBe('So what is it called?');
  });

  test('turns at once do not mix', async () => {
    const memory = await opened();
    const answers = new Mock({
      doGenerate: async ({ prompt }: Asked) => {
        const text = (prompt.at(-1)?.content as { text: string }[]).at(-1)?.text ?? '';
        return { content: [{ type: 'text', text: `re: ${text}` }], finishReason: reason({}), usage, warnings: [] };
      },
    });
    const model = sdk.wrapLanguageModel({ model: answers, middleware: memoryMiddleware(memory) });
    await Promise.all(Array.from({ length: 20 }, (_, at) => sdk.generateText({ model, prompt: `question ${at}` })));
    const pages = await memory.pages();
    expect(pages).toHaveLength(20);
    for (const { userInput, agentResponse } of pages) expect(agentResponse).toBe(`re: ${userInput}`);
  });
});

test('the middleware fits the types of both versions', async () => {
  const middleware = memoryMiddleware(await opened(), { retrieve: { topK: 3 } });
  const seven: sdk7.LanguageModelMiddleware = middleware;
  const six: sdk6.LanguageModelMiddleware = middleware;
  sdk7.wrapLanguageModel({ model: new MockLanguageModelV4(), middleware });
  sdk6.wrapLanguageModel({ model: new MockLanguageModelV3(), middleware });
  expect([seven, six]).toEqual([middleware, middleware]);
});
