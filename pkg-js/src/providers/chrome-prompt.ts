/**
 * The model that Chrome itself brings, by the Prompt API. It exists in windows, not in workers; memory asks it from the page
 * in any case, also where the engine runs in a Worker.
 */
import { aborted, MemoryOSError } from '../errors.js';
import { raced } from '../race.js';
import { pieces } from './chrome-stream.js';
import type { FailureCause } from './failure.js';
import { systemFirst } from './messages.js';
import { inModes, ModeRefused, providerFailure } from './object-model.js';
import { messagesFor } from './quirks.js';
import type { ChatMessage, ChatModel, ChatRequest, ChatResult, OutputMode } from './types.js';

/** Whether Chrome has its model: not at all, after a download, while it downloads, or now. */
export type ChromeAvailability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

/** A system message may stand among the initial ones alone. */
export interface ChromeMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** What is used of a session. Fields were renamed: `inputUsage` and `inputQuota` became `contextUsage` and `contextWindow`. */
export interface ChromeSession {
  prompt(input: ChromeMessage[], options?: ChromePromptCall): Promise<string>;
  promptStreaming(input: ChromeMessage[], options?: ChromePromptCall): ReadableStream<string>;
  destroy(): unknown;
  readonly contextUsage?: number;
  readonly contextWindow?: number;
  measureContextUsage?(input: ChromeMessage[]): Promise<number>;
  readonly inputUsage?: number;
  readonly inputQuota?: number;
  measureInputUsage?(input: ChromeMessage[]): Promise<number>;
}

interface ChromePromptCall {
  signal?: AbortSignal;
  responseConstraint?: Record<string, unknown>;
}

/** What is used of the global `LanguageModel`. */
export interface ChromeLanguageModel {
  // Its options are a union that grew from version to version.
  availability(options?: object): Promise<string>;
  create(options?: object): Promise<ChromeSession>;
  /** In extensions, and in older versions. */
  params?(): Promise<{ defaultTopK: number; maxTemperature: number } | null>;
}

/** How the model in Chrome is used; `onDownload` hears of a download. */
export interface ChromePromptOptions {
  /** Languages of what is said to it and by it, such as `['en']`. Chrome refuses those that it does not know. */
  languages?: string[];
  /** Told of the model's download, from 0 to 1. It begins with the first call, which must come from a click or a key. */
  onDownload?: (part: number) => void;
  /** Default: the global `LanguageModel`. */
  languageModel?: ChromeLanguageModel;
}

const WHO = "Chrome's built-in model";
const MODES: readonly OutputMode[] = ['json_schema'];

/** `missing` where there is no such API: another browser, an older version, a worker. */
export async function chromePromptAvailability(options: ChromePromptOptions = {}): Promise<ChromeAvailability | 'missing'> {
  const api = options.languageModel ?? globalModel();
  return api ? ((await api.availability(expected(options))) as ChromeAvailability) : 'missing';
}

/** A chat model over Chrome's Prompt API, which windows alone have. Its calls reject with PROVIDER_FAILED where there is none. */
export function chromePrompt(options: ChromePromptOptions = {}): ChatModel {
  const refused = new Set<OutputMode>();
  return {
    specificationVersion: 'memstrata-v1',
    provider: 'chrome',
    modelId: 'built-in',
    maxConcurrency: 1,
    async chat(request) {
      const { abortSignal } = request;
      try {
        if (abortSignal?.aborted) throw aborted(abortSignal);
        return await raced(inModes(request, MODES, refused, (mode, asked) => answer(options, asked, mode)), abortSignal, aborted);
      } catch (thrown) {
        throw explained(thrown, abortSignal);
      }
    },
  };
}

async function answer(options: ChromePromptOptions, request: ChatRequest, mode: OutputMode): Promise<ChatResult> {
  const { responseSchema, abortSignal, onText } = request;
  const initialPrompts = systemFirst(messagesFor(request, mode));
  const last = initialPrompts.at(-1);
  if (last && last.role !== 'system') initialPrompts.pop();
  // A session that begins with a system message alone still has to be asked something.
  const input: ChromeMessage[] = [{ role: last?.role === 'assistant' ? 'assistant' : 'user', content: last && last.role !== 'system' ? last.content : '' }];
  const session = await open(options, request, initialPrompts);
  try {
    const before = used(session);
    const inputTokens = before === undefined ? undefined : before + (await measured(session, input));
    const window = session.contextWindow ?? session.inputQuota;
    if (inputTokens !== undefined && window !== undefined && inputTokens > window) throw tooLong(inputTokens, window);
    const call = { ...(abortSignal ? { signal: abortSignal } : {}), ...(responseSchema && mode === 'json_schema' ? { responseConstraint: responseSchema.schema as Record<string, unknown> } : {}) };
    let text = '';
    if (onText) {
      for await (const piece of pieces(session, session.promptStreaming(input, call))) {
        text += piece;
        if (!abortSignal?.aborted) onText(piece);
      }
    } else {
      text = await session.prompt(input, call);
    }
    const total = used(session);
    const outputTokens = total !== undefined && inputTokens !== undefined && total >= inputTokens ? total - inputTokens : undefined;
    return {
      text,
      // The API has no word for an answer that was cut off; one that fills the window was.
      finishReason: total !== undefined && window !== undefined && total >= window ? 'length' : 'stop',
      ...(inputTokens === undefined ? {} : { usage: { inputTokens: Math.round(inputTokens), ...(outputTokens === undefined ? {} : { outputTokens: Math.round(outputTokens) }) } }),
    };
  } catch (thrown) {
    // A schema that it cannot follow.
    if (mode === 'json_schema' && /NotSupported|TypeError|SyntaxError/.test(nameOf(thrown))) throw new ModeRefused(String(thrown));
    throw thrown;
  } finally {
    session.destroy();
  }
}

async function open(options: ChromePromptOptions, request: ChatRequest, initialPrompts: ChatMessage[]): Promise<ChromeSession> {
  const api = options.languageModel ?? globalModel();
  if (!api) throw failure('not-found', `there is no Prompt API here: it needs Chrome 138 or later, and a window or an extension's page, not a worker`);
  const availability = await api.availability(expected(options));
  if (availability === 'unavailable') throw failure('not-found', 'this device or this language is not supported (see chrome://on-device-internals)');
  const { onDownload } = options;
  return api.create({
    ...expected(options),
    ...(await sampling(api, request.temperature)),
    ...(initialPrompts.length === 0 ? {} : { initialPrompts }),
    ...(request.abortSignal ? { signal: request.abortSignal } : {}),
    ...(onDownload
      ? {
          monitor(progress: EventTarget) {
            progress.addEventListener('downloadprogress', (event) => {
              const { loaded, total } = event as ProgressEvent;
              // Early versions counted bytes.
              onDownload(total > 1 ? loaded / total : loaded);
            });
          },
        }
      : {}),
  });
}

/** A number where numbers are still taken, and there both or none; else the mode for answers that do not vary. */
async function sampling(api: ChromeLanguageModel, temperature: number | undefined): Promise<object> {
  if (temperature === undefined) return {};
  const params = await api.params?.().catch(() => null);
  if (params) return { temperature: Math.min(temperature, params.maxTemperature), topK: params.defaultTopK };
  return temperature < 0.3 ? { samplingMode: 'most-predictable' } : {};
}

function expected({ languages }: ChromePromptOptions): object {
  if (!languages) return {};
  return { expectedInputs: [{ type: 'text', languages }], expectedOutputs: [{ type: 'text', languages }] };
}

function globalModel(): ChromeLanguageModel | undefined {
  return (globalThis as { LanguageModel?: ChromeLanguageModel }).LanguageModel;
}

function used(session: ChromeSession): number | undefined {
  return session.contextUsage ?? session.inputUsage;
}

async function measured(session: ChromeSession, input: ChromeMessage[]): Promise<number> {
  // Called on the session: these are methods of a native object.
  if (session.measureContextUsage) return session.measureContextUsage(input);
  return session.measureInputUsage ? session.measureInputUsage(input) : 0;
}

function nameOf(thrown: unknown): string {
  return String((thrown as { name?: unknown } | null)?.name);
}

function explained(thrown: unknown, signal: AbortSignal | undefined): MemoryOSError {
  const { requested, quota } = (thrown ?? {}) as { requested?: unknown; quota?: unknown };
  if (signal?.aborted) return aborted(signal);
  const name = nameOf(thrown);
  if (name === 'QuotaExceededError') return tooLong(typeof requested === 'number' ? requested : undefined, typeof quota === 'number' ? quota : undefined, thrown);
  if (name === 'NotAllowedError') return failure('unknown', 'the browser does not allow it: its download must begin with a click, and a frame needs allow="language-model"', thrown);
  if (name === 'NetworkError') return failure('offline', 'it could not be downloaded: check the connection and try again', thrown);
  if (name === 'NotSupportedError') return failure('not-found', 'it does not take this language or this input', thrown);
  return providerFailure(WHO, thrown, signal);
}

function failure(cause: FailureCause, what: string, thrown?: unknown): MemoryOSError {
  return new MemoryOSError('PROVIDER_FAILED', `${WHO}: ${what}`, { data: { cause }, cause: thrown });
}

/** Not the disk's quota: the context's. */
function tooLong(requested: number | undefined, quota: number | undefined, thrown?: unknown): MemoryOSError {
  const counts = requested === undefined || quota === undefined ? '' : ` of ${Math.ceil(requested)} tokens; it holds ${quota}`;
  return new MemoryOSError('PROVIDER_FAILED', `${WHO}: the prompt is too long${counts}: lower \`budgetTokens\``, {
    data: { cause: 'unknown' satisfies FailureCause, ...(requested === undefined ? {} : { requested }), ...(quota === undefined ? {} : { quota }) },
    cause: thrown,
  });
}
