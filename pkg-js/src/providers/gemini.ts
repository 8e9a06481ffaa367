/** Google's Gemini API in its own dialect. The key goes in a header: an address is logged, kept and passed on. */
import { invalid } from '../errors.js';
import { show } from '../text.js';
import { tokens } from './completion.js';
import { geminiSchema } from './gemini-schema.js';
import { userFirst } from './messages.js';
import type { Quirks } from './quirks.js';
import { messagesFor, modeOf } from './quirks.js';
import type { ServerOptions } from './server.js';
import { checkDimensions, Server } from './server.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel, FinishReason, OutputMode, Usage } from './types.js';
import { readVectors } from './vectors.js';

/** Which Gemini model to ask, and with what key. The key is sent as a header, never in the address. */
export interface GeminiOptions extends Omit<ServerOptions, 'baseURL'> {
  /** Default `https://generativelanguage.googleapis.com/v1beta`. */
  baseURL?: string;
  /** Sent as `x-goog-api-key`. Never logged, stored or put into an error. */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Most tokens of thinking; 0 switches it off where the model lets it, -1 leaves it to the model. Default: the model's own. */
  thinkingBudgetTokens?: number;
}

/** The same for embeddings; `dimensions` is the length of the vectors. */
export interface GeminiEmbeddingOptions extends GeminiOptions {
  /** Length of the vectors; the API is asked for it. `gemini-embedding-001` takes 128 to 3,072. */
  dimensions: number;
  /** Tells the API whether a question or a passage is embedded; only some models can be told. Default true for `gemini-embedding-001` and `text-embedding-004`. */
  taskType?: boolean;
  /** Default 100, the API's most. */
  maxEmbeddingsPerCall?: number;
}

const QUIRKS: Quirks = { json: 'json_schema', streamUsage: false, tokensField: 'max_tokens', temperature: true };

/** A chat model; with `dimensions` one that embeds. */
export function gemini(options: GeminiEmbeddingOptions): ChatModel & EmbeddingModel;
export function gemini(options: GeminiOptions): ChatModel;
export function gemini(options: GeminiOptions & Partial<GeminiEmbeddingOptions>): ChatModel & Partial<EmbeddingModel> {
  if (!options) throw invalid('pass at least the name of a `model`');
  const { maxConcurrency, dimensions, thinkingBudgetTokens } = options;
  const baseURL = options.baseURL ?? 'https://generativelanguage.googleapis.com/v1beta';
  if (baseURL.includes('?')) throw invalid('baseURL must hold no query: pass the key as `apiKey`, which is sent in a header');
  if (thinkingBudgetTokens !== undefined && !(Number.isInteger(thinkingBudgetTokens) && thinkingBudgetTokens >= -1)) {
    throw invalid(`thinkingBudgetTokens must be a whole number of at least -1, got ${show(thinkingBudgetTokens)}`);
  }
  const server = new Server({ ...options, baseURL: baseURL.replace(/\/+models(\/.*)?$/, ''), keyHeader: 'x-goog-api-key', fetch: heedingDelay(options.fetch) });
  // People copy the name with and without its folder.
  const name = `models/${options.model.replace(/^models\//, '')}`;
  const chat: ChatModel = {
    specificationVersion: 'memstrata-v1',
    provider: 'gemini',
    modelId: options.model,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    chat: (request) => server.chat(request, {
      path: (streaming) => `${name}:${streaming ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      body: (asked, _streaming, quirks) => contentBody(asked, quirks, thinkingBudgetTokens),
      read,
      quirks: QUIRKS,
    }),
  };
  if (dimensions === undefined) return chat;
  checkDimensions(dimensions);
  const { taskType = /gemini-embedding-001|text-embedding-004/.test(name) } = options;
  return {
    ...chat,
    dimensions,
    maxEmbeddingsPerCall: options.maxEmbeddingsPerCall ?? 100,
    async embed({ texts, kind, abortSignal }) {
      const requests = texts.map((text) => ({
        model: name,
        content: { parts: [{ text }] },
        outputDimensionality: dimensions,
        ...(taskType ? { taskType: kind === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT' } : {}),
      }));
      const reply = (await server.ask(`${name}:batchEmbedContents`, { requests }, abortSignal)) as { embeddings?: unknown };
      const values = Array.isArray(reply.embeddings) ? reply.embeddings.map((item: { values?: unknown } | null) => ({ embedding: item?.values })) : undefined;
      // A vector that was shortened comes without its length being made 1 again.
      return { vectors: readVectors(server.endpoint, options.model, values, texts.length, dimensions).map(unit) };
    },
  };
}

/** How long to wait after a 429 stands in its body, in seconds; a page could not read it in a header. */
function heedingDelay(given: typeof fetch | undefined): typeof fetch {
  return async (input, init) => {
    const response = await (given ?? fetch)(input, init);
    if (response.status !== 429 || response.headers.has('retry-after')) return response;
    const body = await response.text();
    const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
    const headers = new Headers(response.headers);
    if (seconds !== undefined) headers.set('retry-after', seconds);
    return new Response(body, { status: 429, headers });
  };
}

function unit(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return norm === 0 ? vector : vector.map((value) => value / norm);
}

function contentBody(request: ChatRequest, quirks: Quirks, thinkingBudget: number | undefined): object {
  const { responseSchema, maxOutputTokens, temperature } = request;
  const mode = modeOf(quirks, request);
  // The function carries the schema, and cannot be passed over.
  const messages = messagesFor(request, mode === 'tool_call' ? 'json_schema' : mode);
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => ({ text: content }));
  const generationConfig = {
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined || !quirks.temperature ? {} : { temperature }),
    ...(thinkingBudget === undefined ? {} : { thinkingConfig: { thinkingBudget } }),
    ...(responseSchema && (mode === 'json_schema' || mode === 'json_object') ? { responseMimeType: 'application/json' } : {}),
    ...(responseSchema && mode === 'json_schema' ? { responseSchema: geminiSchema(responseSchema.schema) } : {}),
  };
  return {
    // An empty part is refused.
    contents: userFirst(messages.filter(({ role, content }) => role !== 'system' && content !== '')).map(({ role, content }) => ({ role: role === 'assistant' ? 'model' : 'user', parts: [{ text: content }] })),
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...(responseSchema && mode === 'tool_call'
      ? {
          tools: [{ functionDeclarations: [{ name: responseSchema.name, parameters: geminiSchema(responseSchema.schema) }] }],
          toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [responseSchema.name] } },
        }
      : {}),
  };
}

/** A chunk of a stream and a whole answer have one shape. */
interface Content {
  candidates?: { content?: { parts?: unknown }; finishReason?: unknown }[];
  promptFeedback?: { blockReason?: unknown };
  usageMetadata?: { promptTokenCount?: unknown; candidatesTokenCount?: unknown; thoughtsTokenCount?: unknown };
}

interface Part {
  text?: unknown;
  /** What the model thought, not what it says. */
  thought?: unknown;
  functionCall?: { args?: unknown };
}

async function read(chunks: AsyncIterable<Content>, mode: OutputMode, onText: ChatRequest['onText']): Promise<ChatResult | undefined> {
  let text = '';
  let called = '';
  let reason: FinishReason | undefined;
  let usage: { usage?: Usage } = {};
  let answered = false;
  for await (const { candidates, promptFeedback, usageMetadata } of chunks) {
    const candidate = candidates?.[0];
    // A prompt that is refused has no candidate at all.
    if (promptFeedback?.blockReason !== undefined) reason = 'content-filter';
    answered ||= candidate !== undefined || reason !== undefined;
    for (const part of Array.isArray(candidate?.content?.parts) ? (candidate.content.parts as (Part | null)[]) : []) {
      if (part?.thought === true) continue;
      const said = typeof part?.text === 'string' ? part.text : '';
      // A call comes whole; a second one is not the answer.
      const argument = mode === 'tool_call' && called === '' && part?.functionCall ? JSON.stringify(part.functionCall.args ?? {}) : '';
      text += said;
      called += argument;
      const piece = mode === 'tool_call' ? argument : said;
      if (piece !== '') onText?.(piece);
    }
    if (typeof candidate?.finishReason === 'string') reason = finishReasonOf(candidate.finishReason);
    if (usageMetadata) usage = { usage: usageOf(usageMetadata) };
  }
  if (!answered) return undefined;
  if (mode === 'tool_call' && called === '' && text !== '') onText?.(text);
  return { text: called || text, finishReason: reason ?? 'unknown', ...usage };
}

const FILTERED = /SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII/;

function finishReasonOf(reason: string): FinishReason {
  if (reason === 'STOP') return 'stop';
  if (reason === 'MAX_TOKENS') return 'length';
  if (FILTERED.test(reason)) return 'content-filter';
  // A call that does not fit its schema is no answer.
  return /MALFORMED|UNEXPECTED_TOOL_CALL/.test(reason) ? 'error' : 'unknown';
}

function usageOf({ promptTokenCount, candidatesTokenCount, thoughtsTokenCount }: NonNullable<Content['usageMetadata']>): Usage {
  const thoughts = typeof thoughtsTokenCount === 'number' ? thoughtsTokenCount : 0;
  return tokens(promptTokenCount, typeof candidatesTokenCount === 'number' ? candidatesTokenCount + thoughts : undefined);
}
