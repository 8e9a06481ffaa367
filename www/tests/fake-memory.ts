import type {
  ChangeCause, ChangeStepView, ChangeView, EventOf, EventType, FactInput, FactsOptions, FactView, ForgetResult, HistoryOptions, MemoryEvent, MemoryOS, ProfileView, Settings, TraitView,
} from 'memstrata';

/** A fact of the user; `changes` says what else is true of it. */
export function fact(id: string, attribute: string, value: string, changes: Partial<FactView> = {}): FactView {
  return {
    id, subject: 'user', attribute, value, kind: 'knowledge', source: 'stated', confidence: 0.9, trust: 0.9, validFrom: null, validTo: null, recordedAt: 0,
    archived: false, pinned: false, neverRecall: false, evidence: [], ...changes,
  };
}

export function trait(dimension: number, changes: Partial<TraitView> = {}): TraitView {
  return {
    dimension, name: `Trait ${dimension}`, chineseName: `特征 ${dimension}`, category: 'psychology', definition: 'what it is', level: 'high', levelRule: 'what high means', confidence: 0.5, evidence: [],
    ...changes,
  };
}

/** Long-term memory by hand: what the contract promises, with nothing stored and no model. */
export class FakeMemory {
  factList: FactView[] = [];
  traitList: TraitView[] = [];
  profileView: ProfileView = { user: null, assistant: null, versions: [], name: null, gender: null, birthYear: null };
  changes: ChangeView[] = [];
  settings: Settings[] = [];
  /** What the next call rejects with. */
  failure: Error | null = null;
  now = () => Date.now();
  #listeners = new Map<string, Set<(event: never) => void>>();
  #last = 0;

  /** Stands in for the whole class where only this part of it is called. */
  get engine(): MemoryOS {
    return this as unknown as MemoryOS;
  }

  on<T extends EventType>(type: T, listener: (event: EventOf<T>) => void): () => void {
    const all = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, all);
    all.add(listener as (event: never) => void);
    return () => void all.delete(listener as (event: never) => void);
  }

  emit(event: MemoryEvent): void {
    for (const listener of this.#listeners.get(event.type) ?? []) listener(event as never);
  }

  async facts({ subject, closed = false }: FactsOptions = {}): Promise<FactView[]> {
    this.#mayFail();
    return this.factList.filter((each) => (subject === undefined || each.subject === subject) && (closed || each.validTo === null));
  }

  async profile(): Promise<ProfileView> {
    this.#mayFail();
    return this.profileView;
  }

  async traits(): Promise<TraitView[]> {
    this.#mayFail();
    return this.traitList;
  }

  async history({ id, offset = 0, limit = 100 }: HistoryOptions = {}): Promise<ChangeView[]> {
    this.#mayFail();
    return this.changes.filter((change) => id === undefined || change.steps.some((step) => step.id === id)).slice(offset, offset + limit);
  }

  async addFact(input: FactInput): Promise<FactView> {
    return this.#put(null, fact(`f${(this.#last += 1)}`, input.attribute, input.value, { subject: input.subject ?? 'user', kind: input.kind ?? 'knowledge', source: 'edited', recordedAt: this.now(), ...(input.subjectName ? { subjectName: input.subjectName } : {}) }));
  }

  async editFact(id: string, changes: Partial<FactInput>): Promise<FactView> {
    const before = this.#fact(id);
    const { attribute = before.attribute, value = before.value } = changes;
    return this.#put(before, { ...before, attribute, value, source: 'edited' });
  }

  async retractFact(id: string): Promise<FactView> {
    const before = this.#fact(id);
    return this.#put(before, { ...before, validTo: this.now(), reason: 'retracted' });
  }

  async pinFact(id: string, pinned: boolean): Promise<FactView> {
    const before = this.#fact(id);
    return this.#put(before, { ...before, pinned });
  }

  /** Leaves no change in history. */
  async neverRecall(id: string, never: boolean): Promise<void> {
    this.#mayFail();
    this.factList = this.factList.map((each) => (each.id === id ? { ...each, neverRecall: never } : each));
  }

  async setProfile(of: 'user' | 'assistant', text: string): Promise<void> {
    this.#mayFail();
    const before = this.profileView[of];
    const after = { version: this.profileView.versions.length + 1, of, text, recordedAt: this.now() };
    this.profileView = { ...this.profileView, [of]: after, versions: [after, ...this.profileView.versions] };
    this.change({ by: 'user' }, [{ what: 'profile', id: 'profile', before, after }]);
  }

  async undo(changeId: string): Promise<string> {
    this.#mayFail();
    const change = this.changes.find((each) => each.id === changeId);
    if (!change) throw Object.assign(new Error(`no change ${changeId}`), { code: 'NOT_FOUND' });
    if (!change.undoable) throw Object.assign(new Error('a later change rests on it'), { code: 'INVALID_ARGUMENT' });
    const steps = change.steps.map((step) => ({ ...step, before: step.after, after: step.before }) as ChangeStepView);
    for (const step of steps) {
      if (step.what !== 'fact') continue;
      const back = step.after;
      this.factList = back === null ? this.factList.filter((each) => each.id !== step.id) : this.factList.map((each) => (each.id === step.id ? back : each));
    }
    return this.change({ by: 'undo', changeId }, steps).id;
  }

  async forget(ids: string[]): Promise<ForgetResult> {
    this.#mayFail();
    const gone = this.factList.filter((each) => ids.includes(each.id)).map((each) => each.id);
    this.factList = this.factList.filter((each) => !gone.includes(each.id));
    return { pages: [], notFound: [], segmentsRewritten: [], segmentsRemoved: [], facts: gone, factsRewritten: [], profilesRemoved: false };
  }

  async configure(settings: Settings): Promise<void> {
    this.#mayFail();
    this.settings.push(settings);
  }

  /** Adds a change to history and tells of it. */
  change(cause: ChangeCause, steps: ChangeStepView[]): ChangeView {
    const change: ChangeView = { id: `c${(this.#last += 1)}`, at: this.now(), cause, steps, undoable: true };
    this.changes = [change, ...this.changes.map((each) => (each.steps.some((step) => steps.some((now) => now.id === step.id)) ? { ...each, undoable: false } : each))];
    this.emit({ type: 'persona-changed', changeId: change.id, facts: steps.filter((step) => step.what === 'fact').length, profiles: 0, traits: 0 });
    return change;
  }

  #put(before: FactView | null, after: FactView): FactView {
    this.#mayFail();
    this.factList = before === null ? [...this.factList, after] : this.factList.map((each) => (each.id === after.id ? after : each));
    this.change({ by: 'user' }, [{ what: 'fact', id: after.id, before, after }]);
    return after;
  }

  #fact(id: string): FactView {
    this.#mayFail();
    const found = this.factList.find((each) => each.id === id);
    if (!found) throw Object.assign(new Error(`no fact ${id}`), { code: 'NOT_FOUND' });
    return found;
  }

  #mayFail(): void {
    const failure = this.failure;
    this.failure = null;
    if (failure) throw failure;
  }
}
