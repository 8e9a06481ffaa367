/**
 * Chat and embeddings of any server that speaks OpenAI's HTTP dialect: OpenAI, Ollama, LM Studio, llama.cpp, vLLM,
 * OpenRouter and many more.
 */
import { readCompletion, usageOf } from './completion.js';
import { chatBody } from './quirks.js';
import type { ServerOptions } from './server.js';
import { checkDimensions, Server } from './server.js';
import type { ChatModel, EmbeddingModel } from './types.js';
import { readVectors } from './vectors.js';

export type { RetryNotice } from './http.js';

/** A server that speaks the HTTP dialect of OpenAI, and which model of it to ask. Only `baseURL` and `model` are required. */
export interface OpenAICompatibleOptions extends ServerOptions {
  /** Address of the server up to its version, for example `http://localhost:11434/v1`. */
  baseURL: string;
  /** Sent as `Authorization: Bearer`; without one no such header is sent. Never logged, stored or put into an error. */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Sent besides `authorization` and `content-type`; each must be allowed by the server's CORS rules. */
  headers?: Record<string, string> | undefined;
  /** Further fields of every request for an answer, such as a server's switch for thinking. */
  extraBody?: Record<string, unknown> | undefined;
}

export interface OpenAICompatibleEmbeddingOptions extends OpenAICompatibleOptions {
  /** Length of the model's vectors. */
  dimensions: number;
  /** Asks the server for vectors of `dimensions`, which only some models can shorten. Default false. */
  requestDimensions?: boolean;
  /** Default 64. */
  maxEmbeddingsPerCall?: number;
}

/** A chat model; with `dimensions` the same object embeds as well. */
export function openAICompatible(options: OpenAICompatibleEmbeddingOptions): ChatModel & EmbeddingModel;
export function openAICompatible(options: OpenAICompatibleOptions): ChatModel;
export function openAICompatible(options: OpenAICompatibleOptions & Partial<OpenAICompatibleEmbeddingOptions>): ChatModel & Partial<EmbeddingModel> {
  const server = new Server(options);
  const { model, maxConcurrency, dimensions, requestDimensions } = options;
  const chat: ChatModel = {
    specificationVersion: 'memstrata-v1',
    provider: 'openai-compatible',
    modelId: model,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    chat: (request) => server.chat(request, {
      path: () => 'chat/completions',
      body: (asked, streaming, quirks) => ({ ...chatBody(model, asked, streaming, quirks), ...options.extraBody }),
      read: readCompletion,
    }),
  };
  if (dimensions === undefined) return chat;
  checkDimensions(dimensions);
  return {
    ...chat,
    dimensions,
    maxEmbeddingsPerCall: options.maxEmbeddingsPerCall ?? 64,
    async embed(request) {
      const reply = await server.ask('embeddings', { model, input: request.texts, ...(requestDimensions ? { dimensions } : {}) }, request.abortSignal) as { data?: unknown; usage?: unknown };
      return { vectors: readVectors(server.endpoint, model, reply.data, request.texts.length, dimensions), ...usageOf(reply.usage) };
    },
  };
}
