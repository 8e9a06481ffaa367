import { computed, signal } from '@preact/signals';
import type { PageView, Tier } from 'memstrata';
import { pages } from '../memory/view';

export const tierFilter = signal<Tier | 'all'>('all');
export const searchText = signal('');

/**
 * Pages that hold every word of the search, newest first. Looked up here and not by the engine, because the engine counts
 * a lookup as a recall and would warm what one only leafs through.
 */
export const foundPages = computed<PageView[]>(() => {
  const wanted = searchText.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return [...pages.value.values()].filter((page) => {
    if (tierFilter.value !== 'all' && page.tier !== tierFilter.value) return false;
    const text = `${page.userInput}\n${page.agentResponse}\n${page.userName}\n${page.agentName}\n${page.session}`.toLocaleLowerCase();
    return wanted.every((word) => text.includes(word));
  });
});
