/** Anthropic's Messages API. */
import { invalid } from '../errors.js';
import { show } from '../text.js';
import { tokens } from './completion.js';
import { userFirst } from './messages.js';
import type { Quirks } from './quirks.js';
import { messagesFor, modeOf } from './quirks.js';
import type { ServerOptions } from './server.js';
import { Server } from './server.js';
import type { ChatModel, ChatRequest, ChatResult, FinishReason, OutputMode, Usage } from './types.js';

/** Which Claude model to ask, and with what key. The key is sent as a header, never stored, logged or put into an error. */
export interface AnthropicOptions extends Omit<ServerOptions, 'baseURL'> {
  /** Default `https://api.anthropic.com/v1`. */
  baseURL?: string;
  /** Sent as `x-api-key`. Never logged, stored or put into an error. */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Most tokens of an answer to a request that sets no limit itself; the API demands one. Default 4,096. */
  maxOutputTokens?: number;
  /** Tokens for thinking before each answer, at least 1,024 and on top of the answer's own. Default: no thinking asked for. */
  thinkingBudgetTokens?: number;
}

const VERSION = '2023-06-01';
const DEFAULT_MAX_TOKENS = 4_096;
const MIN_THINKING_TOKENS = 1_024;

/** JSON is asked for by a tool that must be called; a model that may not be made to call it is asked in words. */
const QUIRKS: Quirks = { json: 'tool_call', streamUsage: false, tokensField: 'max_tokens', temperature: true };

/** A chat model over the Messages API of Anthropic, straight from the page. Throws INVALID_ARGUMENT without a model. */
export function anthropic(options: AnthropicOptions): ChatModel {
  if (!options) throw invalid('pass at least the name of a `model`');
  const { model, maxConcurrency, maxOutputTokens = DEFAULT_MAX_TOKENS, thinkingBudgetTokens } = options;
  if (!Number.isInteger(maxOutputTokens) || maxOutputTokens < 1) throw invalid(`maxOutputTokens must be a whole number of at least 1, got ${show(maxOutputTokens)}`);
  if (thinkingBudgetTokens !== undefined && !(Number.isInteger(thinkingBudgetTokens) && thinkingBudgetTokens >= MIN_THINKING_TOKENS)) {
    throw invalid(`thinkingBudgetTokens must be a whole number of at least ${MIN_THINKING_TOKENS}, got ${show(thinkingBudgetTokens)}`);
  }
  const server = new Server({
    ...options,
    baseURL: (options.baseURL ?? 'https://api.anthropic.com/v1').replace(/\/+messages\/*$/, ''),
    keyHeader: 'x-api-key',
    // Without the second one the API refuses every call that comes from a page.
    headers: { 'anthropic-version': VERSION, 'anthropic-dangerous-direct-browser-access': 'true', ...options.headers },
  });
  return {
    specificationVersion: 'memstrata-v1',
    provider: 'anthropic',
    modelId: model,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    chat: (request) => server.chat(request, {
      path: () => 'messages',
      body: (asked, streaming, quirks) => messagesBody(model, asked, streaming, quirks, { maxOutputTokens, thinkingBudgetTokens }),
      read,
      quirks: QUIRKS,
    }),
  };
}

type Limits = { maxOutputTokens: number; thinkingBudgetTokens: number | undefined };

function messagesBody(model: string, request: ChatRequest, streaming: boolean, quirks: Quirks, limits: Limits): object {
  const { responseSchema, temperature } = request;
  const mode = modeOf(quirks, request);
  // The tool carries the schema, and cannot be passed over.
  const messages = messagesFor(request, mode === 'tool_call' ? 'json_schema' : mode);
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n\n');
  // A tool cannot be forced, nor the temperature set, while the model thinks.
  const thinking = mode === 'tool_call' && responseSchema ? undefined : limits.thinkingBudgetTokens;
  return {
    model,
    max_tokens: (request.maxOutputTokens ?? limits.maxOutputTokens) + (thinking ?? 0),
    ...(system === '' ? {} : { system }),
    // An empty message is refused, and so is space after the last one if it is the assistant's.
    messages: userFirst(messages.filter(({ role, content }) => role !== 'system' && content.trim() !== '')).map(({ role, content }) => ({ role, content: role === 'assistant' ? content.trimEnd() : content })),
    ...(thinking === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: thinking } }),
    ...(temperature === undefined || !quirks.temperature || thinking !== undefined ? {} : { temperature: Math.min(temperature, 1) }),
    ...(responseSchema && mode === 'tool_call'
      ? { tools: [{ name: responseSchema.name, input_schema: responseSchema.schema }], tool_choice: { type: 'tool', name: responseSchema.name, disable_parallel_tool_use: true } }
      : {}),
    ...(streaming ? { stream: true } : {}),
  };
}

/** What is read of an event, and of a whole message, which has the fields of several. */
interface Event {
  type?: unknown;
  /** Of the block that an event is about. */
  index?: number;
  message?: { usage?: Counts };
  content_block?: Block;
  delta?: { text?: unknown; partial_json?: unknown; stop_reason?: unknown };
  usage?: Counts;
  content?: unknown;
  stop_reason?: unknown;
}

interface Block {
  type?: unknown;
  text?: unknown;
  input?: unknown;
}

interface Counts {
  input_tokens?: unknown;
  cache_creation_input_tokens?: unknown;
  cache_read_input_tokens?: unknown;
  output_tokens?: unknown;
}

/** Blocks of thinking are passed over, also redacted ones. */
async function read(chunks: AsyncIterable<Event>, mode: OutputMode, onText: ChatRequest['onText']): Promise<ChatResult | undefined> {
  let text = '';
  let called = '';
  let reason: unknown;
  let counts: Counts = {};
  let answered = false;
  let tool: number | undefined;
  /** `at` is the place of the block; the input of a second tool is not the answer. */
  const say = (at: number, said: unknown, input?: unknown): void => {
    if (typeof input === 'string') tool ??= at;
    const argument = mode === 'tool_call' && typeof input === 'string' && at === tool ? input : '';
    if (typeof said === 'string') text += said;
    called += argument;
    // Words beside the call are not the answer; without one they are, and then they wait for the end.
    const piece = mode === 'tool_call' ? argument : said;
    if (typeof piece === 'string' && piece !== '') onText?.(piece);
  };
  for await (const event of chunks) {
    answered ||= event.type === 'message' || event.type === 'message_start';
    const blocks = Array.isArray(event.content) ? (event.content as Block[]) : [];
    blocks.forEach((block, at) => say(at, block?.type === 'text' ? block.text : '', block?.type === 'tool_use' ? JSON.stringify(block.input) : undefined));
    const at = event.index ?? 0;
    // A block of text may begin with some; the input of a tool begins as an empty object that stands for nothing.
    if (event.content_block?.type === 'text') say(at, event.content_block.text);
    say(at, event.delta?.text, event.delta?.partial_json);
    reason = event.delta?.stop_reason ?? event.stop_reason ?? reason;
    counts = { ...counts, ...event.message?.usage, ...event.usage };
    if (event.type === 'message_stop') break;
  }
  if (!answered) return undefined;
  if (mode === 'tool_call' && called === '' && text !== '') onText?.(text);
  return { text: called || text, finishReason: finishReasonOf(reason, called), ...usageOf(counts) };
}

const FINISH_REASONS: Record<string, FinishReason> = {
  end_turn: 'stop', stop_sequence: 'stop',
  max_tokens: 'length', model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
};

function finishReasonOf(reason: unknown, called: string): FinishReason {
  const found = (typeof reason === 'string' && Object.hasOwn(FINISH_REASONS, reason) && FINISH_REASONS[reason]) || 'unknown';
  return found === 'tool-calls' && called !== '' ? 'stop' : found;
}

/** What was read from or written to the prompt cache counts apart from `input_tokens`. */
function usageOf(counts: Counts): { usage?: Usage } {
  const parts = [counts.input_tokens, counts.cache_creation_input_tokens, counts.cache_read_input_tokens].filter((count) => typeof count === 'number');
  const input = parts.length === 0 ? undefined : parts.reduce((sum, count) => sum + count, 0);
  const usage = tokens(input, counts.output_tokens);
  return Object.keys(usage).length === 0 ? {} : { usage };
}
