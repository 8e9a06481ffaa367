import { describe, expect, test } from 'vitest';
import { fakeExtractor, fakeGenerator } from '../fixtures/engines.js';
import type { ModelScript } from './conformance.js';
import { TextPieces } from './text-pieces.js';
import { EMBEDDING_RECIPES, recipeOf, transformersJs, transformersJsEmbedder } from './transformers-js.js';

const SAYS: ModelScript = { pieces: ['你好🌍', '\nworld'], end: 'stop' };
const HELLO = { messages: [{ role: 'user' as const, content: 'hello' }] };

describe('chat', () => {
  test('asks for as many tokens as it may have, and counts them', async () => {
    const pipeline = fakeGenerator(SAYS);
    const result = await transformersJs({ pipeline, model: 'm', thinking: false }).chat({ ...HELLO, temperature: 0 });
    // Ten bytes, a line's end, five letters, and the token that ends it.
    expect(result).toEqual({ text: '你好🌍\nworld', finishReason: 'stop', usage: { inputTokens: 3, outputTokens: 17 } });
    expect(pipeline.calls[0]?.options).toMatchObject({ max_new_tokens: 1_024, do_sample: false, tokenizer_encode_kwargs: { enable_thinking: false } });
    await transformersJs({ pipeline, model: 'm', maxOutputTokens: 99 }).chat({ ...HELLO, temperature: 0.5 });
    expect(pipeline.calls[1]?.options).toMatchObject({ max_new_tokens: 99, do_sample: true, temperature: 0.5 });
    expect(pipeline.calls[1]?.messages).toEqual(HELLO.messages);
  });

  test('an answer that just fits is whole if a token ends it, and cut off if none does', async () => {
    const whole = await transformersJs({ pipeline: fakeGenerator({ pieces: ['abc'], end: 'stop' }), model: 'm' }).chat({ ...HELLO, maxOutputTokens: 4 });
    expect([whole.text, whole.finishReason]).toEqual(['abc', 'stop']);
    const cut = await transformersJs({ pipeline: fakeGenerator({ pieces: ['abc'], end: 'length' }), model: 'm' }).chat({ ...HELLO, maxOutputTokens: 3 });
    expect([cut.text, cut.finishReason]).toEqual(['abc', 'length']);
  });

  test('a pipeline that streams nothing is read from what it returns, and why it ended is not known', async () => {
    const silent = Object.assign(async () => [{ generated_text: [...HELLO.messages, { role: 'assistant', content: 'ok' }] }], { tokenizer: {} });
    expect(await transformersJs({ pipeline: silent, model: 'm' }).chat(HELLO)).toMatchObject({ text: 'ok', finishReason: 'unknown' });
    const odd = Object.assign(async () => [{}], { tokenizer: {} });
    await expect(transformersJs({ pipeline: odd, model: 'm' }).chat(HELLO)).rejects.toMatchObject({ code: 'PROVIDER_BAD_REPLY' });
  });

  test('what makes a pipeline is called at the first use, once, and again if it failed', async () => {
    let calls = 0;
    const load = async () => {
      if (++calls === 1) throw new Error('download broke off');
      return fakeGenerator(SAYS);
    };
    const model = transformersJs({ load, model: 'm' });
    expect(calls).toBe(0);
    await expect(model.chat(HELLO)).rejects.toMatchObject({ code: 'PROVIDER_FAILED', message: 'Transformers.js failed: download broke off' });
    await Promise.all([model.chat(HELLO), model.chat(HELLO)]);
    expect(calls).toBe(2);
    expect(() => transformersJs({ model: 'm' } as never)).toThrow(/pass a `pipeline`/);
  });

  test('two answers do not run at once', async () => {
    let running = 0;
    let most = 0;
    const inner = fakeGenerator(SAYS);
    const pipeline = Object.assign(async (messages: unknown, options: unknown) => {
      most = Math.max(most, ++running);
      try {
        return await inner(messages, options);
      } finally {
        running--;
      }
    }, { tokenizer: inner.tokenizer as unknown, model: inner.model as unknown });
    const model = transformersJs({ pipeline, model: 'm' });
    await Promise.all([model.chat(HELLO), model.chat(HELLO), model.chat(HELLO)]);
    expect(most).toBe(1);
  });
});

describe('pieces of text', () => {
  /** As decoders of the SentencePiece kind: a space before a word is part of its token, and left out at the front of a text. */
  const WORDS = ['', '▁The', '▁lease', '\n', '▁▁ends', '▁in', '▁May'];
  const decoder = { decode: (tokens: bigint[]) => tokens.map((token) => WORDS[Number(token)]).join('').replaceAll('▁', ' ').replace(/^ /, '') };

  test('keep their spaces, also behind a line’s end', () => {
    const out: string[] = [];
    const pieces = new TextPieces(decoder, (piece) => out.push(piece));
    pieces.put([[0n, 0n]]);
    for (const token of [1n, 2n, 3n, 4n, 5n, 6n]) pieces.put([[token]]);
    pieces.end();
    expect(out).toEqual(['The', ' lease', '\n', '  ends', ' in', ' May']);
    expect([pieces.inputTokens, pieces.outputTokens, pieces.lastToken]).toEqual([2, 6, '6']);
  });

  test('hold a character back until its last token, and give out half of one at the end alone', () => {
    const utf8 = { decode: (tokens: bigint[]) => new TextDecoder().decode(Uint8Array.from(tokens, Number)) };
    const out: string[] = [];
    const pieces = new TextPieces(utf8, (piece) => out.push(piece));
    pieces.put([[1n]]);
    for (const byte of new TextEncoder().encode('a你')) pieces.put([[byte]]);
    pieces.put([[0xe4]]);
    expect(out).toEqual(['a', '你']);
    pieces.end();
    expect(out).toEqual(['a', '你', '\uFFFD']);
  });
});

describe('embeddings', () => {
  const vectors = [[0.6, 0.8], [1, 0]];
  const embed = async (options: Partial<Parameters<typeof transformersJsEmbedder>[0]>, kind: 'query' | 'passage' = 'query') => {
    const pipeline = fakeExtractor({ pieces: [], end: 'stop', vectors });
    const model = transformersJsEmbedder({ pipeline, model: 'm', dimensions: 2, ...options } as Parameters<typeof transformersJsEmbedder>[0]);
    await model.embed({ texts: ['a', 'b'], kind });
    return pipeline.calls;
  };

  test('o24_a_family_is_pooled_and_prefixed_as_its_makers_say', async () => {
    expect(await embed({ model: 'Xenova/multilingual-e5-small' })).toEqual([{ texts: ['query: a', 'query: b'], options: { pooling: 'mean', normalize: true } }]);
    expect((await embed({ model: 'Xenova/multilingual-e5-small' }, 'passage'))[0]?.texts).toEqual(['passage: a', 'passage: b']);
    expect((await embed({ model: 'Xenova/bge-small-zh-v1.5' }))[0]).toEqual({ texts: ['为这个句子生成表示以用于检索相关文章：a', '为这个句子生成表示以用于检索相关文章：b'], options: { pooling: 'cls', normalize: true } });
    expect((await embed({ model: 'Xenova/bge-small-zh-v1.5' }, 'passage'))[0]?.texts).toEqual(['a', 'b']);
    expect((await embed({ model: 'Xenova/bge-m3' }))[0]?.texts).toEqual(['a', 'b']);
    expect((await embed({ model: 'mine', recipe: { pooling: 'cls', queryPrefix: '? ' } }))[0]).toEqual({ texts: ['? a', '? b'], options: { pooling: 'cls', normalize: true } });
  });

  test('o24_where_the_last_token_counts_no_text_is_padded', async () => {
    const calls = await embed({ model: 'onnx-community/Qwen3-Embedding-0.6B-ONNX' }, 'passage');
    expect(calls).toEqual(['a', 'b'].map((text) => ({ texts: [text], options: { pooling: 'last_token', normalize: true } })));
    expect((await embed({ model: 'onnx-community/Qwen3-Embedding-0.6B-ONNX' }))[0]?.texts[0]).toMatch(/^Instruct: .+\nQuery:a$/);
  });

  test('o24_the_length_is_known_by_the_name_of_many', () => {
    const lengths = {
      'Xenova/all-MiniLM-L6-v2': 384, 'Xenova/paraphrase-multilingual-MiniLM-L12-v2': 384, 'intfloat/multilingual-e5-large-instruct': 1024, 'Xenova/e5-base-v2': 768, 'BAAI/bge-m3': 1024,
      'Xenova/bge-large-en-v1.5': 1024, 'Xenova/bge-small-zh-v1.5': 512, 'onnx-community/Qwen3-Embedding-0.6B-ONNX': 1024, 'onnx-community/embeddinggemma-300m-ONNX': 768, 'nomic-ai/nomic-embed-text-v1.5': 768,
      'Snowflake/snowflake-arctic-embed-m': 768, 'Snowflake/snowflake-arctic-embed-xs': 384, 'mixedbread-ai/mxbai-embed-large-v1': 1024, 'Supabase/gte-small': 384,
    };
    expect(Object.fromEntries(Object.keys(lengths).map((name) => [name, recipeOf(name)?.dimensions]))).toEqual(lengths);
    expect(transformersJsEmbedder({ load: () => Promise.reject(new Error('never')), model: 'BAAI/bge-m3' }).dimensions).toBe(1024);
    expect(recipeOf('someone/new-model')).toBeUndefined();
    expect(() => transformersJsEmbedder({ load: () => Promise.reject(new Error('never')), model: 'someone/new-model' })).toThrow(/pass it as `dimensions`/);
    // Every family is reachable: none is hidden by one before it.
    expect(new Set(Object.keys(lengths).map((name) => EMBEDDING_RECIPES.findIndex((family) => family.name.test(name)))).size).toBe(EMBEDDING_RECIPES.length);
  });

  test('o24_a_tensor_that_was_not_pooled_is_a_bad_reply', async () => {
    const pipeline = async () => ({ data: new Float32Array(12), dims: [2, 3, 2] });
    await expect(transformersJsEmbedder({ pipeline, model: 'm', dimensions: 2 }).embed({ texts: ['a', 'b'], kind: 'query' })).rejects.toMatchObject({ code: 'PROVIDER_BAD_REPLY', message: expect.stringContaining('does not pool') as string });
  });
});
