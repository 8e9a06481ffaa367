/**
 * What a server does not take. "OpenAI-compatible" servers refuse different parts of the same request with HTTP 400;
 * each refusal leads to a plainer request, and what worked is remembered per server and model.
 */
import type { ChatRequest, OutputMode } from './types.js';

export interface Quirks {
  /** Strongest way it takes to ask for JSON. */
  json: OutputMode;
  /** Takes `stream_options: { include_usage }`. */
  streamUsage: boolean;
  tokensField: 'max_tokens' | 'max_completion_tokens';
  temperature: boolean;
}

/** Strongest first. */
const MODES: readonly OutputMode[] = ['json_schema', 'json_object', 'tool_call', 'plain'];

const NONE: Quirks = { json: 'json_schema', streamUsage: true, tokensField: 'max_tokens', temperature: true };

// Shared by all providers of a realm: two objects for one server learn from each other.
const known = new Map<string, Quirks>();

export function quirksOf(server: string, model: string, none = NONE): Quirks {
  return known.get(key(server, model)) ?? none;
}

export function remember(server: string, model: string, quirks: Quirks): void {
  known.set(key(server, model), quirks);
}

function key(server: string, model: string): string {
  return `${server} ${model}`;
}

/** How JSON is asked for: the weaker of what the server takes and what the request wants. */
export function modeOf(quirks: Quirks, { responseSchema, outputMode = 'json_schema' }: ChatRequest): OutputMode {
  // Where none is asked for, what the server takes must not hold back the words of its answer.
  if (!responseSchema) return 'plain';
  return MODES[Math.max(MODES.indexOf(quirks.json), MODES.indexOf(outputMode))] as OutputMode;
}

/** A plainer request after a refusal, or undefined when there is nothing left to give up. `complaint` is the server's own text. */
export function plainer(quirks: Quirks, request: ChatRequest, streaming: boolean, complaint: string): Quirks | undefined {
  const usesUsage = streaming && quirks.streamUsage;
  const mode = modeOf(quirks, request);
  const usesJson = request.responseSchema !== undefined && mode !== 'plain';
  const usesTokens = request.maxOutputTokens !== undefined && quirks.tokensField === 'max_tokens';
  const usesTemperature = request.temperature !== undefined && quirks.temperature;

  if (usesUsage && /stream_options|include_usage/i.test(complaint)) return { ...quirks, streamUsage: false };
  if (usesTokens && /max_completion_tokens/i.test(complaint)) return { ...quirks, tokensField: 'max_completion_tokens' };
  if (usesTemperature && /temperature/i.test(complaint)) return { ...quirks, temperature: false };
  if (usesJson && /json|response_format|schema|grammar|structured|tool|function/i.test(complaint)) return lessJson(quirks, mode);
  // Too long stays too long, and a model that is not there is not there in any format.
  if (/context|too (long|many|large)|maximum.*tokens|model.*(not (found|exist)|does not exist)|api key|credit/i.test(complaint)) return undefined;
  // It does not say what it minds: give up the likelier one first.
  if (usesJson) return lessJson(quirks, mode);
  if (usesUsage) return { ...quirks, streamUsage: false };
  return undefined;
}

function lessJson(quirks: Quirks, refused: OutputMode): Quirks {
  return { ...quirks, json: MODES[MODES.indexOf(refused) + 1] as OutputMode };
}

/** The request's body as this server takes it. */
export function chatBody(model: string, request: ChatRequest, streaming: boolean, quirks: Quirks): Record<string, unknown> {
  const { responseSchema, maxOutputTokens, temperature } = request;
  const mode = modeOf(quirks, request);
  return {
    model,
    messages: messagesFor(request, mode),
    ...(maxOutputTokens === undefined ? {} : { [quirks.tokensField]: maxOutputTokens }),
    ...(temperature === undefined || !quirks.temperature ? {} : { temperature }),
    ...(responseSchema && mode === 'json_schema'
      ? { response_format: { type: 'json_schema', json_schema: { name: responseSchema.name, schema: responseSchema.schema, strict: true } } }
      : {}),
    ...(responseSchema && mode === 'json_object' ? { response_format: { type: 'json_object' } } : {}),
    ...(responseSchema && mode === 'tool_call'
      ? {
          tools: [{ type: 'function', function: { name: responseSchema.name, parameters: responseSchema.schema } }],
          // There is one tool to choose. Named by an object it would be refused by some servers, LM Studio among them.
          tool_choice: 'required',
        }
      : {}),
    ...(streaming ? { stream: true, ...(quirks.streamUsage ? { stream_options: { include_usage: true } } : {}) } : {}),
  };
}

/**
 * Where the format does not carry the schema the prompt must, and servers insist on the word "json" in it. Tools carry it
 * only where they are not ignored. A caller who asks in words has written them already.
 */
export function messagesFor(request: ChatRequest, mode: OutputMode): ChatRequest['messages'] {
  if (!request.responseSchema || mode === 'json_schema' || request.outputMode === 'plain') return request.messages;
  const note = `Answer with one json value and nothing else. It must follow this JSON Schema: ${JSON.stringify(request.responseSchema.schema)}`;
  const last = request.messages.at(-1);
  if (!last) return [{ role: 'user', content: note }];
  return [...request.messages.slice(0, -1), { ...last, content: `${last.content}\n\n${note}` }];
}
