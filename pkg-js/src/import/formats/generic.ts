/** Conversations of no product in particular: turns of two sides, messages with roles, and lists of such messages. */
import type { ContentPart, Metadata } from '../../types.js';
import { isObject, textOf } from '../entries.js';
import type { Entry, Format, Json, Reader } from '../entries.js';
import { Pairs } from '../pairs.js';

const USER = ['userInput', 'user_input', 'user', 'human', 'question', 'prompt', 'input'];
const AGENT = ['agentResponse', 'agent_response', 'assistant', 'ai', 'bot', 'answer', 'response', 'output', 'completion'];
const TIME = ['timestamp', 'created_at', 'createdAt', 'create_time', 'time', 'date'];
const ROLES: { [role: string]: 'user' | 'assistant' } = { user: 'user', human: 'user', assistant: 'assistant', ai: 'assistant', bot: 'assistant', model: 'assistant' };

export const GENERIC: Format = {
  name: 'generic',
  matches: (value) => isMessage(value) || isTurn(value) || Array.isArray(value.messages),
  reader: () => new GenericReader(),
};

class GenericReader implements Reader {
  readonly #loose = new Pairs();

  take(value: unknown, place: string): Entry[] {
    if (!isObject(value)) return [{ place, unreadable: 'it must be an object' }];
    if (Array.isArray(value.messages)) return [...this.#loose.end(), ...readConversation(value, place)];
    if (isMessage(value)) return readMessage(value, place, this.#loose);
    if (isTurn(value)) return [...this.#loose.end(), readTurn(value, place)];
    return [{ place, unreadable: 'it has neither a role and content, nor what two sides said' }];
  }

  end(): Entry[] {
    return this.#loose.end();
  }
}

function readConversation(conversation: Json, place: string): Entry[] {
  const session = textOf(conversation.session) ?? textOf(conversation.id);
  const title = textOf(conversation.title);
  const pairs = new Pairs({ ...(session === undefined ? {} : { session }), ...(title === undefined ? {} : { metadata: { title } }) });
  const entries = (conversation.messages as unknown[]).flatMap((message, at): Entry[] => {
    const where = `${place}${place === '' ? '' : '.'}messages[${at}]`;
    return isObject(message) && isMessage(message) ? readMessage(message, where, pairs) : [{ place: where, unreadable: 'a message needs a role and content' }];
  });
  return [...entries, ...pairs.end()];
}

function readMessage(message: Json, place: string, pairs: Pairs): Entry[] {
  const role = ROLES[String(message.role).toLowerCase()];
  if (!role) return [{ place, leftOut: `of the role ${String(message.role)}` }];
  const content = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content as ContentPart[];
  const parts = content.filter((part) => typeof part === 'string' || (isObject(part) && !['tool_use', 'tool_result', 'thinking', 'tool-call', 'tool-result', 'reasoning'].includes(part.type)));
  if (parts.every((part) => isObject(part) && part.type === 'text' && textOf(part.text) === undefined)) return [{ place, leftOut: 'empty' }];
  return pairs.push({ place, role, parts, time: timeOf(message), id: textOf(message.id) });
}

function readTurn(value: Json, place: string): Entry {
  const side = (names: string[]): string => names.map((name) => value[name]).find((said) => typeof said === 'string') as string | undefined ?? '';
  const time = timeOf(value);
  return {
    place,
    turn: {
      userInput: side(USER), agentResponse: side(AGENT),
      ...(time === undefined ? {} : { timestamp: time }),
      ...(isObject(value.metadata) ? { metadata: value.metadata as Metadata } : {}),
      ...(textOf(value.id) === undefined ? {} : { id: value.id as string }),
      ...(textOf(value.session) === undefined ? {} : { session: value.session as string }),
    },
  };
}

/** Small numbers are seconds: as milliseconds they would lie in January 1970. */
function timeOf(value: Json): number | string | undefined {
  const time = TIME.map((name) => value[name]).find((given) => typeof given === 'string' || typeof given === 'number') as string | number | undefined;
  return typeof time === 'number' && time < 1e11 ? Math.round(time * 1_000) : time;
}

function isMessage(value: Json): boolean {
  return typeof value.role === 'string' && (typeof value.content === 'string' || Array.isArray(value.content));
}

function isTurn(value: Json): boolean {
  return [...USER, ...AGENT].some((name) => typeof value[name] === 'string');
}
