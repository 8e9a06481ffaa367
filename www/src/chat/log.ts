import { computed, effect, signal } from '@preact/signals';
import type { PageView, RetrieveResult } from 'memstrata';
import { memory, status } from '../memory/open';
import { chatOn } from '../models/choice';
import { manner } from '../models/manner';
import { troubleOf, type Trouble } from '../memory/trouble';
import { forget } from '../memory/forget';
import { isForgotten } from '../memory/forgotten';
import { pages } from '../memory/view';
import { factsOf, passagesOf } from './packed';

/** A question and its answer: one page of memory, as the chat shows it. */
export interface Exchange {
  /** Client id of the page. Asking again after a failure sends the same one, so that the question is stored once. */
  id: string;
  question: string;
  time: number;
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';
  answer: string;
  /** Who answers: as set when it was asked, then as the engine says. */
  mode: 'model' | 'memory-only';
  pageId: string | null;
  recall: RetrieveResult | null;
  /** The model stopped before it had finished, for this reason. */
  cutShort: boolean;
  trouble: Trouble | null;
}

/** Marks pages that were written here, so that the next visit shows them again and not a whole import. */
const ORIGIN = { origin: 'playground' };

const asked = signal<Exchange[]>([]);
let running: { id: string; controller: AbortController } | null = null;
export const busy = signal(false);

/** What was said here before this visit, oldest first. */
const before = computed<Exchange[]>(() => {
  const mine = new Set(asked.value.map((exchange) => exchange.pageId));
  const ids = new Set(asked.value.map((exchange) => exchange.id));
  return [...pages.value.values()]
    .filter((page) => page.metadata.origin === ORIGIN.origin && !mine.has(page.id) && !ids.has(page.clientId ?? ''))
    .slice(0, 50)
    .reverse()
    .map(fromPage);
});

/** Deleted memory leaves the chat too: what was forgotten must not stand there still. */
export const exchanges = computed(() =>
  [...before.value, ...asked.value]
    .filter((exchange) => exchange.pageId === null || !isForgotten(exchange.pageId))
    // A question of an earlier visit that is asked again is answered where it stands.
    .sort((a, b) => a.time - b.time),
);

// A question whose answer was stopped is stored all the same; its page is known once the picture is read again.
effect(() => {
  const byClientId = new Map([...pages.value.values()].map((page) => [page.clientId, page.id]));
  for (const exchange of asked.peek()) {
    const pageId = exchange.pageId === null ? byClientId.get(exchange.id) : undefined;
    if (pageId !== undefined) update(exchange.id, { pageId });
  }
});

/** The recall on show in the inspector and in the picture. */
export const inspected = signal<{ query: string; recall: RetrieveResult; exchangeId: string | null } | null>(null);

/** Pages whose words went into the answer on show. */
export const litPages = computed(() => new Set(inspected.value ? passagesOf(inspected.value.recall).map((passage) => passage.pageId) : []));

/** Facts of long-term memory that went into it. */
export const litFacts = computed(() => new Set(inspected.value ? factsOf(inspected.value.recall).filter((fact) => fact.packed).map((fact) => fact.id) : []));

export function ask(question: string): void {
  const id = crypto.randomUUID();
  asked.value = [...asked.value, { id, question, time: Date.now(), state: 'waiting', answer: '', mode: chatOn.value ? 'model' : 'memory-only', pageId: null, recall: null, cutShort: false, trouble: null }];
  void answer(id);
}

/** Empties the chat, with all of memory. */
export function emptyChat(): void {
  stop();
  asked.value = [];
  inspected.value = null;
}

export function stop(): void {
  running?.controller.abort();
}

/**
 * Asks again. An answer of a model is taken back first, so that memory keeps one of the two. Where none was stored, the same
 * client id takes up the page that is there.
 */
export async function retry(exchange: Exchange): Promise<void> {
  if (exchange.state === 'done' && exchange.mode === 'model' && exchange.pageId) {
    asked.value = asked.value.filter((each) => each.id !== exchange.id);
    try {
      await forget([exchange.pageId]);
    } catch (error) {
      asked.value = [...asked.value, { ...exchange, state: 'failed', trouble: troubleOf(error) }];
      return;
    }
    ask(exchange.question);
    return;
  }
  const again: Exchange = { ...exchange, state: 'waiting', answer: '', mode: chatOn.value ? 'model' : 'memory-only', trouble: null, recall: null, cutShort: false };
  asked.value = [...asked.value.filter((each) => each.id !== exchange.id), again];
  void answer(exchange.id);
}

/** Passages that are themselves the answer are read by a person, not by a model. */
const PASSAGE_TOKENS = 400;

async function answer(id: string): Promise<void> {
  const exchange = asked.value.find((each) => each.id === id);
  if (!exchange) return;
  const controller = new AbortController();
  running = { id, controller };
  busy.value = true;
  let text = '';
  try {
    const engine = await memory();
    controller.signal.throwIfAborted();
    const stream = await engine.getResponse(exchange.question, { stream: true, signal: controller.signal, id, metadata: ORIGIN, timestamp: exchange.time, ...(exchange.mode === 'memory-only' ? { budgetTokens: PASSAGE_TOKENS } : manner.peek()) });
    // Awaited below; until then a failure must not count as unheard.
    stream.result.catch(() => undefined);
    for await (const piece of stream) {
      text += piece;
      update(id, { state: 'streaming', answer: text });
    }
    const result = await stream.result;
    update(id, {
      state: 'done',
      answer: result.text,
      mode: result.mode,
      pageId: result.pageId,
      recall: result.recall,
      cutShort: result.finishReason === 'length' || result.finishReason === 'content-filter',
    });
    inspected.value = { query: exchange.question, recall: result.recall, exchangeId: id };
  } catch (error) {
    if (controller.signal.aborted) update(id, { state: 'stopped', answer: text });
    else update(id, { state: 'failed', answer: text, trouble: troubleOf(error) });
  } finally {
    if (running?.id === id) {
      running = null;
      busy.value = false;
    }
  }
}

function update(id: string, change: Partial<Exchange>): void {
  asked.value = asked.value.map((each) => (each.id === id ? { ...each, ...change } : each));
}

function fromPage(page: PageView): Exchange {
  return {
    id: page.clientId ?? page.id,
    question: page.userInput,
    time: page.time ?? 0,
    state: 'done',
    answer: page.agentResponse,
    // The passages that answered without a model are not stored again.
    mode: page.agentResponse === '' ? 'memory-only' : 'model',
    pageId: page.id,
    recall: null,
    cutShort: false,
    trouble: null,
  };
}

/** True while the chat has nothing to show yet because the memory is still being read. */
export const chatLoading = computed(() => status.value === 'loading' && asked.value.length === 0);
