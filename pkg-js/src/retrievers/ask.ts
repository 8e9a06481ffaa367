/** One question to a model, for a JSON object with one list. */
import type { ChatModel } from '../providers/types.js';

export interface Asking {
  chat: ChatModel;
  /** Name of the list, which names the schema too. */
  name: string;
  /** JSON Schema of one item. */
  items: object;
  system: string;
  user: string;
  signal: AbortSignal;
}

/** The list of the reply; nothing where the model fails or answers otherwise. Rejects when the search is cancelled. */
export async function askList({ chat, name, items, system, user, signal }: Asking): Promise<unknown[]> {
  try {
    const { text } = await chat.chat({
      messages: [{ role: 'system', content: system }, { role: 'user', content: user }],
      responseSchema: { name, schema: { type: 'object', properties: { [name]: { type: 'array', items } }, required: [name], additionalProperties: false } },
      abortSignal: signal,
    });
    // The object may stand in a fence, or among words.
    const found = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Record<string, unknown>;
    return Array.isArray(found[name]) ? found[name] : [];
  } catch {
    signal.throwIfAborted();
    return [];
  }
}
