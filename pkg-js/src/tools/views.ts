/** What the tools say of memory: flat, small, with times that a model can read. */
import type { ChangeStepView, ChangeView, FactView, Hit, PageView } from '../types.js';
import { momentOf as moment } from './moment.js';
import { list, object, text, textOrNull } from './schema.js';
import type { Schema } from './schema.js';

export const PAGE: Schema = object({
  id: text('For delete_memory.'), time: textOrNull(), session: text(), tier: text(), user_input: text(), agent_response: text(), metadata: { type: 'object' },
});

export function pageOf({ id, time, offsetMinutes, session, tier, userInput, agentResponse, metadata }: PageView) {
  return { id, time: moment(time, offsetMinutes), session, tier, user_input: userInput, agent_response: agentResponse, metadata };
}

export const FACT: Schema = object({
  id: text('For update_memory and delete_memory.'), subject: text(), attribute: text(), value: text(), kind: text(), source: text(), confidence: { type: 'number' },
  valid_from: textOrNull(), valid_to: textOrNull('When it ceased to hold; null while it is believed.'), pinned: { type: 'boolean' },
  evidence: list(object({ page_id: text(), role: text(), quote: text() })),
});

export function factOf(fact: FactView) {
  return {
    id: fact.id, subject: fact.subjectName ?? fact.subject, attribute: fact.attribute, value: fact.value, kind: fact.kind, source: fact.source,
    confidence: fact.confidence, valid_from: moment(fact.validFrom), valid_to: moment(fact.validTo), pinned: fact.pinned,
    evidence: fact.evidence.map(({ pageId, role, quote }) => ({ page_id: pageId, role, quote })),
  };
}

export const HIT: Schema = object({
  page_id: text('For delete_memory.'), role: text(), speaker: text(), time: textOrNull(), session: text(), tier: text(), text: text(), score: { type: 'number' },
});

export function hitOf({ pageId, role, speaker, time, offsetMinutes, session, tier, text: said, score }: Hit) {
  return { page_id: pageId, role, speaker, time: moment(time, offsetMinutes), session, tier, text: said, score };
}

export const CHANGE: Schema = object({
  id: text(), at: textOrNull(), by: text('user, undo or analysis.'), undoable: { type: 'boolean' },
  steps: list(object({ what: text(), id: text(), before: textOrNull(), after: textOrNull() })),
});

export function changeOf({ id, at, cause, steps, undoable }: ChangeView) {
  return { id, at: moment(at), by: cause.by, undoable, steps: steps.map((step) => ({ what: step.what, id: step.id, before: wordsOf(step, 'before'), after: wordsOf(step, 'after') })) };
}

function wordsOf(step: ChangeStepView, side: 'before' | 'after'): string | null {
  if (step[side] === null) return null;
  switch (step.what) {
    case 'fact': return `${step[side].attribute}: ${step[side].value}${step[side].validTo === null ? '' : ' (closed)'}`;
    case 'profile': return step[side].text;
    case 'trait': return `${step[side].name}: ${step[side].level}`;
  }
}
