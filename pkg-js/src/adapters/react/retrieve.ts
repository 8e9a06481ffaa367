import { useEffect, useState } from 'react';
import type { MemoryOSError } from '../../errors.js';
import { toMemoryOSError } from '../../errors.js';
import type { MemoryOS } from '../../memory-os.js';
import type { RetrieveOptions, RetrieveResult } from '../../types.js';
import { useMemory } from './provider.js';

/** What a search found, whether one is on its way, and its error. An answer that came too late is dropped. */
export interface UseRetrieve {
  /** The last answer; while `pending`, to an earlier question. `undefined` for no question. */
  result: RetrieveResult | undefined;
  error: MemoryOSError | undefined;
  pending: boolean;
}

type Answer = Omit<UseRetrieve, 'pending'>;

/**
 * Searches the memory for a question, and again when question or options change: the search before is aborted, and its answer
 * is dropped if it comes all the same. An empty question finds nothing.
 */
export function useRetrieve(query: string, options: Omit<RetrieveOptions, 'signal'> = {}): UseRetrieve {
  const { memory } = useMemory();
  const [found, setFound] = useState<Answer & { memory: MemoryOS; question: string }>();
  const asked = query.trim() !== '';
  // Options written in place are another object at every render: what they say counts.
  const question = `${query}\0${JSON.stringify(options)}`;

  useEffect(() => {
    if (!memory || !asked) return undefined;
    const controller = new AbortController();
    const say = (answer: Answer): void => {
      if (!controller.signal.aborted) setFound({ memory, question, ...answer });
    };
    memory.retrieve(query, { ...options, signal: controller.signal }).then(
      (result) => say({ result, error: undefined }),
      (error: unknown) => say({ result: undefined, error: toMemoryOSError(error, 'INTERNAL') }),
    );
    return () => controller.abort();
  }, [memory, question, asked]);

  if (!asked) return { result: undefined, error: undefined, pending: false };
  const pending = found?.question !== question || found.memory !== memory;
  return { result: found?.memory === memory ? found?.result : undefined, error: pending ? undefined : found?.error, pending };
}
