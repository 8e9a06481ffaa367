/** Orders of messages that makers insist on. */
import type { ChatMessage } from './types.js';

/** Engines that take a system message only at the very front get all of them there, as one. */
export function systemFirst(messages: ChatMessage[]): ChatMessage[] {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n\n');
  const rest = messages.filter(({ role }) => role !== 'system').map((message) => ({ ...message }));
  return system === '' ? rest : [{ role: 'system', content: system }, ...rest];
}

/** Where the user must speak first and did not, because a turn had no question or all there is are instructions, he says as good as nothing. */
export function userFirst(messages: ChatMessage[]): ChatMessage[] {
  return messages[0]?.role === 'user' ? messages : [{ role: 'user', content: '…' }, ...messages];
}
