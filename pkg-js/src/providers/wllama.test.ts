import { expect, test } from 'vitest';
import { fakeWllama } from '../fixtures/engines.js';
import { wllama } from './wllama.js';

const ASK = { messages: [{ role: 'user' as const, content: 'hello' }], responseSchema: { name: 'facts', schema: { type: 'object' } } };

test('a request is in the dialect of OpenAI, streamed, with its switch for thinking', async () => {
  const instance = fakeWllama({ pieces: ['a'], end: 'stop' });
  await wllama({ wllama: instance, model: 'm', thinking: false }).chat({ messages: ASK.messages, maxOutputTokens: 5, temperature: 0 });
  expect(instance.requests).toEqual([
    { model: 'm', messages: ASK.messages, max_tokens: 5, temperature: 0, stream: true, stream_options: { include_usage: true }, chat_template_kwargs: { enable_thinking: false } },
  ]);
});

test('case_43_every_way_of_asking_for_json_is_there_and_a_refusal_is_remembered', async () => {
  const instance = fakeWllama({ pieces: ['{}'], end: 'stop' });
  const complete = instance.createChatCompletion.bind(instance);
  const picky = { ...instance, createChatCompletion: async (request: Record<string, unknown>) => ('response_format' in request ? Promise.reject(new Error('failed to parse grammar')) : complete(request)) };
  const model = wllama({ wllama: picky, model: 'm' });
  for (let i = 0; i < 2; i++) expect(await model.chat(ASK)).toMatchObject({ text: '{}', outputMode: 'tool_call' });
  expect(instance.requests.map((request) => 'tools' in request)).toEqual([true, true]);
  // Another failure is no refusal, and nothing is learnt from it.
  const broken = wllama({ wllama: fakeWllama({ pieces: [], end: 'stop', failure: 'out of memory' }), model: 'm' });
  await expect(broken.chat(ASK)).rejects.toMatchObject({ code: 'PROVIDER_FAILED', message: 'wllama failed: out of memory' });
});

test('case_17_the_signal_is_handed_on_so_that_the_model_stops_too', async () => {
  const instance = fakeWllama({ pieces: ['a'], end: 'stop', hangs: true });
  let ended: Promise<unknown> = Promise.resolve();
  const complete = instance.createChatCompletion.bind(instance);
  const watched = {
    async createChatCompletion(request: Record<string, unknown>) {
      const chunks = (await complete(request)) as AsyncGenerator<unknown>;
      return (async function* () {
        let end: (error: unknown) => void = () => undefined;
        ended = new Promise((resolve) => (end = resolve));
        try {
          yield* chunks;
        } catch (error) {
          end(error);
          throw error;
        }
      })();
    },
  };
  const cut = new AbortController();
  await expect(wllama({ wllama: watched, model: 'm' }).chat({ messages: ASK.messages, abortSignal: cut.signal, onText: () => cut.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await ended).toMatchObject({ name: 'AbortError' });
});

test('an instance without embeddings says what it said', async () => {
  const instance = { ...fakeWllama({ pieces: [], end: 'stop' }), createEmbedding: () => Promise.reject(new Error('Embeddings is not enabled. Please set it via LoadModelParams.embeddings')) };
  await expect(wllama({ wllama: instance, model: 'm', dimensions: 2 }).embed({ texts: ['a'], kind: 'query' })).rejects.toThrow(/LoadModelParams\.embeddings/);
});
