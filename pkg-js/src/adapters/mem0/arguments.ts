/** What callers give, checked and in the memory's shape. */
import { invalid, MemoryOSError } from '../../errors.js';
import { show } from '../../text.js';
import type { AddMemoryInput, ContentPart } from '../../types.js';
import type { Message } from './types.js';

/** What a page says, by its two sides. */
export type Turn = Pick<AddMemoryInput, 'userInput' | 'agentResponse'>;

export function readMessages(messages: unknown): Message[] {
  const list = (typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages) as Message[];
  if (!Array.isArray(list)) throw invalid(`messages must be a text or a list of messages, got ${show(messages)}`);
  const said = list.filter(({ role, content }) => role !== 'system' && !(typeof content === 'string' && content.trim() === ''));
  if (said.length === 0) throw invalid('messages say nothing: give at least one with content');
  return said;
}

/** Each message of the user with the answer that follows it. */
export function exchanges(messages: Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const { role, content } of messages) {
    const last = turns.at(-1);
    if (role === 'assistant' && last && last.agentResponse === '') last.agentResponse = partsOf(content);
    else turns.push(side(role, content));
  }
  return turns;
}

export function side(role: string, content: Message['content']): Turn {
  return role === 'assistant' ? { userInput: '', agentResponse: partsOf(content) } : { userInput: partsOf(content), agentResponse: '' };
}

function partsOf(content: Message['content']): string | ContentPart[] {
  return typeof content === 'string' ? content : [content];
}

export function lineOf({ userInput, agentResponse }: Turn): string {
  return [userInput, agentResponse].filter((text) => typeof text === 'string' && text !== '').join('\n');
}

export function expiration(date: string | null | undefined): { expiration_date?: string | null } {
  if (date === undefined) return {};
  if (date !== null && !/^\d{4}-\d\d-\d\d$/.test(date)) throw invalid(`expirationDate must be a day as 2026-03-01, got ${show(date)}`);
  return { expiration_date: date };
}

export function readId(id: unknown, name: string): string | undefined {
  if (id === undefined || id === null) return undefined;
  const trimmed = String(id).trim();
  if (trimmed === '' || /\s/.test(trimmed)) throw invalid(`${name} must be an identifier without white space, got ${show(id)}`);
  return trimmed;
}

export function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

export function notFound(id: string): MemoryOSError {
  return new MemoryOSError('NOT_FOUND', `there is no memory ${show(id)}`);
}
