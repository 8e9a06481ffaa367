/**
 * Models that Transformers.js runs in the page: a `text-generation` pipeline that chats, a `feature-extraction` pipeline that embeds. The
 * caller gives them, or a function that makes them when they are first needed; the package itself is never imported here.
 */
import { aborted, invalid, MemoryOSError } from '../errors.js';
import { show } from '../text.js';
import { recipeOf } from './embedding-recipes.js';
import type { EmbeddingRecipe } from './embedding-recipes.js';
import { badReply } from './failure.js';
import { providerFailure, Turns } from './object-model.js';
import { messagesFor } from './quirks.js';
import { checkDimensions } from './server.js';
import { TextPieces } from './text-pieces.js';
import type { TokenDecoder } from './text-pieces.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel } from './types.js';
import { readVectors } from './vectors.js';

export type { EmbeddingRecipe } from './embedding-recipes.js';
export { EMBEDDING_RECIPES, recipeOf } from './embedding-recipes.js';

/** What is used of a `text-generation` pipeline. */
export interface GenerationPipeline {
  // Its own type is generic over every form of input.
  (messages: any, options?: any): Promise<unknown>;
  tokenizer: any;
  model?: any;
}

/** What is used of a `feature-extraction` pipeline. */
export interface ExtractionPipeline {
  (texts: string[], options?: { pooling?: 'none' | 'mean' | 'cls' | 'last_token'; normalize?: boolean }): Promise<ExtractedTensor>;
}

/** What is used of a `Tensor`. */
export interface ExtractedTensor {
  // Numbers of any width: the typed array tells.
  data: any;
  dims: readonly number[];
  dispose?(): unknown;
}

/** A pipeline, or what makes it at its first use; `load` is called again if it fails. */
type Given<P> = { pipeline: P; load?: undefined } | { load: () => Promise<P>; pipeline?: undefined };

/** A text-generation pipeline, or how to load one. */
export type TransformersChatOptions = Given<GenerationPipeline> & {
  model: string;
  /** Most tokens of an answer to a request that sets no limit itself. Default 1,024. */
  maxOutputTokens?: number;
  /** Switches thinking on or off, where the model's template has a switch. */
  thinking?: boolean;
};

/** A feature-extraction pipeline, or how to load one; pooling and prefixes follow the model. */
export type TransformersEmbeddingOptions = Given<ExtractionPipeline> & {
  /** Name of the model, by which pooling and prefixes are known for some families: see `EMBEDDING_RECIPES`. */
  model: string;
  /** Length of the vectors. Needed where the name does not tell. */
  dimensions?: number;
  /** In place of what is known by the name. */
  recipe?: Partial<EmbeddingRecipe>;
  /** Default 16. */
  maxEmbeddingsPerCall?: number;
};

const WHO = { shown: 'Transformers.js' };

/** A chat model over a pipeline of Transformers.js, which runs in the page. Throws INVALID_ARGUMENT without a pipeline. */
export function transformersJs(options: TransformersChatOptions): ChatModel {
  if (typeof options?.model !== 'string' || options.model === '') throw invalid(`model must be the name of a model, got ${show(options?.model)}`);
  const { model, maxOutputTokens = 1_024, thinking } = options;
  const pipeline = lazily<GenerationPipeline>(options);
  // Two answers at once would share one cache of keys and values.
  const turns = new Turns();
  return {
    specificationVersion: 'memstrata-v1',
    provider: 'transformers-js',
    modelId: model,
    maxConcurrency: 1,
    async chat(request) {
      const { abortSignal } = request;
      try {
        const result = await turns.run(abortSignal, async () => generate(await pipeline(), request, request.maxOutputTokens ?? maxOutputTokens, thinking));
        return request.responseSchema && (request.outputMode ?? 'json_schema') !== 'plain' ? { ...result, outputMode: 'plain' } : result;
      } catch (thrown) {
        throw providerFailure(WHO.shown, thrown, abortSignal);
      }
    },
  };
}

/** An embedder over a pipeline of Transformers.js. Throws INVALID_ARGUMENT without a pipeline. */
export function transformersJsEmbedder(options: TransformersEmbeddingOptions): EmbeddingModel {
  const { model, maxEmbeddingsPerCall = 16 } = options;
  if (typeof model !== 'string' || model === '') throw invalid(`model must be the name of a model, got ${show(model)}`);
  const known = recipeOf(model);
  const recipe: EmbeddingRecipe = { pooling: 'mean', normalize: true, ...known, ...options.recipe };
  const dimensions = options.dimensions ?? recipe.dimensions;
  if (dimensions === undefined) throw invalid(`the length of the vectors of ${show(model)} is not known: pass it as \`dimensions\``);
  checkDimensions(dimensions);
  const pipeline = lazily<ExtractionPipeline>(options);
  const turns = new Turns();
  return {
    specificationVersion: 'memstrata-v1',
    provider: 'transformers-js',
    modelId: model,
    dimensions,
    maxEmbeddingsPerCall,
    async embed({ texts, kind, abortSignal }) {
      const prefix = (kind === 'query' ? recipe.queryPrefix : recipe.passagePrefix) ?? '';
      try {
        return await turns.run(abortSignal, async () => {
          const extractor = await pipeline();
          const rows: unknown[] = [];
          // Padding stands behind the shorter texts of a batch, and the last token would be it.
          for (const batch of recipe.pooling === 'last_token' ? texts.map((text) => [text]) : [texts]) {
            if (abortSignal?.aborted) throw aborted(abortSignal);
            const tensor = await extractor(batch.map((text) => prefix + text), { pooling: recipe.pooling, normalize: recipe.normalize });
            rows.push(...rowsOf(tensor));
          }
          return { vectors: readVectors(WHO, model, rows, texts.length, dimensions) };
        });
      } catch (thrown) {
        throw providerFailure(WHO.shown, thrown, abortSignal);
      }
    },
  };
}

function lazily<P>({ pipeline, load }: { pipeline?: P | undefined; load?: (() => Promise<P>) | undefined }): () => Promise<P> {
  if (pipeline === undefined && typeof load !== 'function') throw invalid('pass a `pipeline`, or a function `load` that makes one');
  let loading: Promise<P> | undefined;
  return async () => {
    if (pipeline !== undefined) return pipeline;
    loading ??= (load as () => Promise<P>)();
    try {
      return await loading;
    } catch (error) {
      // A download that broke off may work the next time.
      loading = undefined;
      throw error;
    }
  };
}

/** A vector a row of a tensor of two dimensions. */
function rowsOf(tensor: ExtractedTensor): { embedding: number[] }[] {
  const { data, dims } = tensor;
  if (dims.length !== 2) throw badReply(WHO, `its tensor has ${dims.length} dimensions and not 2: the pipeline does not pool`);
  const [count = 0, width = 0] = dims;
  const values = Array.from(data as ArrayLike<number>, Number);
  const rows = Array.from({ length: count }, (_, at) => ({ embedding: values.slice(at * width, (at + 1) * width) }));
  tensor.dispose?.();
  return rows;
}

async function generate(generator: GenerationPipeline, request: ChatRequest, maxTokens: number, thinking: boolean | undefined): Promise<ChatResult> {
  const { abortSignal, temperature, onText } = request;
  const pieces = new TextPieces(generator.tokenizer as TokenDecoder, (piece) => {
    if (!abortSignal?.aborted) onText?.(piece);
  });
  const output = await generator(messagesFor(request, 'plain').map((message) => ({ ...message })), {
    max_new_tokens: maxTokens,
    ...(temperature === undefined ? {} : temperature === 0 ? { do_sample: false } : { do_sample: true, temperature }),
    streamer: pieces,
    // A list of functions does for a list of its own objects.
    stopping_criteria: [(ids: unknown[]) => ids.map(() => abortSignal?.aborted === true)],
    ...(thinking === undefined ? {} : { tokenizer_encode_kwargs: { enable_thinking: thinking } }),
  });
  if (abortSignal?.aborted) throw aborted(abortSignal);
  const text = pieces.text === '' ? textOf(output) : pieces.text;
  // It does not say why it ended. Where no token was seen nothing is known.
  const finishReason = pieces.outputTokens === 0 ? (text === '' ? 'stop' : 'unknown') : pieces.outputTokens >= maxTokens && !endsOfText(generator).has(pieces.lastToken) ? 'length' : 'stop';
  return { text, finishReason, usage: { inputTokens: pieces.inputTokens, outputTokens: pieces.outputTokens } };
}

/** The pipeline's own answer: the conversation with one message more. */
function textOf(output: unknown): string {
  const generated = (output as { generated_text?: unknown }[] | undefined)?.[0]?.generated_text;
  const last: unknown = Array.isArray(generated) ? (generated.at(-1) as { content?: unknown } | undefined)?.content : generated;
  if (typeof last !== 'string') throw new MemoryOSError('PROVIDER_BAD_REPLY', `${WHO.shown}: its answer holds no text`, { data: { cause: 'unknown' } });
  return last;
}

/** Tokens that end an answer. */
function endsOfText({ model }: GenerationPipeline): Set<string> {
  const ids = (model as { generation_config?: { eos_token_id?: unknown } } | undefined)?.generation_config?.eos_token_id;
  return new Set([ids].flat().filter((id) => id !== undefined && id !== null).map(String));
}
