/** Models that answer by a script: for tests and demonstrations, without a network and always the same. */
import { aborted, MemoryOSError } from '../errors.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel, EmbeddingRequest } from './types.js';

/** What one call answers: a text, a whole result, an error to throw, or a function of the request. */
export type ScriptedReply = string | Partial<ChatResult> | Error | ((request: ChatRequest) => ScriptedReply | Promise<ScriptedReply>);

/** A language model that answers from a script, and keeps what it was asked. */
export interface ScriptedChat extends ChatModel {
  /** Every request so far. */
  readonly calls: ChatRequest[];
}

/** Answers call by call; a single reply that is not in a list answers every call. After the last one, calls fail. */
export function scriptedChat(script: ScriptedReply | ScriptedReply[], options: { modelId?: string; maxConcurrency?: number } = {}): ScriptedChat {
  const calls: ChatRequest[] = [];
  return {
    specificationVersion: 'memstrata-v1',
    provider: 'scripted',
    modelId: options.modelId ?? 'script',
    ...(options.maxConcurrency === undefined ? {} : { maxConcurrency: options.maxConcurrency }),
    calls,
    async chat(request) {
      const at = calls.push(request) - 1;
      let reply = Array.isArray(script) ? script[at] : script;
      while (typeof reply === 'function') reply = await reply(request);
      if (request.abortSignal?.aborted) throw aborted(request.abortSignal);
      if (reply === undefined) throw new MemoryOSError('PROVIDER_FAILED', `the script has no reply for call ${at + 1}`);
      if (reply instanceof Error) throw reply;
      const result: ChatResult = { text: '', finishReason: 'stop', ...(typeof reply === 'string' ? { text: reply } : reply) };
      // Word by word, as a model streams.
      for (const piece of result.text.match(/\s*\S+|\s+$/g) ?? []) {
        if (request.abortSignal?.aborted) throw aborted(request.abortSignal);
        request.onText?.(piece);
        if (request.onText) await Promise.resolve();
      }
      return result;
    },
  };
}

/** An embedding model whose vectors come from the words of a text, and which keeps what it was asked. */
export interface ScriptedEmbedder extends EmbeddingModel {
  readonly calls: EmbeddingRequest[];
}

/** Unit vectors from the words of a text: texts that share words are near each other. */
export function scriptedEmbedder(options: { dimensions?: number; modelId?: string; maxEmbeddingsPerCall?: number } = {}): ScriptedEmbedder {
  const dimensions = options.dimensions ?? 64;
  const calls: EmbeddingRequest[] = [];
  return {
    specificationVersion: 'memstrata-v1',
    provider: 'scripted',
    modelId: options.modelId ?? 'words',
    dimensions,
    ...(options.maxEmbeddingsPerCall === undefined ? {} : { maxEmbeddingsPerCall: options.maxEmbeddingsPerCall }),
    calls,
    async embed(request) {
      calls.push(request);
      if (request.abortSignal?.aborted) throw aborted(request.abortSignal);
      return { vectors: request.texts.map((text) => embedWords(text, dimensions)) };
    },
  };
}

function embedWords(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    // FNV-1a: any hash does, as long as it is the same everywhere.
    let hash = 0x811c9dc5;
    for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
    const slot = (hash >>> 0) % dimensions;
    vector[slot] = (vector[slot] ?? 0) + 1;
  }
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}
