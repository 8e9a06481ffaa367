import { signal } from '@preact/signals';
import type { MemoryOS } from 'memstrata';
import { chatModel, chatOn, embedder } from '../models/choice';
import { watchHappened } from '../work/happened-log';
import { pausedHere, settings } from '../work/settings';
import { troubleOf, type Trouble } from './trouble';
import { forgetPicture, refreshSoon, watch } from './view';

export const status = signal<'loading' | 'ready' | 'failed'>('loading');
/** What a query may be looked up with: more than the engine's own where there is a model. */
export const strategies = signal<readonly string[]>(['auto', 'semantic', 'keyword', 'temporal', 'two_stage']);
/** Why the memory is not open. */
export const openTrouble = signal<Trouble | null>(null);

let opening: Promise<MemoryOS> | null = null;

/**
 * The memory, opened at the first call. The package is loaded apart from the page, so that the chat can be typed into
 * before the engine is there.
 */
export function memory(): Promise<MemoryOS> {
  opening ??= open();
  return opening;
}

/** Opens again: after a failure, or with other models. */
export async function reopen(): Promise<void> {
  const before = opening;
  opening = null;
  status.value = 'loading';
  if (before) {
    try {
      await (await before).close();
    } catch {
      // It never opened, or is closed already: both leave the way free.
    }
  }
  await memory().catch(() => undefined);
}

async function open(): Promise<MemoryOS> {
  status.value = 'loading';
  openTrouble.value = null;
  try {
    const { MemoryOS } = await import('memstrata');
    const chat = chatOn.value ? await chatModel() : undefined;
    const { reranking, rewriting } = await import('memstrata/retrievers');
    const opened = await MemoryOS.open({
      name: 'playground',
      userId: 'me',
      assistantId: 'playground',
      embedder: embedder.value,
      config: settings.peek(),
      ...(chat ? { chat, retrievers: { reranked: reranking({ chat }), rewritten: rewriting({ chat }) } } : {}),
      paused: pausedHere.peek() === 'yes',
    });
    watch(opened);
    watchHappened(opened);
    opened.on('closed', (event) => {
      // A call of ours is followed by another opening; anything else leaves the page without a memory.
      if (event.reason !== 'called') {
        fail({ code: event.reason === 'newer-version' ? 'VERSION_TOO_NEW' : 'CLOSED', detail: event.reason });
        opening = null;
      }
    });
    strategies.value = opened.strategies;
    status.value = 'ready';
    refreshSoon();
    return opened;
  } catch (error) {
    opening = null;
    fail(troubleOf(error));
    throw error;
  }
}

function fail(trouble: Trouble): void {
  status.value = 'failed';
  openTrouble.value = trouble;
  forgetPicture();
}
