/** What is asked here and answered; it lives as long as the panel. What was said stays in memory. */
import { signal } from '@preact/signals';
import { isMemoryOSError, type RetrieveResult } from 'memstrata';
import { memory } from './memory';

export interface Exchange {
  id: string;
  question: string;
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';
  answer: string;
  mode: 'model' | 'memory-only' | null;
  recall: RetrieveResult | null;
  trouble: string;
}

export const exchanges = signal<Exchange[]>([]);
export const busy = signal(false);
let running: AbortController | undefined;

export function ask(question: string): void {
  const exchange: Exchange = { id: crypto.randomUUID(), question, state: 'waiting', answer: '', mode: null, recall: null, trouble: '' };
  exchanges.value = [...exchanges.value, exchange];
  void answer(exchange);
}

/** By the same id: the question is stored once. */
export function again(exchange: Exchange): void {
  const anew: Exchange = { ...exchange, state: 'waiting', answer: '', recall: null, trouble: '' };
  exchanges.value = [...exchanges.value.filter(({ id }) => id !== exchange.id), anew];
  void answer(anew);
}

export function stop(): void {
  running?.abort();
}

/** The host went away before a word had come, as it does when the model is changed. By its id the question is known again. */
const isLost = (error: unknown): boolean => isMemoryOSError(error) && (error.data as { reason?: unknown } | undefined)?.reason === 'host-lost';

async function answer({ id, question }: Pick<Exchange, 'id' | 'question'>, isFirst = true): Promise<void> {
  const controller = new AbortController();
  running = controller;
  busy.value = true;
  let text = '';
  try {
    const stream = memory.getResponse(question, { stream: true, id, signal: controller.signal, metadata: { origin: 'panel' } });
    for await (const piece of stream) update(id, { state: 'streaming', answer: (text += piece) });
    const { mode, recall, text: whole } = await stream.result;
    update(id, { state: 'done', answer: whole, mode, recall });
  } catch (error) {
    if (isFirst && text === '' && !controller.signal.aborted && isLost(error)) return await answer({ id, question }, false);
    const failed = { state: 'failed' as const, trouble: error instanceof Error ? error.message : String(error) };
    update(id, controller.signal.aborted ? { state: 'stopped' } : failed);
  } finally {
    if (running === controller) busy.value = false;
  }
}

function update(id: string, changes: Partial<Exchange>): void {
  exchanges.value = exchanges.value.map((each) => (each.id === id ? { ...each, ...changes } : each));
}
