/** Reading an AI SDK prompt, of specifications v2, v3 and v4 alike. Structural: no type of the SDK is imported. */
import type { ContentPart } from '../../types.js';
import { hash64 } from '../hash.js';

export interface PromptMessage {
  role: string;
  content: unknown;
  providerOptions?: { [provider: string]: unknown } | undefined;
}

/** A user message and all that the assistant said to it, over all steps. */
export interface Exchange {
  user: string;
  assistant: string[];
}

export interface Reading {
  /** Where the last user message stands. */
  at: number;
  /** Exchanges before it. */
  earlier: Exchange[];
  /** The last one; its answer is what earlier steps have said. */
  current: Exchange;
  /** Whether a step has followed the user's message. */
  begun: boolean;
  /** Tells this turn from others: all that user and assistant said, up to the user's message. */
  key: string;
}

/** `undefined` for a prompt without a user message. */
export function readPrompt(prompt: readonly PromptMessage[]): Reading | undefined {
  const at = prompt.findLastIndex(({ role }) => role === 'user');
  if (at < 0) return undefined;
  const exchanges: Exchange[] = [];
  let key = '';
  prompt.forEach(({ role, content }, index) => {
    if (role === 'user') exchanges.push({ user: textOf(content), assistant: [] });
    else if (role === 'assistant') exchanges.at(-1)?.assistant.push(...[textOf(content)].filter(Boolean));
    // Instructions may change from step to step, and are not what was said.
    if (role !== 'system' && index <= at) key = hash64(`${key}${role}${JSON.stringify(content, withoutBytes)}`);
  });
  const current = exchanges.pop() as Exchange;
  return { at, earlier: exchanges, current, begun: at < prompt.length - 1, key };
}

function withoutBytes(_key: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? value.byteLength : value;
}

/** The text of a message or of a result; reasoning, calls and results of tools are left out. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.filter(isText).map(({ text }) => text).join('\n');
}

function isText(part: unknown): part is { type: 'text'; text: string } {
  return typeof part === 'object' && part !== null && 'type' in part && part.type === 'text' && 'text' in part && typeof part.text === 'string';
}

/** The parts as a memory takes them: text as it is, of a file its kind and address, never its bytes. */
export function partsOf(content: unknown): string | ContentPart[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part: { type: string; [key: string]: unknown }) => {
    if (isText(part)) return { type: 'text', text: part.text };
    const url = addressOf(part.data ?? part.image);
    return { type: part.type, ...pick(part, 'mediaType'), ...pick(part, 'filename'), ...(url === undefined ? {} : { url }) };
  });
}

function pick(part: { [key: string]: unknown }, key: string): { [key: string]: string } {
  const value = part[key];
  return typeof value === 'string' ? { [key]: value } : {};
}

/** v2 and v3 give the address itself, v4 wraps it. */
function addressOf(data: unknown): string | undefined {
  const value = typeof data === 'object' && data !== null && 'url' in data ? data.url : data;
  if (value instanceof URL) return value.protocol === 'data:' ? undefined : value.href;
  return typeof value === 'string' && /^(https?|blob|file):/i.test(value) ? value : undefined;
}

/** Why a step ended: a word in v2, an object from v3 on. */
export function reasonOf(finishReason: unknown): string {
  if (typeof finishReason === 'object' && finishReason !== null && 'unified' in finishReason) return String(finishReason.unified);
  return String(finishReason);
}
