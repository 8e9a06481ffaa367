import { signal } from '@preact/signals';
import { memory } from '../memory/open';
import { troubleOf, type Trouble } from '../memory/trouble';
import { refreshSoon } from '../memory/view';
import { suggest } from '../sample/load';
import { readFile, UnreadableFile, type Conversation } from './conversation';

export type ImportState =
  | { step: 'idle' }
  | { step: 'unreadable'; reason: UnreadableFile['reason'] }
  | { step: 'preview'; list: Conversation[]; chosen: number }
  | { step: 'preview-export'; bytes: Uint8Array }
  | { step: 'running'; done: number; total: number }
  | { step: 'done'; added: number; duplicates: number; skipped: { index: number; reason: string }[] }
  | { step: 'cancelled'; done: number }
  | { step: 'failed'; trouble: Trouble };

/** `chosen` of a preview when every conversation of the file is taken. */
export const ALL = -1;

/** Kept outside the component: an import goes on while one looks at another place. */
export const importing = signal<ImportState>({ step: 'idle' });
let controller: AbortController | null = null;

/** The dry run: reads the file and shows what is in it. Nothing is written. */
export async function lookInto(file: File): Promise<void> {
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const content = readFile(bytes, file.name);
    importing.value = content.kind === 'export' ? { step: 'preview-export', bytes } : { step: 'preview', list: content.list, chosen: 0 };
  } catch (error) {
    importing.value = error instanceof UnreadableFile ? { step: 'unreadable', reason: error.reason } : { step: 'failed', trouble: troubleOf(error) };
  }
}

export async function startImport(): Promise<void> {
  const state = importing.value;
  if (state.step !== 'preview' && state.step !== 'preview-export') return;
  let done = 0;
  const current = new AbortController();
  controller = current;
  try {
    if (state.step === 'preview-export') {
      importing.value = { step: 'running', done: 0, total: 0 };
      const result = await (await memory()).importFrom(state.bytes);
      importing.value = { step: 'done', added: result.added, duplicates: result.duplicates, skipped: [] };
    } else {
      const taken = state.chosen === ALL ? state.list : [state.list[state.chosen]!];
      const turns = taken.flatMap((conversation) => conversation.pages);
      importing.value = { step: 'running', done: 0, total: turns.length };
      const result = await (await memory()).importConversation(turns, {
        signal: current.signal,
        onProgress: (progress) => {
          done = progress.done;
          if (!current.signal.aborted) importing.value = { step: 'running', done: progress.done, total: progress.total };
        },
      });
      importing.value = { step: 'done', added: result.added, duplicates: result.duplicates, skipped: result.skipped };
      suggest(taken.flatMap((conversation) => conversation.questions));
    }
  } catch (error) {
    importing.value = current.signal.aborted ? { step: 'cancelled', done } : { step: 'failed', trouble: troubleOf(error) };
  } finally {
    controller = null;
    refreshSoon();
  }
}

export function cancelImport(): void {
  controller?.abort();
}
