import type { ChangeStepView, FactView, Subject, TraitView } from 'memstrata';

/** A record of long-term memory by one name: a fact's id, `trait_7`, `profile_user`. */
export function recordKey(step: ChangeStepView): string {
  if (step.what === 'trait') return traitKey((step.after ?? step.before)?.dimension ?? -1);
  if (step.what === 'profile') return profileKey((step.after ?? step.before)?.of ?? 'user');
  return step.id;
}

export function traitKey(dimension: number): string {
  return `trait_${dimension}`;
}

export function profileKey(of: 'user' | 'assistant'): string {
  return `profile_${of}`;
}

export function isOpen(fact: FactView): boolean {
  return fact.validTo === null;
}

/** A fact in few words. */
export function factWords(fact: Pick<FactView, 'attribute' | 'value'>): string {
  return `${fact.attribute}: ${fact.value}`;
}

/** Facts of one subject. */
export interface FactGroup {
  subject: Subject;
  name: string;
  facts: FactView[];
}

const order: Subject[] = ['user', 'assistant', 'other'];

/** By subject: the user's first, the assistant's, then others' by name. Within one, open before closed, pinned first, newest first. */
export function groupFacts(facts: FactView[]): FactGroup[] {
  const groups = new Map<string, FactGroup>();
  for (const fact of facts) {
    const name = fact.subject === 'other' ? (fact.subjectName ?? '') : '';
    const key = `${fact.subject} ${name.toLocaleLowerCase()}`;
    const group = groups.get(key) ?? { subject: fact.subject, name, facts: [] };
    groups.set(key, group);
    group.facts.push(fact);
  }
  const sorted = [...groups.values()].sort((a, b) => order.indexOf(a.subject) - order.indexOf(b.subject) || a.name.localeCompare(b.name));
  for (const group of sorted) group.facts = inOrder(group.facts);
  return sorted;
}

/** Open before closed, pinned first, newest first. */
export function inOrder(facts: FactView[]): FactView[] {
  return [...facts].sort((a, b) => Number(isOpen(b)) - Number(isOpen(a)) || Number(b.pinned) - Number(a.pinned) || b.recordedAt - a.recordedAt || a.id.localeCompare(b.id));
}

/** Facts that hold every word of a search. */
export function searchFacts(facts: FactView[], search: string): FactView[] {
  const wanted = search.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return facts;
  return facts.filter((fact) => {
    const text = [fact.subjectName ?? '', fact.attribute, fact.value, fact.validFromPhrase ?? '', ...fact.evidence.map((evidence) => evidence.quote)].join('\n').toLocaleLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

export const categories = ['psychology', 'alignment', 'interest'] as const;

/** Traits by category, the surest first. Categories without any are left out. */
export function groupTraits(traits: TraitView[]): { category: TraitView['category']; traits: TraitView[] }[] {
  return categories
    .map((category) => ({ category, traits: traits.filter((trait) => trait.category === category).sort((a, b) => b.confidence - a.confidence || a.dimension - b.dimension) }))
    .filter((group) => group.traits.length > 0);
}
