/**
 * What every provider must do, whatever stands behind it. A test says how the model is to behave, and the subject makes a
 * provider over one that does. Run with any test runner:
 * `for (const { name, run } of providerConformance({ chat: (script) => myProvider(fakeOf(script)) })) test(name, run)`.
 */
import { isMemoryOSError, MemoryOSError } from '../errors.js';
import type { ConformanceTest } from '../storage/conformance.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel } from './types.js';

/** How the model behaves in one test. */
export interface ModelScript {
  /** The answer, in the pieces it is made in. */
  pieces: string[];
  /** How it ends: by itself, at the limit of tokens, by the maker's filter. */
  end: 'stop' | 'length' | 'refusal';
  /** It fails with these words once all pieces are out. */
  failure?: string;
  /** It never ends once all pieces are out. */
  hangs?: boolean;
  /** What it embeds texts to, in their order; the k-th text of a call to the k-th of these. */
  vectors?: number[][];
}

/** A provider under test: how it is made over a scripted model, and what its API cannot do. */
export interface ProviderSubject {
  chat?(script: ModelScript): ChatModel | Promise<ChatModel>;
  /** Vectors have two dimensions. */
  embedder?(script: ModelScript): EmbeddingModel | Promise<EmbeddingModel>;
  /** What this kind of model gives no sign of. */
  cannotTell?: ('length' | 'refusal')[];
}

const ASK: ChatRequest = { messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello' }], maxOutputTokens: 64 };
const SCHEMA = { name: 'facts', schema: { type: 'object', properties: { facts: { type: 'array', items: { type: 'string' } } }, required: ['facts'], additionalProperties: false } };
const PIECES = ['你', '好', '🌍', ', ', 'wor', 'ld', '\n'];
const JSON_PIECES = ['{"facts":', '["你好"]', '}'];

/** Tests that every provider has to pass, for the runner of your choice: each has a name and a function that rejects when it fails. */
export function providerConformance(subject: ProviderSubject): ConformanceTest[] {
  const { chat, embedder, cannotTell = [] } = subject;
  const made = async (script: Partial<ModelScript>): Promise<ChatModel> => (chat as NonNullable<typeof chat>)({ pieces: PIECES, end: 'stop', ...script });
  const tests: ConformanceTest[] = [];
  const test = (name: string, run: () => Promise<void>): void => void tests.push({ name, run });

  if (chat) {
    test('says what it is', async () => {
      const model = await made({});
      equal([model.specificationVersion, typeof model.provider, typeof model.modelId], ['memstrata-v1', 'string', 'string']);
    });

    test('an answer is exact, and streamed it is the same, piece by piece', async () => {
      const whole = await (await made({})).chat(ASK);
      equal([whole.text, whole.finishReason], [PIECES.join(''), 'stop']);
      const heard: string[] = [];
      const streamed = await (await made({})).chat({ ...ASK, onText: (piece) => heard.push(piece) });
      equal([streamed.text, streamed.finishReason, heard.join('')], [PIECES.join(''), 'stop', PIECES.join('')]);
      equal(heard.every((piece) => piece !== ''), true);
    });

    test('the messages it was given are as they were', async () => {
      const messages = [...ASK.messages, { role: 'assistant' as const, content: 'Hi' }, { role: 'user' as const, content: 'And?' }];
      const before = JSON.stringify(messages);
      await (await made({ pieces: JSON_PIECES })).chat({ messages, responseSchema: SCHEMA });
      equal(JSON.stringify(messages), before);
    });

    test('usage is whole numbers or left out', async () => {
      const { usage = {} } = await (await made({})).chat(ASK);
      equal(Object.values(usage).every((count) => Number.isInteger(count) && count >= 0), true);
    });

    test('an empty answer is empty and no failure', async () => {
      for (const onText of [undefined, () => undefined]) {
        const { text, finishReason } = await (await made({ pieces: [] })).chat({ ...ASK, ...(onText ? { onText } : {}) });
        equal([text, finishReason], ['', 'stop']);
      }
    });

    if (!cannotTell.includes('length')) {
      test('an answer that was cut off says so', async () => {
        for (const onText of [undefined, () => undefined]) {
          const { text, finishReason } = await (await made({ end: 'length' })).chat({ ...ASK, maxOutputTokens: PIECES.length, ...(onText ? { onText } : {}) });
          equal([text, finishReason], [PIECES.join(''), 'length']);
        }
      });
    }

    if (!cannotTell.includes('refusal')) {
      test('a refusal is told from an answer', async () => {
        for (const onText of [undefined, () => undefined]) {
          const { finishReason } = await (await made({ pieces: [], end: 'refusal' })).chat({ ...ASK, ...(onText ? { onText } : {}) });
          equal(finishReason, 'content-filter');
        }
      });
    }

    test('an answer by schema is its JSON, streamed too, and says how it was asked for if more weakly', async () => {
      for (const outputMode of ['json_schema', 'plain'] as const) {
        const heard: string[] = [];
        const request = { ...ASK, responseSchema: SCHEMA, outputMode };
        const streamed = await (await made({ pieces: JSON_PIECES })).chat({ ...request, onText: (piece) => heard.push(piece) });
        const whole = await (await made({ pieces: JSON_PIECES })).chat(request);
        for (const text of [streamed.text, whole.text, heard.join('')]) equal(JSON.parse(text), { facts: ['你好'] });
        equal(streamed.outputMode, whole.outputMode);
        if (outputMode === 'plain') equal(whole.outputMode === undefined, true);
      }
    });

    test('a failure before the answer is a MemoryOSError with its cause', async () => {
      const error = await failure(made({ pieces: [], failure: 'out of memory' }).then((model) => model.chat(ASK)));
      equal([error.code, error.message.includes('out of memory')], ['PROVIDER_FAILED', true]);
      equal(error.cause !== undefined, true);
    });

    test('a failure in the middle fails, and what was heard stays heard', async () => {
      const heard: string[] = [];
      const error = await failure(made({ failure: 'device lost' }).then((model) => model.chat({ ...ASK, onText: (piece) => heard.push(piece) })));
      equal([error.code, error.message.includes('device lost')], ['PROVIDER_FAILED', true]);
      equal(PIECES.join('').startsWith(heard.join('')), true);
    });

    test('a signal that has fired stops a call before it begins', async () => {
      const signal = AbortSignal.abort('no need');
      const heard: string[] = [];
      const error = await failure(made({}).then((model) => model.chat({ ...ASK, abortSignal: signal, onText: (piece) => heard.push(piece) })));
      equal([error.code, heard], ['ABORTED', []]);
    });

    test('a signal in the middle stops an answer that would never end, and the next call works', async () => {
      const cut = new AbortController();
      const model = await made({ hangs: true });
      const error = await failure(model.chat({ ...ASK, abortSignal: cut.signal, onText: () => cut.abort('enough') }));
      equal([error.code, error.cause], ['ABORTED', 'enough']);
      const again = new AbortController();
      const next = model.chat({ ...ASK, abortSignal: again.signal, onText: () => again.abort() });
      equal((await failure(next)).code, 'ABORTED');
    });
  }

  if (embedder) {
    const ask = { texts: ['a', 'b'], kind: 'passage' as const };
    const embed = async (vectors: number[][], kind: 'passage' | 'query' = 'passage') => (await embedder({ pieces: [], end: 'stop', vectors })).embed({ ...ask, kind });

    test('vectors come one a text, in the order of the texts', async () => {
      for (const kind of ['query', 'passage'] as const) {
        const { vectors } = await embed([[0.6, 0.8], [1, 0]], kind);
        equal(vectors.map((vector) => vector instanceof Float32Array), [true, true]);
        equal(vectors.map((vector) => [...vector].map((value) => Math.round(value * 1e6) / 1e6)), [[0.6, 0.8], [1, 0]]);
      }
    });

    test('a wrong number of vectors is a bad reply', async () => {
      for (const vectors of [[[1, 0]], [[1, 0], [1, 0], [1, 0]], []]) equal((await failure(embed(vectors))).code, 'PROVIDER_BAD_REPLY');
    });

    test('vectors of another length are a DIMENSION_MISMATCH', async () => {
      const error = await failure(embed([[1, 0, 0], [0, 1, 0]]));
      equal([error.code, error.data], ['DIMENSION_MISMATCH', { expected: 2, got: 3 }]);
    });

    test('a number that is not finite is a bad reply', async () => {
      equal((await failure(embed([[1, 0], [Number.NaN, 0]]))).code, 'PROVIDER_BAD_REPLY');
    });

    test('a signal that has fired stops embedding', async () => {
      const model = await embedder({ pieces: [], end: 'stop', vectors: [[1, 0], [0, 1]] });
      equal((await failure(model.embed({ ...ask, abortSignal: AbortSignal.abort() }))).code, 'ABORTED');
    });
  }
  return tests;
}

async function failure(promise: Promise<ChatResult | { vectors: unknown }>): Promise<MemoryOSError> {
  const outcome = await promise.then((value) => ({ value }), (error: unknown) => ({ error }));
  if (!('error' in outcome)) throw new Error(`provider conformance: expected a failure, got ${JSON.stringify(outcome.value)}`);
  if (!isMemoryOSError(outcome.error)) throw new Error(`provider conformance: expected a MemoryOSError, got ${String(outcome.error)}`);
  return outcome.error;
}

function equal(actual: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`provider conformance: expected ${right}, got ${left}`);
}
