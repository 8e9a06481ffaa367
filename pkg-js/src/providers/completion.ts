/** OpenAI's shape of an answer, whole or in pieces: that of many servers, and of engines that run in the page. */
import type { ChatRequest, ChatResult, FinishReason, OutputMode, Usage } from './types.js';

/** The fields that are read; everything is optional, since every server leaves out another. */
export interface Completion {
  choices?: {
    message?: Said;
    delta?: Said;
    finish_reason?: unknown;
  }[];
  usage?: unknown;
}

interface Said {
  content?: unknown;
  tool_calls?: unknown;
}

/** An answer that came whole is read as a stream of one chunk. undefined where none holds a choice. */
export async function readCompletion(chunks: AsyncIterable<Completion>, mode: OutputMode, onText: ChatRequest['onText']): Promise<ChatResult | undefined> {
  let text = '';
  let called = '';
  let reason: unknown;
  let usage: { usage?: Usage } = {};
  let answered = false;
  for await (const chunk of chunks) {
    const choice = chunk.choices?.[0];
    answered ||= choice !== undefined;
    const given = choice?.delta ?? choice?.message;
    const said = textOf(given?.content);
    const argument = argumentsOf(given, mode);
    text += said;
    called += argument;
    // Where a tool is to be called, words are the answer only if it never is: they wait for the end.
    const piece = mode === 'tool_call' ? argument : said;
    if (piece !== '') onText?.(piece);
    if (typeof choice?.finish_reason === 'string') reason = choice.finish_reason;
    if (chunk.usage) usage = usageOf(chunk.usage);
  }
  if (!answered) return undefined;
  if (mode === 'tool_call' && called === '' && text !== '') onText?.(text);
  return { text: called || text, finishReason: finishReasonOf(reason, called), ...usage };
}

/** A string, or the parts that a few servers send. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

/** Arguments of the first tool call, or a piece of them; most servers send them as text, a few as an object. */
function argumentsOf(said: Said | undefined, mode: OutputMode): string {
  if (mode !== 'tool_call' || !Array.isArray(said?.tool_calls)) return '';
  const calls = said.tool_calls as ({ index?: unknown; function?: { arguments?: unknown } } | null)[];
  const given = calls.find((call, at) => (call?.index ?? at) === 0)?.function?.arguments ?? '';
  return typeof given === 'string' ? given : JSON.stringify(given);
}

const FINISH_REASONS: Record<string, FinishReason> = {
  stop: 'stop', eos: 'stop', end_turn: 'stop', stop_sequence: 'stop',
  length: 'length', max_tokens: 'length', model_length: 'length',
  tool_calls: 'tool-calls', function_call: 'tool-calls', tool_use: 'tool-calls',
  content_filter: 'content-filter', safety: 'content-filter', refusal: 'content-filter',
  error: 'error',
};

/** A call with arguments was what was asked for, so it ends well. */
function finishReasonOf(reason: unknown, called: string): FinishReason {
  const found = (typeof reason === 'string' && Object.hasOwn(FINISH_REASONS, reason.toLowerCase()) && FINISH_REASONS[reason.toLowerCase()]) || 'unknown';
  return found === 'tool-calls' && called !== '' ? 'stop' : found;
}

/** Counts by OpenAI's names. */
export function usageOf(usage: unknown): { usage?: Usage } {
  if (typeof usage !== 'object' || usage === null) return {};
  const { prompt_tokens: input, completion_tokens: output } = usage as { prompt_tokens?: unknown; completion_tokens?: unknown };
  return { usage: tokens(input, output) };
}

/** What was counted, without what was not. */
export function tokens(input: unknown, output: unknown): Usage {
  return { ...(typeof input === 'number' ? { inputTokens: input } : {}), ...(typeof output === 'number' ? { outputTokens: output } : {}) };
}
