/** Opens a memory for the components below, and says how it stands. */
import { createContext, createElement, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import type { ReactElement, ReactNode } from 'react';
import type { MemoryOSError } from '../../errors.js';
import { MemoryOSError as Failure, toMemoryOSError } from '../../errors.js';
import type { MemoryOS } from '../../memory-os.js';
import type { OpenOptions } from '../../types.js';
import { keyOf, lease } from './leases.js';

/** Whether the memory is opening, open, or could not be opened. */
export type MemoryState =
  | { status: 'opening'; memory: undefined; error: undefined }
  | { status: 'ready'; memory: MemoryOS; error: undefined }
  /** It could not be opened, or was lost with its worker: `reopen` tries again. */
  | { status: 'failed'; memory: undefined; error: MemoryOSError };

/** The state of the memory; `reopen` tries again after a failure. */
export type UseMemory = MemoryState & { reopen(): void };

/** Either `options` to open a memory by, or a `memory` that is open and stays open. */
export interface MemoryProviderProps {
  /** Opens this memory. Another `name`, `userId` or `assistantId` opens another one; what else changes is read at the next opening. */
  options?: OpenOptions;
  /** A memory that you have opened, and will close. */
  memory?: MemoryOS;
  children?: ReactNode;
}

const OPENING: MemoryState = { status: 'opening', memory: undefined, error: undefined };
const MemoryContext = createContext<UseMemory | undefined>(undefined);

/** Opens a memory for the components below it, once however often they mount, and closes it when the last is gone; or lends one that is open. */
export function MemoryProvider({ options, memory, children }: MemoryProviderProps): ReactElement {
  if ((options === undefined) === (memory === undefined)) throw new Failure('INVALID_ARGUMENT', 'MemoryProvider takes either options or a memory');
  const [attempt, setAttempt] = useState(0);
  const reopen = useCallback(() => setAttempt((last) => last + 1), []);
  const key = options ? `${keyOf(options)} ${attempt}` : '';
  const [found, setFound] = useState<{ for: unknown; state: MemoryState }>();
  const wanted = memory ?? key;

  useEffect(() => {
    let live = true;
    const say = (state: MemoryState): void => {
      if (live) setFound({ for: wanted, state });
    };
    const held = options && lease(options);
    let off: (() => void) | undefined;
    (held?.memory ?? Promise.resolve(memory as MemoryOS)).then(
      (open) => {
        if (!live) return;
        off = open.on('closed', ({ reason }) => say(failed(new Failure('CLOSED', reason === 'worker-lost' ? 'the memory lost its worker: open it again' : 'the memory was closed'))));
        if (!memory) say(ready(open));
      },
      (error: unknown) => say(failed(toMemoryOSError(error, 'INTERNAL'))),
    );
    return () => {
      live = false;
      off?.();
      held?.release();
    };
    // Options written in place are another object at every render; their identity is in `wanted`.
  }, [wanted]);

  const known = found?.for === wanted ? found.state : undefined;
  const value = useMemo(() => ({ ...(known ?? (memory ? ready(memory) : OPENING)), reopen }), [known, memory, reopen]);
  return createElement(MemoryContext.Provider, { value }, children);
}

function ready(memory: MemoryOS): MemoryState {
  return { status: 'ready', memory, error: undefined };
}

function failed(error: MemoryOSError): MemoryState {
  return { status: 'failed', memory: undefined, error };
}

/** The memory of the nearest `MemoryProvider`, once it is open. On a server it is always opening. */
export function useMemory(): UseMemory {
  const value = useContext(MemoryContext);
  if (!value) throw new Failure('NOT_OPEN', 'useMemory needs a MemoryProvider above it');
  return value;
}
