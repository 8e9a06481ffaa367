/** The export of Claude: conversations.json, a list of conversations with their messages in order. */
import type { ContentPart } from '../../types.js';
import { each, isObject, textOf } from '../entries.js';
import type { Entry, Format, Json } from '../entries.js';
import { Pairs } from '../pairs.js';

export const CLAUDE: Format = {
  name: 'claude',
  matches: (value) => Array.isArray(value.chat_messages),
  reader: each((value, place) => readConversation(value as Json, place)),
};

function readConversation(conversation: Json, place: string): Entry[] {
  const session = textOf(conversation.uuid);
  const title = textOf(conversation.name);
  const pairs = new Pairs({ ...(session === undefined ? {} : { session }), ...(title === undefined ? {} : { metadata: { title } }) });
  const entries: Entry[] = [];
  for (const [at, message] of (conversation.chat_messages as unknown[]).entries()) {
    const where = `${place}.chat_messages[${at}]`;
    const role = isObject(message) ? { human: 'user' as const, assistant: 'assistant' as const }[String(message.sender)] : undefined;
    if (!isObject(message) || !role) {
      entries.push({ place: where, unreadable: 'it has no sender "human" or "assistant"' });
      continue;
    }
    const parts = partsOf(message);
    if (parts.length === 0) entries.push({ place: where, leftOut: 'empty' });
    else entries.push(...pairs.push({ place: where, role, parts, time: textOf(message.created_at), id: `claude:${textOf(message.uuid) ?? `${session ?? ''}:${at}`}` }));
  }
  return [...entries, ...pairs.end()];
}

/** Texts of the content; what is thought, and what tools were asked and said, is left out. Older exports have the text alone. */
function partsOf(message: Json): ContentPart[] {
  const blocks = Array.isArray(message.content) ? message.content : [];
  const texts = blocks.flatMap((block) => (isObject(block) && block.type === 'text' && textOf(block.text) !== undefined ? [block.text as string] : []));
  const text = textOf(message.text);
  if (texts.length === 0 && text !== undefined) texts.push(text);
  const files = [message.attachments, message.files].flatMap((list) => (Array.isArray(list) ? list : []));
  return [
    ...texts.map((said) => ({ type: 'text', text: said })),
    ...files.flatMap((file) => (isObject(file) && textOf(file.file_name) !== undefined ? [{ type: 'file', name: file.file_name }] : [])),
  ];
}
