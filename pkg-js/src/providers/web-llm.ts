/** Models that WebLLM runs in the page by WebGPU. The engine is the caller's: made, loaded and unloaded by him. */
import type { Completion } from './completion.js';
import { readCompletion, usageOf } from './completion.js';
import { badReply } from './failure.js';
import { systemFirst } from './messages.js';
import { checkGiven, inModes, providerFailure, Turns, untilAborted } from './object-model.js';
import { messagesFor } from './quirks.js';
import { checkDimensions } from './server.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel, OutputMode } from './types.js';
import { readVectors } from './vectors.js';

/** The part of WebLLM's `MLCEngineInterface` that is used. */
export interface WebLLMEngine {
  chatCompletion(request: WebLLMRequest): Promise<unknown>;
  embedding?(request: { input: string[]; model?: string }): Promise<unknown>;
  interruptGenerate(): unknown;
}

/** What the engine is asked. */
export interface WebLLMRequest {
  stream: true;
  stream_options: { include_usage: boolean };
  messages: { role: 'system' | 'user' | 'assistant'; content: string }[];
  model: string;
  max_tokens?: number;
  temperature?: number;
  response_format?: { type: 'json_object'; schema?: string };
  extra_body?: { enable_thinking: boolean };
}

/** The engine, and the model it has loaded. */
export interface WebLLMOptions {
  engine: WebLLMEngine;
  /** Name of the model that is loaded in the engine. */
  model: string;
  /** Switches thinking on or off; Qwen3 models alone heed it. */
  thinking?: boolean;
}

/** The same for embeddings; `dimensions` is the length of the vectors. */
export interface WebLLMEmbeddingOptions extends WebLLMOptions {
  /** Length of the model's vectors. */
  dimensions: number;
  /** Default 16. */
  maxEmbeddingsPerCall?: number;
}

const WHO = { shown: 'WebLLM' };
const MODES: readonly OutputMode[] = ['json_schema', 'json_object'];

// An engine does one thing at a time, and `interruptGenerate` stops whatever that is: the turns are the engine's, not the provider's.
const turnsOf = new WeakMap<WebLLMEngine, Turns>();

/** A chat model; with `dimensions` one that embeds. */
export function webLLM(options: WebLLMEmbeddingOptions): ChatModel & EmbeddingModel;
export function webLLM(options: WebLLMOptions): ChatModel;
export function webLLM({ engine, model, thinking, dimensions, maxEmbeddingsPerCall = 16 }: WebLLMOptions & Partial<WebLLMEmbeddingOptions>): ChatModel & Partial<EmbeddingModel> {
  checkGiven(engine, 'engine', 'chatCompletion', model);
  const turns = turnsOf.get(engine) ?? new Turns();
  turnsOf.set(engine, turns);
  const refused = new Set<OutputMode>();
  const chat: ChatModel = {
    specificationVersion: 'memstrata-v1',
    provider: 'web-llm',
    modelId: model,
    maxConcurrency: 1,
    async chat(request) {
      try {
        return await turns.run(request.abortSignal, () => inModes(request, MODES, refused, (mode, asked) => answer(engine, model, asked, mode, thinking)));
      } catch (thrown) {
        throw providerFailure(WHO.shown, thrown, request.abortSignal);
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
        // An empty text is refused.
        const input = texts.map((text) => text || ' ');
        const reply = (await turns.run(abortSignal, async () => engine.embedding?.({ input, model }))) as { data?: unknown; usage?: unknown } | undefined;
        return { vectors: readVectors(WHO, model, reply?.data, texts.length, dimensions), ...usageOf(reply?.usage) };
      } catch (thrown) {
        throw providerFailure(WHO.shown, thrown, abortSignal);
      }
    },
  };
}

async function answer(engine: WebLLMEngine, model: string, request: ChatRequest, mode: OutputMode, thinking: boolean | undefined): Promise<ChatResult> {
  const { responseSchema, maxOutputTokens, temperature, abortSignal } = request;
  const chunks = (await engine.chatCompletion({
    // Always a stream: only between two of its chunks can an answer be stopped.
    stream: true,
    stream_options: { include_usage: true },
    messages: systemFirst(messagesFor(request, mode)),
    model,
    ...(maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(thinking === undefined ? {} : { extra_body: { enable_thinking: thinking } }),
    ...(responseSchema && mode !== 'plain' ? { response_format: { type: 'json_object', ...(mode === 'json_schema' ? { schema: JSON.stringify(responseSchema.schema) } : {}) } } : {}),
  })) as AsyncIterable<Completion>;
  const result = await readCompletion(untilAborted(chunks, abortSignal, () => engine.interruptGenerate()), 'plain', request.onText);
  if (!result) throw badReply(WHO, 'its answer holds no choice');
  return result;
}
