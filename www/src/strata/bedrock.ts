import type { FactView, ProfileView, TraitView } from 'memstrata';
import type { Dictionary } from '../i18n/en';
import { factWords, inOrder, isOpen, profileKey, traitKey } from '../persona/record';

/** A line of the bedrock: one record of long-term memory, and the words on it. */
export interface Bed {
  kind: 'profile' | 'trait' | 'fact';
  /** A fact's id, `trait_7`, `profile_user`. */
  id: string;
  text: string;
  /** All of it, for who cannot see it. */
  label: string;
  /** Closed: struck through. */
  struck: boolean;
}

/** Profile, traits and facts as they lie: what holds before what held. Archived facts are left to the list. */
export function recordsOf(profile: ProfileView | null, traits: TraitView[], facts: FactView[], words: Dictionary, traitName: (trait: TraitView) => string): Bed[] {
  const texts = [profile?.user, profile?.assistant].filter((text) => text !== null && text !== undefined);
  const lines = inOrder(facts.filter((fact) => !fact.archived)).map((fact): Bed => ({
    kind: 'fact',
    id: fact.id,
    text: factWords(fact),
    label: [words.factLabel(whose(fact, words), factWords(fact)), isOpen(fact) ? '' : (fact.reason && words.closeReasons[fact.reason]) || words.closedMark].filter(Boolean).join(', '),
    struck: !isOpen(fact),
  }));
  return [
    ...texts.map((text): Bed => ({ kind: 'profile', id: profileKey(text.of), text: `${words.profileLine[text.of]}: ${text.text}`, label: `${words.profileLine[text.of]}: ${text.text}`, struck: false })),
    ...lines.filter((line) => !line.struck),
    ...[...traits]
      .sort((a, b) => b.confidence - a.confidence || a.dimension - b.dimension)
      .map((trait): Bed => ({ kind: 'trait', id: traitKey(trait.dimension), text: `${traitName(trait)}: ${words.levels[trait.level]}`, label: words.traitLabel(traitName(trait), words.levels[trait.level]), struck: false })),
    ...lines.filter((line) => line.struck),
  ];
}

function whose(fact: FactView, words: Dictionary): string {
  if (fact.subject === 'user') return words.aboutYou;
  return fact.subject === 'assistant' ? words.aboutAssistant : words.aboutOther(fact.subjectName ?? words.someoneElse);
}
