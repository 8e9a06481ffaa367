/** `memstrata/mem0`: a memory behind the calls of mem0's open-source `Memory`. */
import { readMetadata } from '../../boundary/metadata.js';
import { invalid } from '../../errors.js';
import type { MemoryOS } from '../../memory-os.js';
import { show } from '../../text.js';
import type { FactView } from '../../types.js';
import { Followed, queue } from '../followed.js';
import { defined, exchanges, expiration, lineOf, notFound, readId, readMessages, side } from './arguments.js';
import { meets } from './filter.js';
import { DOOR, factHistory, factItem, fromPage, MEM0, newId, noteHistory, noteItem, rests, toPage, valuesOf, withoutAttribute } from './items.js';
import type { Kept, Note } from './items.js';
import type { AddMemoryOptions, Entity, HistoryRow, ListOptions, MemoryItem, Message, SearchFilters, SearchMemoryOptions, SearchResult, UpdateMemoryOptions } from './types.js';

export type * from './types.js';

const DEFAULT_TOP_K = 20;
const MOST_HITS = 1_000;

/**
 * One user's memories: the turns that were added through this door, and the facts of the memory. A turn is there when `add`
 * resolves; facts come later, when the memory's own work has reached it. A `userId` must be the memory's: open another for another user.
 */
export class Memory {
  readonly #memory: MemoryOS;
  readonly #now: () => number;
  readonly #pages: Followed<Note>;
  readonly #inTurn = queue();

  constructor(memory: MemoryOS, { now = () => Date.now() }: { now?: () => number } = {}) {
    this.#memory = memory;
    this.#now = now;
    this.#pages = new Followed(memory, fromPage);
  }

  /** Stores messages; system messages are passed over. The result tells what was stored. */
  async add(messages: string | Message[], options: AddMemoryOptions): Promise<SearchResult> {
    const said = readMessages(messages);
    const { userId, agentId, runId } = this.#entity(options, options.filters);
    if (userId === undefined && agentId === undefined && runId === undefined) throw invalid('one of userId, agentId and runId is required');
    const metadata = { ...readMetadata(options.metadata, 'metadata'), ...expiration(options.expirationDate ?? undefined) };
    const turns = options.infer === false ? said.map(({ role, content }) => side(role, content)) : exchanges(said);
    const now = this.#now();
    const kept = turns.map((turn): Kept => ({
      id: newId(), version: 1, createdAt: now, updatedAt: null, metadata, agentId: agentId ?? null, runId: runId ?? null,
      steps: [{ action: 'ADD', before: null, after: lineOf(turn), at: now }],
    }));
    return this.#inTurn(async () => {
      const inputs = turns.map((turn, at) => toPage(kept[at] as Kept, { ...turn, ...(options.timestamp == null ? {} : { timestamp: options.timestamp }) }));
      await this.#memory.addMany(inputs);
      const notes = await this.#notes();
      const stored = kept.flatMap(({ id }) => notes.get(id) ?? []);
      return { results: stored.map(({ id, text }) => ({ id, memory: text, metadata: { event: 'ADD' } })) };
    });
  }

  async get(memoryId: string): Promise<MemoryItem | null> {
    return this.#inTurn(async () => {
      const { note, fact, notes } = await this.#find(memoryId);
      if (note) return noteItem(note, this.#memory.userId);
      return fact ? factItem(fact, rests(fact, notes), this.#memory.userId) : null;
    });
  }

  /** The best turns and facts. `filters` (or the ids beside it) must name a user, an agent or a run. */
  async search(query: string, options: SearchMemoryOptions): Promise<SearchResult> {
    if (options.threshold) throw invalid(`threshold is ${options.threshold}, but scores here are ranks: ask for fewer by topK`);
    if (options.rerank || options.explain) throw invalid('rerank and explain are not read: register a reranking retriever with the memory, or see the parts of its own hits');
    const { topK, wanted } = this.#list(options);
    const now = options.referenceDate == null ? {} : { now: options.referenceDate };
    return this.#inTurn(async () => {
      const notes = await this.#notes();
      const byPage = new Map([...notes.values()].map((note) => [note.pageId, note]));
      const exclude = [...notes.values()].filter((note) => !wanted(note)).map(({ pageId }) => pageId);
      const { hits } = await this.#memory.retrieve(query, { ...now, topK: MOST_HITS, budgetTokens: 0, filter: { tiers: ['short', 'mid', 'archive'], metadata: { [DOOR]: MEM0 }, exclude } });
      const turns = [...new Set(hits.flatMap(({ pageId }) => byPage.get(pageId) ?? []))].filter(wanted);
      // Facts are found by a search of their own: no condition on turns lets them through.
      const { facts } = await this.#memory.retrieve(query, { ...now, topK: 1, budgetTokens: 0 });
      const known = facts.filter((fact) => this.#wantsFact(fact, notes, wanted));
      const ranked = [
        ...known.map((fact, at) => ({ ...factItem(fact, rests(fact, notes), this.#memory.userId), score: 1 / (at + 1) })),
        ...turns.map((note, at) => ({ ...noteItem(note, this.#memory.userId), score: 1 / (at + 1) })),
      ];
      return { results: ranked.sort((one, other) => other.score - one.score).slice(0, topK) };
    });
  }

  /** Facts, then turns, the oldest first. */
  async getAll(options: ListOptions): Promise<SearchResult> {
    const { topK, wanted } = this.#list(options);
    return this.#inTurn(async () => {
      const notes = await this.#notes();
      const facts = (await this.#memory.facts()).filter((fact) => this.#wantsFact(fact, notes, wanted));
      const items = [
        ...facts.map((fact) => factItem(fact, rests(fact, notes), this.#memory.userId)),
        ...[...notes.values()].filter(wanted).map((note) => noteItem(note, this.#memory.userId)),
      ];
      return { results: items.slice(0, topK) };
    });
  }

  /** Replaces the text of a memory. A turn's metadata is merged; a fact has none of its own. */
  async update(memoryId: string, options: string | UpdateMemoryOptions): Promise<{ message: string }> {
    const { text: given, data, metadata, expirationDate } = typeof options === 'string' ? { text: options } as UpdateMemoryOptions : options;
    const text = given ?? data;
    if (text === undefined && metadata === undefined && expirationDate === undefined) throw invalid('update takes at least one of text, metadata and expirationDate');
    return this.#inTurn(async () => {
      const { note, fact } = await this.#find(memoryId);
      if (fact) {
        if (metadata !== undefined || expirationDate !== undefined) throw invalid(`${memoryId} is a fact, which has no metadata of its own: give the text alone`);
        await this.#memory.editFact(fact.id, { value: withoutAttribute(text as string, fact) });
      } else if (note) await this.#replace(note, text, { ...readMetadata(metadata, 'metadata'), ...expiration(expirationDate) });
      else throw notFound(memoryId);
      return { message: 'Memory updated successfully!' };
    });
  }

  /** Removes a memory for good, its history too. */
  async delete(memoryId: string): Promise<{ message: string }> {
    return this.#inTurn(async () => {
      const { note, fact } = await this.#find(memoryId);
      if (!note && !fact) throw notFound(memoryId);
      await this.#memory.forget(note?.pageId ?? memoryId);
      return { message: 'Memory deleted successfully!' };
    });
  }

  /** Removes what is of these ids: turns, what was derived from them alone, and facts that rest on them. */
  async deleteAll(options: Entity): Promise<{ message: string }> {
    const { wanted } = this.#list({ ...options, showExpired: true });
    return this.#inTurn(async () => {
      const notes = await this.#notes();
      const facts = (await this.#memory.facts({ closed: true })).filter((fact) => this.#wantsFact(fact, notes, wanted));
      const ids = [...[...notes.values()].filter(wanted).map(({ pageId }) => pageId), ...facts.map(({ id }) => id)];
      if (ids.length > 0) await this.#memory.forget(ids);
      return { message: 'Memories deleted successfully!' };
    });
  }

  /** Changes of a memory, the newest first. */
  async history(memoryId: string): Promise<HistoryRow[]> {
    return this.#inTurn(async () => {
      const note = (await this.#notes()).get(memoryId);
      return note ? noteHistory(note) : factHistory(memoryId, await this.#memory.history({ id: memoryId, limit: 10_000 }));
    });
  }

  /** Removes everything of this user and assistant, also what did not come through this door. */
  async reset(): Promise<void> {
    await this.#inTurn(() => this.#memory.clear());
  }

  /** Turns by their own ids, the oldest first; of two versions that a crash has left the later one counts. */
  async #notes(): Promise<Map<string, Note>> {
    const notes = new Map<string, Note>();
    const old: string[] = [];
    for (const note of (await this.#pages.now()).values()) {
      const other = notes.get(note.id);
      if (other) old.push(other.version > note.version ? note.pageId : other.pageId);
      if (!other || other.version <= note.version) notes.set(note.id, note);
    }
    if (old.length > 0) await this.#memory.forget(old);
    return notes;
  }

  async #find(id: string): Promise<{ notes: Map<string, Note>; note: Note | undefined; fact: FactView | undefined }> {
    const notes = await this.#notes();
    const note = notes.get(id);
    const fact = note ? undefined : (await this.#memory.facts()).find((each) => each.id === id);
    return { notes, note, fact };
  }

  async #replace({ pageId, page, ...note }: Note, text: string | undefined, metadata: { [key: string]: unknown }): Promise<void> {
    const now = this.#now();
    const kept: Kept = {
      id: note.id, version: note.version + 1, createdAt: note.createdAt, updatedAt: now, agentId: note.agentId, runId: note.runId,
      metadata: { ...note.metadata, ...metadata },
      steps: [...note.steps, { action: 'UPDATE', before: note.text, after: text ?? note.text, at: now }],
    };
    const { userInput, agentResponse, time } = page;
    const isAssistants = userInput === '';
    const said = text === undefined ? { userInput, agentResponse } : side(isAssistants ? 'assistant' : 'user', text);
    // The new page first: a crash between the two loses neither.
    await this.#memory.addMany([toPage(kept, { ...said, ...(time === null ? {} : { timestamp: time }) })]);
    await this.#memory.forget(pageId);
  }

  #list({ topK, limit, filters = {}, showExpired = false, ...ids }: ListOptions): { topK: number; wanted: (note: Pick<Kept, 'metadata' | 'agentId' | 'runId'>) => boolean } {
    const most = topK ?? limit ?? DEFAULT_TOP_K;
    if (!Number.isInteger(most) || most < 0) throw invalid(`topK must be a whole number of at least 0, got ${show(most)}`);
    const { userId, agentId, runId } = this.#entity(ids, filters);
    const isLogical = ['AND', 'OR', 'NOT'].some((key) => key in filters);
    if (userId === undefined && agentId === undefined && runId === undefined && !isLogical) throw invalid('filters must name at least one of user_id, agent_id and run_id');
    const { userId: _user, agentId: _agent, runId: _run, ...others } = filters;
    const all = { ...others, ...defined({ user_id: userId, agent_id: agentId, run_id: runId }) };
    const today = new Date(this.#now()).toISOString().slice(0, 10);
    return {
      topK: most,
      wanted: (note) => meets(valuesOf(note, this.#memory.userId), all) && (showExpired || !(String(note.metadata.expiration_date ?? '9999') < today)),
    };
  }

  /** A fact is wanted where a turn it rests on is; one that rests on none has no metadata. */
  #wantsFact(fact: FactView, notes: ReadonlyMap<string, Note>, wanted: (note: Pick<Kept, 'metadata' | 'agentId' | 'runId'>) => boolean): boolean {
    const found = rests(fact, notes);
    return found.length === 0 ? wanted({ metadata: {}, agentId: null, runId: null }) : found.some(wanted);
  }

  #entity(ids: Entity, filters: SearchFilters = {}): Entity {
    const userId = readId(ids.userId ?? filters.user_id ?? filters.userId, 'userId');
    if (userId !== undefined && userId !== this.#memory.userId) {
      throw invalid(`the memory is of the user ${show(this.#memory.userId)}, not of ${show(userId)}: open a memory for each user`);
    }
    return defined({
      userId,
      agentId: readId(ids.agentId ?? filters.agent_id ?? filters.agentId, 'agentId'),
      runId: readId(ids.runId ?? filters.run_id ?? filters.runId, 'runId'),
    });
  }
}
