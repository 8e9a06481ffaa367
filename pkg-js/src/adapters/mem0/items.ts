/** Memories of mem0 as pages and facts of MemoryOS. */
import type { AddMemoryInput, ChangeView, FactView, Metadata, PageView } from '../../types.js';
import type { HistoryRow, MemoryItem } from './types.js';

/** Metadata keys of a page: it came through this door, and what mem0 knows of it. */
export const DOOR = 'door';
export const MEM0 = 'mem0';
const RECORD = 'memory';
/** Steps kept of a memory's history; the oldest go first. */
const MOST_STEPS = 50;

interface Step {
  action: HistoryRow['action'];
  before: string | null;
  after: string | null;
  at: number;
}

/** What is kept of a memory beside its text. Its id outlives its pages: an update is a new page. */
export interface Kept {
  id: string;
  version: number;
  createdAt: number;
  updatedAt: number | null;
  metadata: { [key: string]: unknown };
  agentId: string | null;
  runId: string | null;
  steps: Step[];
}

export interface Note extends Kept {
  pageId: string;
  text: string;
  page: PageView;
}

export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function toPage(kept: Kept, said: Pick<AddMemoryInput, 'userInput' | 'agentResponse' | 'timestamp'>): AddMemoryInput {
  const metadata: Metadata = { [DOOR]: MEM0, [RECORD]: JSON.stringify({ ...kept, steps: kept.steps.slice(-MOST_STEPS) }) };
  return { ...said, metadata, ...(kept.runId === null ? {} : { session: kept.runId }) };
}

export function fromPage(page: PageView): Note | undefined {
  if (page.metadata[DOOR] !== MEM0 || typeof page.metadata[RECORD] !== 'string') return undefined;
  return { ...(JSON.parse(page.metadata[RECORD]) as Kept), pageId: page.id, text: textOf(page), page };
}

function textOf({ userInput, agentResponse }: PageView): string {
  if (userInput === '') return agentResponse;
  return agentResponse === '' ? userInput : `user: ${userInput}\nassistant: ${agentResponse}`;
}

export function factText({ subject, subjectName, attribute, value }: FactView): string {
  const who = subject === 'user' ? '' : `${subjectName ?? subject}, `;
  return `${who}${attribute}: ${value}`;
}

/** The turns that a fact rests on. */
export function rests({ evidence }: FactView, notes: ReadonlyMap<string, Note>): Note[] {
  const pages = new Set(evidence.map(({ pageId }) => pageId));
  return [...notes.values()].filter(({ pageId }) => pages.has(pageId));
}

/** A new text of a fact, whose attribute may stand before it as in `factText`. */
export function withoutAttribute(text: string, fact: FactView): string {
  const prefix = factText({ ...fact, value: '' });
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

/** What filters see of a memory: its metadata and whose it is. */
export function valuesOf({ metadata, agentId, runId }: Pick<Kept, 'metadata' | 'agentId' | 'runId'>, userId: string): { [key: string]: unknown } {
  return { ...metadata, user_id: userId, ...(agentId === null ? {} : { agent_id: agentId }), ...(runId === null ? {} : { run_id: runId }) };
}

export function noteItem(note: Note, userId: string): MemoryItem {
  return item(note.id, note.text, note.createdAt, note.updatedAt, { ...note.metadata }, note, userId);
}

/** A fact has the metadata of the turns it rests on, the last one's where they differ. */
export function factItem(fact: FactView, rests: readonly Note[], userId: string): MemoryItem {
  const metadata = Object.assign({}, ...rests.map((note) => note.metadata)) as { [key: string]: unknown };
  const last = rests.at(-1);
  return item(fact.id, factText(fact), fact.recordedAt, null, { ...metadata, attribute: fact.attribute, subject: fact.subject, kind: fact.kind }, { agentId: last?.agentId ?? null, runId: last?.runId ?? null }, userId);
}

function item(id: string, memory: string, createdAt: number, updatedAt: number | null, metadata: { [key: string]: unknown }, of: Pick<Kept, 'agentId' | 'runId'>, userId: string): MemoryItem {
  return {
    id,
    memory,
    createdAt: new Date(createdAt).toISOString(),
    ...(updatedAt === null ? {} : { updatedAt: new Date(updatedAt).toISOString() }),
    metadata,
    user_id: userId,
    ...(of.agentId === null ? {} : { agent_id: of.agentId }),
    ...(of.runId === null ? {} : { run_id: of.runId }),
  };
}

/** The newest first, as mem0 has it. */
export function noteHistory({ id, steps }: Kept): HistoryRow[] {
  return steps.map(({ action, before, after, at }, index) => row(`${id} ${index}`, id, before, after, action, at)).reverse();
}

export function factHistory(id: string, changes: readonly ChangeView[]): HistoryRow[] {
  return changes.flatMap(({ id: changeId, at, steps }) => steps.flatMap((step) => {
    if (step.what !== 'fact' || step.id !== id) return [];
    const text = (fact: FactView | null): string | null => (fact && fact.validTo === null ? factText(fact) : null);
    const [before, after] = [text(step.before), text(step.after)];
    return [row(changeId, id, before, after, before === null ? 'ADD' : after === null ? 'DELETE' : 'UPDATE', at)];
  }));
}

function row(id: string, memoryId: string, before: string | null, after: string | null, action: HistoryRow['action'], at: number): HistoryRow {
  const time = new Date(at).toISOString();
  return { id, memory_id: memoryId, previous_value: before, new_value: after, action, created_at: time, updated_at: time, is_deleted: action === 'DELETE' ? 1 : 0 };
}
