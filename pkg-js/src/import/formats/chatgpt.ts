/** The export of ChatGPT: conversations.json, a list of conversations, each a tree of messages of which one branch is shown. */
import type { ContentPart } from '../../types.js';
import { each, isObject, textOf } from '../entries.js';
import type { Entry, Format, Json } from '../entries.js';
import { Pairs } from '../pairs.js';

export const CHATGPT: Format = {
  name: 'chatgpt',
  matches: (value) => isObject(value.mapping),
  reader: each((value, place) => readConversation(value as Json, place)),
};

/** Contents that are shown as a message; the others are thoughts, code for tools and their output, and what the model was told. */
const SHOWN = ['text', 'multimodal_text'];

function readConversation(conversation: Json, place: string): Entry[] {
  const mapping = conversation.mapping as Json;
  const session = textOf(conversation.conversation_id) ?? textOf(conversation.id);
  const title = textOf(conversation.title);
  const pairs = new Pairs({ ...(session === undefined ? {} : { session }), ...(title === undefined ? {} : { metadata: { title } }) });
  const entries: Entry[] = [];
  for (const [id, node] of branch(mapping, conversation.current_node)) {
    const where = `${place}.mapping.${id}`;
    const { message } = node;
    // The root has none.
    if (message === null || message === undefined) continue;
    if (!isObject(message)) {
      entries.push({ place: where, unreadable: 'its message is no object' });
      continue;
    }
    const role = isObject(message.author) ? message.author.role : undefined;
    const reason = hidden(message, role);
    if (reason !== undefined) {
      entries.push({ place: where, leftOut: reason });
      continue;
    }
    const parts = partsOf(message.content as Json);
    if (parts.length === 0) {
      entries.push({ place: where, leftOut: 'empty' });
      continue;
    }
    const seconds = message.create_time ?? conversation.create_time;
    entries.push(...pairs.push({
      place: where, role: role as 'user' | 'assistant', parts, id: `chatgpt:${session ?? ''}:${id}`,
      time: typeof seconds === 'number' ? Math.round(seconds * 1_000) : undefined,
    }));
  }
  return [...entries, ...pairs.end()];
}

/** From the root to the message that was shown last. */
function branch(mapping: Json, current: unknown): [id: string, node: Json][] {
  const path: [string, Json][] = [];
  const seen = new Set<string>();
  let id = typeof current === 'string' && Object.hasOwn(mapping, current) ? current : latestLeaf(mapping);
  while (id !== undefined && !seen.has(id)) {
    const node: unknown = Object.hasOwn(mapping, id) ? mapping[id] : undefined;
    if (!isObject(node)) break;
    seen.add(id);
    path.unshift([id, node]);
    id = textOf(node.parent);
  }
  return path;
}

function latestLeaf(mapping: Json): string | undefined {
  const timeOf = (node: Json): number => (isObject(node.message) && typeof node.message.create_time === 'number' ? node.message.create_time : 0);
  let [latest, time]: [string | undefined, number] = [undefined, Number.NEGATIVE_INFINITY];
  for (const [id, node] of Object.entries(mapping)) {
    if (!isObject(node) || (Array.isArray(node.children) && node.children.length > 0) || timeOf(node) < time) continue;
    [latest, time] = [id, timeOf(node)];
  }
  return latest;
}

function hidden(message: Json, role: unknown): string | undefined {
  if (role !== 'user' && role !== 'assistant') return `of the role ${String(role)}`;
  if (isObject(message.metadata) && message.metadata.is_visually_hidden_from_conversation === true) return 'hidden';
  if (message.weight === 0) return 'hidden';
  if (textOf(message.recipient) !== undefined && message.recipient !== 'all') return 'to a tool';
  const content = message.content;
  return isObject(content) && SHOWN.includes(content.content_type as string) ? undefined : `of the content ${isObject(content) ? String(content.content_type) : String(content)}`;
}

function partsOf({ parts }: Json): ContentPart[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part): ContentPart[] => {
    if (typeof part === 'string') return part.trim() === '' ? [] : [{ type: 'text', text: part }];
    // Pictures and sounds are kept as references.
    return isObject(part) ? [{ ...part, type: textOf(part.content_type) ?? 'unknown' }] : [];
  });
}
