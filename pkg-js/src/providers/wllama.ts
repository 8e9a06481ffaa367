/** Models that wllama (llama.cpp in WebAssembly, version 3) runs in the page. The instance is the caller's, with a model loaded. */
import { aborted } from '../errors.js';
import { raced } from '../race.js';
import type { Completion } from './completion.js';
import { readCompletion, usageOf } from './completion.js';
import { badReply } from './failure.js';
import { checkGiven, inModes, providerFailure, untilAborted } from './object-model.js';
import { chatBody } from './quirks.js';
import { checkDimensions } from './server.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel, OutputMode } from './types.js';
import { readVectors } from './vectors.js';

/** The part of a `Wllama` that is used. */
export interface WllamaInstance {
  // Its own type has an overload a kind of request; only the streamed one is used.
  createChatCompletion(request: any): Promise<unknown>;
  createEmbedding?(request: { input: string[] }): Promise<unknown>;
}

/** The instance, with its model loaded. */
export interface WllamaOptions {
  wllama: WllamaInstance;
  /** Name of the model that is loaded: memory keeps apart by it what was embedded by which. */
  model: string;
  /** Switches thinking on or off, where the model's template has a switch. */
  thinking?: boolean;
}

/** The same for embeddings; `dimensions` is the length of the vectors. */
export interface WllamaEmbeddingOptions extends WllamaOptions {
  /** Length of the model's vectors; `getLoadedContextInfo().n_embd` tells. The model must be loaded with `embeddings: true`. */
  dimensions: number;
  /** Default 16. */
  maxEmbeddingsPerCall?: number;
}

const WHO = { shown: 'wllama' };
const MODES: readonly OutputMode[] = ['json_schema', 'json_object', 'tool_call'];

/** A chat model; with `dimensions` one that embeds. */
export function wllama(options: WllamaEmbeddingOptions): ChatModel & EmbeddingModel;
export function wllama(options: WllamaOptions): ChatModel;
export function wllama({ wllama: instance, model, thinking, dimensions, maxEmbeddingsPerCall = 16 }: WllamaOptions & Partial<WllamaEmbeddingOptions>): ChatModel & Partial<EmbeddingModel> {
  checkGiven(instance, 'wllama', 'createChatCompletion', model);
  const refused = new Set<OutputMode>();
  const chat: ChatModel = {
    specificationVersion: 'memstrata-v1',
    provider: 'wllama',
    modelId: model,
    maxConcurrency: 1,
    async chat(request) {
      const { abortSignal } = request;
      try {
        if (abortSignal?.aborted) throw aborted(abortSignal);
        return await raced(inModes(request, MODES, refused, (mode, asked) => answer(instance, model, asked, mode, thinking)), abortSignal, aborted);
      } catch (thrown) {
        throw providerFailure(WHO.shown, thrown, abortSignal);
      }
    },
  };
  if (dimensions === undefined) return chat;
  checkDimensions(dimensions);
  return {
    ...chat,
    dimensions,
    maxEmbeddingsPerCall,
    async embed({ texts, abortSignal }) {
      try {
        if (abortSignal?.aborted) throw aborted(abortSignal);
        const reply = (await raced((async () => instance.createEmbedding?.({ input: texts }))(), abortSignal, aborted)) as { data?: unknown; usage?: unknown } | undefined;
        return { vectors: readVectors(WHO, model, reply?.data, texts.length, dimensions), ...usageOf(reply?.usage) };
      } catch (thrown) {
        throw providerFailure(WHO.shown, thrown, abortSignal);
      }
    },
  };
}

async function answer(instance: WllamaInstance, model: string, request: ChatRequest, mode: OutputMode, thinking: boolean | undefined): Promise<ChatResult> {
  const { abortSignal } = request;
  const chunks = (await instance.createChatCompletion({
    ...chatBody(model, request, true, { json: mode, streamUsage: true, tokensField: 'max_tokens', temperature: true }),
    ...(thinking === undefined ? {} : { chat_template_kwargs: { enable_thinking: thinking } }),
    ...(abortSignal ? { abortSignal } : {}),
  })) as AsyncIterable<Completion>;
  // It heeds the signal by itself, between two chunks.
  const result = await readCompletion(untilAborted(chunks, abortSignal, () => undefined), mode, request.onText);
  if (!result) throw badReply(WHO, 'its answer holds no choice');
  return result;
}
