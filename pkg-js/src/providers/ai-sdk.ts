/**
 * Any model of the AI SDK, from version 2 of its specification on, by the shape of the object: the SDK itself is never imported. Between
 * versions changed how an answer says why it ended, how it counts tokens, and how it warns.
 */
import { aborted, invalid } from '../errors.js';
import { raced } from '../race.js';
import { show } from '../text.js';
import { tokens } from './completion.js';
import { badReply } from './failure.js';
import { inModes, ModeRefused, providerFailure } from './object-model.js';
import { messagesFor } from './quirks.js';
import { checkDimensions } from './server.js';
import type { ChatModel, ChatRequest, ChatResult, EmbeddingModel, FinishReason, OutputMode, Usage } from './types.js';
import { readVectors } from './vectors.js';

/** What is used of a `LanguageModelV2`, `V3` or `V4`. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  // The options of each version are its own; what is passed is what all of them have.
  doGenerate(options: any): PromiseLike<unknown>;
  doStream(options: any): PromiseLike<unknown>;
}

/** What is used of an `EmbeddingModelV2`, `V3` or `V4`. */
export interface AiSdkEmbeddingModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall?: PromiseLike<number | undefined> | number | undefined;
  doEmbed(options: any): PromiseLike<unknown>;
}

/** How a language model of the AI SDK is used. */
export interface AiSdkOptions {
  maxConcurrency?: number;
  /** Handed on with every call, by the provider's name. */
  providerOptions?: Record<string, Record<string, unknown>>;
}

/** How an embedding model of the AI SDK is used; `dimensions` is the length of its vectors. */
export interface AiSdkEmbeddingOptions extends AiSdkOptions {
  /** Length of the model's vectors. */
  dimensions: number;
  /** Default: the model's own, where it says one at once; else 64. */
  maxEmbeddingsPerCall?: number;
}

const VERSIONS = new Set(['v2', 'v3', 'v4']);
const MODES: readonly OutputMode[] = ['json_schema', 'tool_call'];

/** Any model of the AI SDK, of specification v2 to v4, as a model of the memory. Throws INVALID_ARGUMENT for anything else. */
export function aiSdk(model: AiSdkEmbeddingModel, options: AiSdkEmbeddingOptions): EmbeddingModel;
export function aiSdk(model: AiSdkLanguageModel, options?: AiSdkOptions): ChatModel;
export function aiSdk(model: AiSdkLanguageModel | AiSdkEmbeddingModel, options: AiSdkOptions & Partial<AiSdkEmbeddingOptions> = {}): ChatModel | EmbeddingModel {
  if (typeof model !== 'object' || model === null) throw invalid(`pass a model object of the AI SDK, such as openai('gpt-5'), got ${show(model)}`);
  const { specificationVersion, provider, modelId } = model;
  if (!VERSIONS.has(specificationVersion)) throw invalid(`the model is of version ${show(specificationVersion)} of the AI SDK's specification; v2, v3 and v4 are known`);
  const named = { specificationVersion: 'memstrata-v1' as const, provider: `ai-sdk/${provider}`, modelId };
  if ('doEmbed' in model) return embedder(model, named, options);
  const { maxConcurrency } = options;
  const refused = new Set<OutputMode>();
  return {
    ...named,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    async chat(request) {
      const { abortSignal } = request;
      try {
        if (abortSignal?.aborted) throw aborted(abortSignal);
        return await raced(inModes(request, MODES, refused, (mode, asked) => answer(model, asked, mode, options)), abortSignal, aborted);
      } catch (thrown) {
        throw providerFailure(`${provider} ${modelId}`, thrown, abortSignal);
      }
    },
  };
}

type Named = Pick<EmbeddingModel, 'specificationVersion' | 'provider' | 'modelId'>;

function embedder(model: AiSdkEmbeddingModel, named: Named, { dimensions, providerOptions, maxEmbeddingsPerCall }: AiSdkOptions & Partial<AiSdkEmbeddingOptions>): EmbeddingModel {
  if (dimensions === undefined) throw invalid('pass the length of the model\'s vectors as `dimensions`: its object does not tell');
  checkDimensions(dimensions);
  const who = `${model.provider} ${model.modelId}`;
  const own = model.maxEmbeddingsPerCall;
  return {
    ...named,
    dimensions,
    maxEmbeddingsPerCall: maxEmbeddingsPerCall ?? (typeof own === 'number' && Number.isInteger(own) ? own : 64),
    async embed({ texts, abortSignal }) {
      try {
        if (abortSignal?.aborted) throw aborted(abortSignal);
        const call = { values: texts, ...(abortSignal ? { abortSignal } : {}), ...(providerOptions ? { providerOptions } : {}) };
        const { embeddings, usage } = ((await raced(Promise.resolve(model.doEmbed(call)), abortSignal, aborted)) ?? {}) as { embeddings?: unknown; usage?: { tokens?: unknown } };
        const data = Array.isArray(embeddings) ? embeddings.map((embedding: unknown) => ({ embedding })) : undefined;
        const counted = tokens(usage?.tokens, undefined);
        return { vectors: readVectors({ shown: who }, model.modelId, data, texts.length, dimensions), ...(counted.inputTokens === undefined ? {} : { usage: counted }) };
      } catch (thrown) {
        throw providerFailure(who, thrown, abortSignal);
      }
    },
  };
}

async function answer(model: AiSdkLanguageModel, request: ChatRequest, mode: OutputMode, { providerOptions }: AiSdkOptions): Promise<ChatResult> {
  const { responseSchema, maxOutputTokens, temperature, abortSignal, onText } = request;
  const call = {
    // A system message is a text, the others are lists of parts. A tool carries the schema: where tools are lacking there is a warning.
    prompt: messagesFor(request, mode === 'tool_call' ? 'json_schema' : mode).map(({ role, content }) => ({ role, content: role === 'system' ? content : [{ type: 'text', text: content }] })),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(responseSchema && mode === 'json_schema' ? { responseFormat: { type: 'json', ...responseSchema } } : {}),
    ...(responseSchema && mode === 'tool_call'
      ? { tools: [{ type: 'function', name: responseSchema.name, inputSchema: responseSchema.schema }], toolChoice: { type: 'required' } }
      : {}),
    ...(abortSignal ? { abortSignal } : {}),
    ...(providerOptions ? { providerOptions } : {}),
  };
  if (!onText) return whole((await model.doGenerate(call)) as Generated, mode, model);
  const { stream } = (await model.doStream(call)) as { stream: ReadableStream<Part> };
  return streamed(stream, mode, onText, model, abortSignal);
}

interface Generated {
  content?: Part[];
  /** Of version 4: which of the texts is the answer by schema, if not all of them. */
  structuredOutputText?: string;
  finishReason?: unknown;
  usage?: unknown;
  warnings?: unknown;
}

interface Part {
  type: string;
  id?: string;
  text?: string;
  delta?: string;
  toolCallId?: string;
  input?: unknown;
  error?: unknown;
  finishReason?: unknown;
  usage?: unknown;
  warnings?: unknown;
}

function whole(reply: Generated | undefined, mode: OutputMode, model: AiSdkLanguageModel): ChatResult {
  if (!Array.isArray(reply?.content)) throw badReply({ shown: `${model.provider} ${model.modelId}` }, 'its answer holds no content');
  heedWarnings(reply.warnings, mode);
  const said = reply.content.filter(({ type }) => type === 'text').map(({ text }) => text ?? '').join('');
  const called = mode === 'tool_call' ? inputOf(reply.content.find(({ type }) => type === 'tool-call')) : '';
  const text = called || ((mode === 'json_schema' ? reply.structuredOutputText : undefined) ?? said);
  return { text, finishReason: finishReasonOf(reply.finishReason, called), ...usageOf(reply.usage) };
}

async function streamed(stream: ReadableStream<Part>, mode: OutputMode, onText: (delta: string) => void, model: AiSdkLanguageModel, signal: AbortSignal | undefined): Promise<ChatResult> {
  const reader = stream.getReader();
  // A model that does not heed the signal is left alone all the same.
  const onAbort = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', onAbort, { once: true });
  let text = '';
  let called = '';
  let tool: string | undefined;
  let finish: Part | undefined;
  const say = (piece: string): void => {
    if (piece !== '' && !signal?.aborted) onText(piece);
  };
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const part = next.value;
      if (part.type === 'error') throw part.error;
      if (part.type === 'stream-start') heedWarnings(part.warnings, mode);
      if (part.type === 'finish') finish = part;
      if (part.type === 'text-delta') {
        text += part.delta ?? '';
        if (mode !== 'tool_call') say(part.delta ?? '');
      }
      if (mode !== 'tool_call') continue;
      // A call comes in pieces and then whole, or whole alone; a second one is not the answer.
      if (part.type === 'tool-input-start') tool ??= part.id;
      if (part.type === 'tool-input-delta' && part.id === tool) {
        called += part.delta ?? '';
        say(part.delta ?? '');
      }
      if (part.type === 'tool-call' && called === '') {
        called = inputOf(part);
        say(called);
      }
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await reader.cancel().catch(() => undefined);
  }
  if (signal?.aborted) throw aborted(signal);
  if (mode === 'tool_call' && called === '') say(text);
  if (!finish && text === '' && called === '') throw badReply({ shown: `${model.provider} ${model.modelId}` }, 'its stream held no answer');
  return { text: called || text, finishReason: finishReasonOf(finish?.finishReason, called), ...usageOf(finish?.usage) };
}

function inputOf(call: Part | undefined): string {
  return typeof call?.input === 'string' ? call.input : call?.input === undefined ? '' : JSON.stringify(call.input);
}

/** A provider that lacks a way of asking for JSON answers all the same, without the schema, and warns. */
function heedWarnings(warnings: unknown, mode: OutputMode): void {
  const lacking = mode === 'json_schema' ? /responseFormat/i : mode === 'tool_call' ? /tool/i : undefined;
  if (!lacking || !Array.isArray(warnings)) return;
  for (const warning of warnings as ({ type?: unknown } | null)[]) {
    // `unsupported-setting` and `unsupported-tool` in version 2, `unsupported` with a `feature` later.
    if (String(warning?.type).startsWith('unsupported') && lacking.test(JSON.stringify(warning))) throw new ModeRefused(`${mode} is not supported`);
  }
}

const FINISH_REASONS: Record<string, FinishReason> = { stop: 'stop', length: 'length', 'content-filter': 'content-filter', 'tool-calls': 'tool-calls', error: 'error' };

/** A text in version 2, an object later. */
function finishReasonOf(reason: unknown, called: string): FinishReason {
  const given = typeof reason === 'object' && reason !== null ? (reason as { unified?: unknown }).unified : reason;
  const found = (typeof given === 'string' && Object.hasOwn(FINISH_REASONS, given) && FINISH_REASONS[given]) || 'unknown';
  return found === 'tool-calls' && called !== '' ? 'stop' : found;
}

/** Numbers in version 2, objects with a total later. */
function usageOf(usage: unknown): { usage?: Usage } {
  const { inputTokens, outputTokens } = (usage ?? {}) as { inputTokens?: unknown; outputTokens?: unknown };
  const total = (count: unknown): unknown => (typeof count === 'object' && count !== null ? (count as { total?: unknown }).total : count);
  const counted = tokens(total(inputTokens), total(outputTokens));
  return Object.keys(counted).length === 0 ? {} : { usage: counted };
}
