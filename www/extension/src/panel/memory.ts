/** The panel's way to the memory, and what it shows of it. */
import { signal } from '@preact/signals';
import type { FactView, PageView } from 'memstrata';
import { connectMemory } from 'memstrata/extension';
import { CHANNEL } from '../names';

export const memory = connectMemory({ channel: CHANNEL, onReconnect: () => refresh() });

/** Newest first. `null` until they have been read. */
export const pages = signal<PageView[] | null>(null);
export const facts = signal<FactView[]>([]);
export const trouble = signal('');

const STEP = 50;
export const limit = signal(STEP);

export function showMore(): void {
  limit.value += STEP;
  refresh();
}

let reading = false;
let again = false;

/** Reads anew; what comes in while it reads is read after it. */
export function refresh(): void {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  Promise.all([memory.pages({ limit: limit.value }), memory.facts()])
    .then(([allPages, allFacts]) => {
      pages.value = allPages;
      facts.value = allFacts;
      trouble.value = '';
    })
    .catch((error: unknown) => {
      trouble.value = error instanceof Error ? error.message : String(error);
    })
    .finally(() => {
      reading = false;
      if (again) refresh();
      again = false;
    });
}

memory.on('*', ({ type }) => {
  if (['page-added', 'page-updated', 'forgotten', 'cleared', 'persona-changed'].includes(type)) refresh();
});
refresh();

/** Another text in a page's place: the new one is stored before the old one goes, so that no crash loses both. */
export async function correctPage(page: PageView, text: string): Promise<void> {
  const { userInput, agentResponse, userName, agentName, session, time, metadata } = page;
  const changed = isOfPage(page) ? { userInput, agentResponse: text } : { userInput: text, agentResponse };
  await memory.addMemory({
    ...changed, session, ...(userName === '' ? {} : { userName }), ...(agentName === '' ? {} : { agentName }), id: `corrected:${page.id}:${crypto.randomUUID()}`,
    ...(time === null ? { timestamp: 'unknown' } : { timestamp: time }), metadata: { ...metadata, corrected: true },
  });
  await memory.forget(page.id);
}

/** Kept from a web page, rather than said here. */
export const isOfPage = ({ metadata }: Pick<PageView, 'metadata'>): boolean => metadata.origin === 'web';
