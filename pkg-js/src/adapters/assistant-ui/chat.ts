import { readContent } from '../../boundary/content.js';
import { ATTACHMENTS } from '../../boundary/turn.js';
import { invalid } from '../../errors.js';
import type { MemoryOS } from '../../memory-os.js';
import { partsOf, place, STORED } from './message.js';
import type { MemoryChatAdapter, MemoryChatOptions, RunResult } from './types.js';

/**
 * assistant-ui's `ChatModelAdapter` over the memory's own language model: each answer comes from `getResponse`, which recalls,
 * and stores the exchange under the id of the user's message. Asking again for the same message replaces the answer.
 */
export function memoryChatAdapter(memory: MemoryOS, { session, metadata, ...manner }: MemoryChatOptions = {}): MemoryChatAdapter {
  return {
    async *run({ messages, abortSignal, unstable_assistantMessageId: answerId, unstable_threadId: threadId }) {
      const at = messages.findLastIndex(({ role }) => role === 'user');
      const message = messages[at];
      if (!message) throw invalid('there is no message of the user to answer');
      const { text: query, references } = readContent(partsOf(message), 'the message');
      const attachments = references.map((reference) => ({ side: 'user', ...reference }));
      const thread = session ?? threadId;
      const stream = memory.getResponse(query, {
        ...manner,
        stream: true,
        signal: abortSignal,
        id: message.id,
        metadata: { ...metadata, ...place(messages[at - 1]?.id ?? null, answerId), ...(attachments.length > 0 ? { [ATTACHMENTS]: attachments } : {}) },
        ...(thread === undefined ? {} : { session: thread }),
      });
      const result = (text: string, more: { [key: string]: unknown } = {}): RunResult => ({ content: [{ type: 'text', text }], metadata: { custom: { [STORED]: more } } });
      let text = '';
      try {
        for await (const piece of stream) yield result((text += piece));
        const { pageId, mode, finishReason } = await stream.result;
        yield { ...result(text, { pageId, mode }), status: statusOf(finishReason) };
      } catch (error) {
        // The runtime knows that it has cancelled; the memory keeps the question.
        if (!abortSignal.aborted) throw error;
      }
    },
  };
}

function statusOf(finishReason: string): NonNullable<RunResult['status']> {
  if (finishReason === 'length' || finishReason === 'content-filter') return { type: 'incomplete', reason: finishReason };
  return { type: 'complete', reason: 'stop' };
}
