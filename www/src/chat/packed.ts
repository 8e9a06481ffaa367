import type { FactHit, Hit, RetrieveResult } from 'memstrata';
import { isForgotten } from '../memory/forgotten';
import { pages } from '../memory/view';

/** What the context holds of one turn, with whose it is and when it was said. */
export interface Passage {
  turnId: string;
  pageId: string;
  speaker: string;
  time: number | null;
  /** The whole turn. */
  text: string;
  quotes: string[];
  /** Where it is among the hits; the context often holds more than those. */
  hit: Hit | undefined;
}

/** Everything that went into the context, in order of time, but for what was deleted since. */
export function passagesOf(recall: RetrieveResult): Passage[] {
  const hits = new Map(recall.hits.map((hit) => [hit.id, hit]));
  return recall.passages
    .filter((passage) => !isForgotten(passage.pageId))
    .map((passage) => {
      const hit = hits.get(passage.turnId);
      if (hit) return { ...passage, speaker: hit.speaker, time: hit.time, text: hit.text, hit };
      const page = pages.value.get(passage.pageId);
      const byUser = passage.turnId.endsWith('.user');
      return {
        ...passage,
        // Until the page itself is read, its quotes must do.
        speaker: (byUser ? page?.userName : page?.agentName) || (byUser ? 'user' : 'assistant'),
        time: page?.time ?? null,
        text: (byUser ? page?.userInput : page?.agentResponse) ?? passage.quotes.join(' '),
        hit,
      };
    });
}

/** Facts of long-term memory that were recalled, best first, but for what was deleted since. */
export function factsOf(recall: RetrieveResult): FactHit[] {
  return recall.facts.filter((fact) => !isForgotten(fact.id));
}

/** A turn's id is its page's id and its side. */
export function pageOfTurn(turnId: string): string {
  return turnId.slice(0, turnId.lastIndexOf('.'));
}
