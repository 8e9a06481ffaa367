import { useCallback, useEffect, useRef, useState } from 'react';
import type { MemoryOSError } from '../../errors.js';
import { MemoryOSError as Failure, toMemoryOSError } from '../../errors.js';
import type { GetResponseOptions, ResponseResult } from '../../types.js';
import { useMemory } from './provider.js';

/** A question or an answer as a component shows it. */
export interface ResponseMessage {
  id: string;
  role: 'user' | 'assistant';
  text: string;
}

/** A conversation: what was said, what is on its way, and the calls that go on, stop and ask again. */
export interface UseMemoryResponse {
  /** What was said since the component mounted; the last answer grows while it comes. */
  messages: ResponseMessage[];
  status: 'idle' | 'answering' | 'failed';
  error: MemoryOSError | undefined;
  /** The last whole answer, with what was recalled for it. */
  result: ResponseResult | undefined;
  /** Asks; an answer that is still coming is stopped first. Resolves when the answer has ended, however it did. */
  ask(query: string, options?: Omit<GetResponseOptions, 'stream' | 'signal'>): Promise<void>;
  /** Ends the answer. What has come of it stays in `messages`; the memory keeps the question alone. */
  stop(): void;
}

let lastId = 0;

/** A conversation with the memory's language model, through `getResponse`. An unmounted component stops its answer. */
export function useMemoryResponse(defaults: Omit<GetResponseOptions, 'stream' | 'signal' | 'id'> = {}): UseMemoryResponse {
  const { memory } = useMemory();
  const [messages, setMessages] = useState<ResponseMessage[]>([]);
  const [outcome, setOutcome] = useState<Pick<UseMemoryResponse, 'status' | 'error' | 'result'>>({ status: 'idle', error: undefined, result: undefined });
  const running = useRef<AbortController>(undefined);
  const latest = useRef(defaults);
  useEffect(() => {
    latest.current = defaults;
  });

  const stop = useCallback(() => running.current?.abort(), []);
  useEffect(() => stop, [memory, stop]);

  const ask = useCallback<UseMemoryResponse['ask']>(async (query, options) => {
    stop();
    const controller = new AbortController();
    running.current = controller;
    // What a stopped answer still says is nobody's: the next one has the word.
    const isCurrent = (): boolean => running.current === controller;
    const [question, answer] = [`message-${++lastId}`, `message-${++lastId}`];
    setMessages((before) => [...before, { id: question, role: 'user', text: query }, { id: answer, role: 'assistant', text: '' }]);
    setOutcome({ status: 'answering', error: undefined, result: undefined });
    try {
      if (!memory) throw new Failure('NOT_OPEN', 'the memory is not open yet: ask when useMemory says ready');
      const stream = memory.getResponse(query, { ...latest.current, ...options, stream: true, signal: controller.signal });
      let text = '';
      for await (const piece of stream) {
        if (controller.signal.aborted) continue;
        text += piece;
        const grown = text;
        setMessages((before) => before.map((message) => (message.id === answer ? { ...message, text: grown } : message)));
      }
      const result = await stream.result;
      if (isCurrent()) setOutcome({ status: 'idle', error: undefined, result });
    } catch (error) {
      if (!isCurrent()) return;
      if (controller.signal.aborted) setOutcome({ status: 'idle', error: undefined, result: undefined });
      else setOutcome({ status: 'failed', error: toMemoryOSError(error, 'INTERNAL'), result: undefined });
    }
  }, [memory, stop]);

  return { messages, ...outcome, ask, stop };
}
