import { signal } from '@preact/signals';
import { readConversations } from '../data/conversation';
import { memory } from '../memory/open';
import { troubleOf, type Trouble } from '../memory/trouble';
import { refreshSoon } from '../memory/view';

export const samples = ['english', 'chinese', 'mixed'] as const;
export type Sample = (typeof samples)[number];

export const sampleState = signal<{ loading: Sample | null; trouble: Trouble | null }>({ loading: null, trouble: null });

/** Questions worth asking of what was imported last. */
export const suggested = signal<string[]>([]);

const MOST_SUGGESTED = 3;

/** A few of them, taken evenly from the whole list, so that a mixed conversation is asked in both its languages. */
export function suggest(questions: string[]): void {
  const count = Math.min(questions.length, MOST_SUGGESTED);
  suggested.value = Array.from({ length: count }, (_, index) => questions[Math.floor((index * questions.length) / count)]!);
}

/** Fetched only when chosen: the page itself stays small. */
const files: Record<Sample, () => Promise<{ default: unknown }>> = {
  english: () => import('./english.json'),
  chinese: () => import('./chinese.json'),
  mixed: () => import('memstrata/sample.json'),
};

export async function loadSample(name: Sample): Promise<void> {
  sampleState.value = { loading: name, trouble: null };
  try {
    const [engine, file] = await Promise.all([memory(), files[name]()]);
    const conversation = readConversations(file.default, `sample-${name}`)[0]!;
    await engine.importConversation(conversation.pages);
    suggest(conversation.questions);
    refreshSoon();
    sampleState.value = { loading: null, trouble: null };
  } catch (error) {
    sampleState.value = { loading: null, trouble: troubleOf(error) };
  }
}
