/** The shapes of assistant-ui's adapters, by structure: nothing of assistant-ui is imported. */
import type { Metadata } from '../../types.js';

/** What is read of a message; assistant-ui's `ThreadMessage` has more. */
export interface MessageLike {
  readonly id: string;
  readonly role: string;
  readonly createdAt?: Date;
  readonly content: readonly { readonly type: string }[];
  readonly attachments?: readonly { readonly content?: readonly { readonly type: string }[] | undefined }[] | undefined;
  readonly status?: { readonly type: string; readonly reason?: string } | undefined;
  readonly metadata?: { readonly custom?: { readonly [key: string]: unknown } | undefined } | undefined;
}

export interface RunOptions {
  readonly messages: readonly MessageLike[];
  readonly abortSignal: AbortSignal;
  readonly unstable_assistantMessageId?: string | undefined;
  readonly unstable_threadId?: string | undefined;
}

export interface RunResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly status?: { readonly type: 'complete'; readonly reason: 'stop' } | { readonly type: 'incomplete'; readonly reason: 'length' | 'content-filter' };
  readonly metadata: { readonly custom: { readonly [key: string]: unknown } };
}

/** assistant-ui's `ChatModelAdapter`, by its shape. */
export interface MemoryChatAdapter {
  run(options: RunOptions): AsyncGenerator<RunResult, void>;
}

/** How an answer is asked for: session, metadata and what `getResponse` takes. */
export interface MemoryChatOptions {
  /** Session of what is stored; the same one for `memoryThreadHistory`. Default: the thread's id, where there is one. */
  session?: string;
  style?: string;
  relationship?: string;
  budgetTokens?: number;
  metadata?: Metadata;
  userName?: string;
  agentName?: string;
}

interface Base {
  id: string;
  createdAt: Date;
}

export interface UserMessage extends Base {
  role: 'user';
  content: [{ type: 'text'; text: string }];
  attachments: [];
  metadata: { custom: { [key: string]: unknown } };
}

export interface AssistantMessage extends Base {
  role: 'assistant';
  content: [{ type: 'text'; text: string }];
  status: { type: 'complete'; reason: 'unknown' };
  metadata: { unstable_state: null; unstable_annotations: []; unstable_data: []; steps: []; custom: { [key: string]: unknown } };
}

export interface HistoryItem {
  message: MessageLike;
  parentId: string | null;
}

/** assistant-ui's `ThreadHistoryAdapter`, by its shape. */
export interface MemoryThreadHistory {
  scopeId: string;
  load(): Promise<{ headId: string | null; messages: { message: UserMessage | AssistantMessage; parentId: string | null }[] }>;
  append(item: HistoryItem): Promise<void>;
  update(item: HistoryItem): Promise<void>;
  delete(items: HistoryItem[]): Promise<void>;
}
