/** Shapes of the AI SDK that the middleware touches, wide enough for specifications v2, v3 and v4. */
import type { MemoryOSError } from '../../errors.js';
import type { Metadata, RetrieveOptions } from '../../types.js';
import type { PromptMessage } from './prompt.js';

/** What is recalled and stored, and who hears of a failure of the memory, which never fails the model call. */
export interface MemoryMiddlewareOptions {
  /** How to recall: `topK`, `budgetTokens`, `strategy`, `profile`, `filter`. */
  retrieve?: Pick<RetrieveOptions, 'topK' | 'budgetTokens' | 'strategy' | 'profile' | 'filter'>;
  /** Session of what is stored, where the call names none. */
  session?: string;
  /** Kept with each stored turn. */
  metadata?: Metadata;
  userName?: string;
  agentName?: string;
  /** Milliseconds after which the model is asked without memory. Default 5,000. */
  timeoutMs?: number;
  /** Told of every failure of the memory; none of them reaches the model call. */
  onError?: (error: MemoryOSError, during: 'recall' | 'store') => void;
}

/** What a call may say in `providerOptions.memstrata`; the key is taken out before the provider sees it. */
export interface MemoryCallOptions {
  /** False: neither recall nor store. */
  enabled?: boolean;
  recall?: boolean;
  store?: boolean;
  session?: string;
  /** Your own id of the user's message: the same id is stored once. It may also stand in that message's `providerOptions`. */
  id?: string;
}

export interface CallOptions {
  prompt: readonly PromptMessage[];
  providerOptions?: { [provider: string]: unknown } | undefined;
  abortSignal?: AbortSignal | undefined;
}

/** A middleware for `wrapLanguageModel`. */
export interface MemoryMiddleware {
  /** The SDK's types ask for the word of their own version; nothing here depends on it. */
  readonly specificationVersion: any;
  transformParams<P>(options: { params: P }): Promise<P>;
  wrapGenerate<R>(options: { doGenerate: () => PromiseLike<R>; params: object }): Promise<R>;
  wrapStream<R>(options: { doStream: () => PromiseLike<R>; params: object }): Promise<R>;
  /** Stores turns whose tools were called and never followed by an answer, and waits for every write. */
  settle(): Promise<void>;
}
