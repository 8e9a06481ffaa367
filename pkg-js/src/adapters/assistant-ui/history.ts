import type { MemoryOS } from '../../memory-os.js';
import type { Metadata, PageView } from '../../types.js';
import { Followed, queue } from '../followed.js';
import { partsOf, place, placeOf, STORED, textOf, THREAD } from './message.js';
import type { AssistantMessage, HistoryItem, MemoryThreadHistory, MessageLike, UserMessage } from './types.js';

/** Which session of the memory the thread is, and what its pages carry. */
export interface MemoryThreadHistoryOptions {
  /** The thread: a session of the memory. */
  session: string;
  metadata?: Metadata;
}

/**
 * assistant-ui's `ThreadHistoryAdapter` over the pages of one session: a thread is what the memory remembers of it, so it holds
 * texts, not calls of tools or pictures, and of several answers to one message the last. Exchanges of other models are
 * stored as they are appended; those of `memoryChatAdapter` have been, and are not stored twice.
 */
export function memoryThreadHistory(memory: MemoryOS, { session, metadata }: MemoryThreadHistoryOptions): MemoryThreadHistory {
  const pages = new Followed<PageView>(memory, (page) => (page.session === session ? page : undefined));
  const inTurn = queue();
  /** Messages of the user that wait for their answer. */
  const asked = new Map<string, HistoryItem>();

  async function pageOf(messageId: string): Promise<PageView | undefined> {
    return [...(await pages.now()).values()].find((page) => idOf(page) === messageId);
  }

  async function store(user: MessageLike, parentId: string | null, answerId: string | undefined, answer: string): Promise<void> {
    const before = await pageOf(user.id);
    if (before && (answer === '' || before.agentResponse === answer)) return;
    if (before?.agentResponse === '') return memory.completeMemory(before.id, answer);
    if (before) await memory.forget(before.id);
    const kept = (error: unknown): Promise<never> => putBack(before).then(() => Promise.reject(error));
    await memory.addMemory({
      id: user.id,
      session,
      userInput: partsOf(user),
      agentResponse: answer,
      metadata: { ...metadata, ...place(parentId, answerId) },
      ...(user.createdAt ? { timestamp: user.createdAt } : {}),
    }).catch(kept);
  }

  /** What was taken away for something that could not be stored. */
  async function putBack(page: PageView | undefined): Promise<void> {
    if (!page) return;
    const { userInput, agentResponse, metadata: own, time } = page;
    await memory.addMemory({ id: idOf(page), session, userInput, agentResponse, metadata: own, ...(time === null ? {} : { timestamp: time }) }).catch(() => undefined);
  }

  const write = (item: HistoryItem): Promise<void> => inTurn(async () => {
    const { message, parentId } = item;
    if (message.role === 'user') asked.set(message.id, item);
    if (message.role !== 'assistant' || parentId === null || message.metadata?.custom?.[STORED] !== undefined) return;
    const question = asked.get(parentId);
    if (question) await store(question.message, question.parentId, message.id, isWhole(message) ? textOf(message) : '');
  });

  return {
    scopeId: `memstrata ${memory.name} ${memory.userId} ${memory.assistantId} ${session}`,
    load: () => inTurn(async () => {
      const messages: { message: UserMessage | AssistantMessage; parentId: string | null }[] = [];
      // By time: a question whose answer was put in its place is a new page.
      const inOrder = [...(await pages.now()).values()].sort((one, other) => (one.time ?? 0) - (other.time ?? 0));
      for (const page of inOrder) {
        const { parent, answer } = placeOf(page.metadata);
        const createdAt = new Date(page.time ?? 0);
        const id = idOf(page);
        const isFirst = parent === null && THREAD in page.metadata;
        const isKnown = messages.some(({ message }) => message.id === parent);
        // A message whose parent is not remembered follows the one before it.
        const before = isFirst || isKnown ? parent : (messages.at(-1)?.message.id ?? null);
        const user = userMessage(id, createdAt, page.userInput);
        asked.set(id, { message: user, parentId: before });
        messages.push({ message: user, parentId: before });
        if (page.agentResponse !== '') messages.push({ message: assistantMessage(answer ?? `${id} answer`, createdAt, page.agentResponse), parentId: id });
      }
      return { headId: messages.at(-1)?.message.id ?? null, messages };
    }),
    append: write,
    update: write,
    delete: (items) => inTurn(async () => {
      for (const { message, parentId } of items) {
        const page = await pageOf(message.role === 'user' ? message.id : (parentId ?? ''));
        if (!page) continue;
        await memory.forget(page.id);
        // The question stays where only its answer goes.
        if (message.role === 'assistant' && page.userInput !== '' && !items.some((item) => item.message.id === parentId)) {
          const { userInput, metadata: kept, time } = page;
          await memory.addMemory({ id: idOf(page), session, userInput, agentResponse: '', metadata: kept, ...(time === null ? {} : { timestamp: time }) })
            .catch((error: unknown) => putBack(page).then(() => Promise.reject(error)));
        }
      }
    }),
  };
}

function idOf({ clientId, id }: PageView): string {
  return clientId ?? id;
}

/** Cut short by its length is an answer too; cancelled, failed or waiting for a tool is none. */
function isWhole({ status }: MessageLike): boolean {
  return status === undefined || status.type === 'complete' || (status.type === 'incomplete' && status.reason === 'length');
}

function userMessage(id: string, createdAt: Date, text: string): UserMessage {
  return { id, createdAt, role: 'user', content: [{ type: 'text', text }], attachments: [], metadata: { custom: {} } };
}

function assistantMessage(id: string, createdAt: Date, text: string): AssistantMessage {
  return {
    id,
    createdAt,
    role: 'assistant',
    content: [{ type: 'text', text }],
    status: { type: 'complete', reason: 'unknown' },
    metadata: { unstable_state: null, unstable_annotations: [], unstable_data: [], steps: [], custom: { [STORED]: {} } },
  };
}
