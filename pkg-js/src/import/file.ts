/** Imports a file of another product, or one of `exportJsonl`: finds out which it is, and says what it did. */
import { readFact } from '../boundary/persona.js';
import { readTurn } from '../boundary/turn.js';
import { aborted, invalid, isMemoryOSError } from '../errors.js';
import type { MemoryOS } from '../memory-os.js';
import { show } from '../text.js';
import type { FactInput, ImportProgress, ImportTurn, Metadata } from '../types.js';
import { entriesOf, formatNamed } from './detect.js';
import type { FormatName } from './detect.js';
import type { Entry } from './entries.js';
import { hash } from './hash.js';
import { recordsOf } from './records.js';
import type { FileSource, SourceLimits } from './records.js';

/** Metadata of every imported page: that it was imported, and what from. Filter by them, or leave such pages out. */
export const ORIGIN_KEY = 'memstrata:origin';
/** Metadata key that names the product an imported page came from. */
export const SOURCE_KEY = 'memstrata:source';

/** Caps of one import; what goes beyond them is refused with INVALID_ARGUMENT. */
export interface ImportLimits extends SourceLimits {
  /** Turns, facts and profiles together. */
  entries: number;
  /** Characters of one turn or fact; longer ones are skipped. */
  entryChars: number;
}

/** 1 GiB, records of 64 Mi characters, a million entries of a million characters. */
const LIMITS: ImportLimits = { bytes: 1 << 30, recordChars: 1 << 26, entries: 1_000_000, entryChars: 1_000_000 };

/** What is read and how: format, dry run, progress, limits and signal. */
export interface ImportFileOptions {
  /** Default `"auto"`: by what is in the file. */
  format?: 'auto' | FormatName;
  /** Stores nothing, and says what would be stored. Default false. */
  dryRun?: boolean;
  /** `total` grows while the file is read. */
  onProgress?: (progress: ImportProgress) => void;
  /** Stops between two steps: what was stored stays, and another import goes on from there. */
  signal?: AbortSignal;
  limits?: Partial<ImportLimits>;
}

/** What came in, or would come in, and what was passed over and why. */
export interface ImportFileResult {
  format: FormatName;
  dryRun: boolean;
  /** In a dry run: what would be added. */
  pages: { added: number; duplicates: number };
  /** Facts carry no mark of their origin: they count as entered by the user. */
  facts: { added: number; duplicates: number };
  /** Profile texts that were set. */
  profiles: number;
  /** When the first and the last page was said, in milliseconds; `null` if unknown. */
  from: number | null;
  to: number | null;
  /** What could not be read, by its place in the file; the first 1,000. */
  skipped: { place: string; reason: string }[];
  skippedCount: number;
  /** What is no memory, by the reason it was left out: hidden messages, tools, facts that hold no longer. */
  leftOut: { [reason: string]: number };
}

/** The calls of a memory that an import makes. */
export type FileImportTarget = Pick<MemoryOS, 'importConversation' | 'pages' | 'facts' | 'addFact' | 'pinFact' | 'neverRecall' | 'profile' | 'setProfile'>;

/** Files list the latest first; so much is held to be put into order of time. What is beyond goes in as it stands. */
const SORTED_CHARS = 1 << 25;
const MOST_REASONS = 1_000;
const MOST_REASON_CHARS = 80;

interface Held {
  place: string;
  turn: ImportTurn & { id: string };
  epochMs: number | null;
  neverRecall: boolean;
}

/** Imports text, bytes, a Blob or a stream. Rejects with INVALID_ARGUMENT when the file is of no known format or beyond a limit. */
export async function importFile(memory: FileImportTarget, source: FileSource, options: ImportFileOptions = {}): Promise<ImportFileResult> {
  const run = new FileImport(memory, options);
  await run.read(source);
  return run.result;
}

class FileImport {
  readonly result: ImportFileResult;
  readonly #memory: FileImportTarget;
  readonly #options: ImportFileOptions;
  readonly #limits: ImportLimits;
  readonly #facts: Extract<Entry, { fact: FactInput }>[] = [];
  readonly #profiles: Extract<Entry, { profile: object }>[] = [];
  readonly #seen = new Map<string, number>();
  readonly #hidden = new Set<string>();
  readonly #leftOut = new Map<string, number>();
  #known: Map<string, string> | undefined;
  #held: Held[] = [];
  #heldChars = 0;
  #entries = 0;
  #done = 0;

  constructor(memory: FileImportTarget, options: ImportFileOptions) {
    this.#memory = memory;
    this.#options = options;
    this.#limits = readLimits(options.limits);
    this.result = {
      format: 'generic', dryRun: options.dryRun === true, pages: { added: 0, duplicates: 0 }, facts: { added: 0, duplicates: 0 }, profiles: 0, from: null, to: null,
      skipped: [], skippedCount: 0, leftOut: {},
    };
  }

  async read(source: FileSource): Promise<void> {
    const wanted = formatNamed(this.#options.format);
    this.#proceed();
    for await (const entry of entriesOf(recordsOf(source, this.#limits), wanted, ({ name }) => (this.result.format = name as FormatName))) {
      this.#proceed();
      this.#take(entry);
      if (this.#heldChars > SORTED_CHARS) await this.#store();
    }
    await this.#store();
    await this.#hide();
    await this.#storeFacts();
    await this.#storeProfiles();
    this.result.leftOut = Object.fromEntries(this.#leftOut);
  }

  #take(entry: Entry): void {
    if ('unreadable' in entry) return this.#skip(entry.place, entry.unreadable);
    if ('leftOut' in entry) return this.#leaveOut(entry.leftOut.slice(0, MOST_REASON_CHARS));
    if (++this.#entries > this.#limits.entries) throw invalid(`the file holds more than ${this.#limits.entries} entries: raise limits.entries, or split it; what was stored so far stays`);
    if ('fact' in entry) this.#facts.push(entry);
    else if ('profile' in entry) this.#profiles.push(entry);
    else this.#hold(entry);
  }

  #hold({ place, turn, neverRecall = false }: Extract<Entry, { turn: ImportTurn }>): void {
    const marked = { ...turn, metadata: { ...turn.metadata, ...this.#mark(turn.metadata) } };
    try {
      const { userInput, agentResponse, epochMs } = readTurn(marked, 0);
      const chars = userInput.length + agentResponse.length;
      if (chars > this.#limits.entryChars) return this.#skip(place, `it has ${chars} characters: raise limits.entryChars, now ${this.#limits.entryChars}`);
      const id = turn.id ?? this.#name([turn.timestamp, turn.session, userInput, agentResponse]);
      this.#held.push({ place, turn: { ...marked, id }, epochMs: turn.timestamp === undefined ? null : epochMs, neverRecall });
      this.#heldChars += chars;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#skip(place, error.message);
    }
  }

  /** A page that was imported before and exported keeps the mark it had. */
  #mark(metadata: Metadata | undefined): Metadata {
    return metadata?.[ORIGIN_KEY] === 'import' ? {} : { [ORIGIN_KEY]: 'import', [SOURCE_KEY]: this.result.format };
  }

  /** The same for the same turn of the same file, however often it is imported; the second of two equal turns has another. */
  #name(parts: unknown[]): string {
    const id = `import:${hash(JSON.stringify(parts))}`;
    const times = (this.#seen.get(id) ?? 0) + 1;
    this.#seen.set(id, times);
    return times === 1 ? id : `${id}:${times}`;
  }

  async #store(): Promise<void> {
    const when = ({ epochMs }: Held): number => epochMs ?? Number.NEGATIVE_INFINITY;
    const all = this.#held.sort((a, b) => (when(a) < when(b) ? -1 : when(a) > when(b) ? 1 : 0));
    this.#held = [];
    this.#heldChars = 0;
    const known = await this.#pagesKnown();
    const fresh = all.filter(({ turn }) => !known.has(turn.id));
    for (const { epochMs, neverRecall, turn } of all) {
      if (neverRecall) this.#hidden.add(turn.id);
      if (epochMs === null) continue;
      this.result.from = Math.min(this.result.from ?? epochMs, epochMs);
      this.result.to = Math.max(this.result.to ?? epochMs, epochMs);
    }
    this.result.pages.duplicates += all.length - fresh.length;
    if (this.result.dryRun) {
      const ids = new Set(fresh.map(({ turn }) => turn.id));
      this.result.pages.added += ids.size;
      this.result.pages.duplicates += fresh.length - ids.size;
      // A later part may hold it again.
      for (const id of ids) known.set(id, id);
      return this.#report(all.length);
    }
    const before = this.#done;
    const { signal } = this.#options;
    const { added, duplicates, skipped } = await this.#memory.importConversation(fresh.map(({ turn }) => turn), {
      onProgress: ({ done }) => this.#report(before + done - this.#done),
      ...(signal ? { signal } : {}),
    });
    this.result.pages.added += added;
    this.result.pages.duplicates += duplicates;
    for (const { index, reason } of skipped) this.#skip(fresh[index]?.place ?? '', reason);
    this.#report(before + all.length - this.#done);
  }

  /** Pages by their ids and by their clients' ids. Asked for where the memory cannot tell by itself. */
  async #pagesKnown(): Promise<Map<string, string>> {
    if (this.#known) return this.#known;
    this.#known = new Map();
    if (!this.result.dryRun && this.result.format !== 'memstrata') return this.#known;
    for await (const { id, clientId } of everyPage(this.#memory)) {
      this.#known.set(id, id);
      if (clientId !== undefined) this.#known.set(clientId, id);
    }
    return this.#known;
  }

  /** What was not to be recalled stays so. */
  async #hide(): Promise<void> {
    if (this.#hidden.size === 0 || this.result.dryRun) return;
    for await (const { id, clientId, neverRecall } of everyPage(this.#memory)) {
      if (!neverRecall && (this.#hidden.has(id) || (clientId !== undefined && this.#hidden.has(clientId)))) await this.#memory.neverRecall(id);
    }
  }

  async #storeFacts(): Promise<void> {
    if (this.#facts.length === 0) return;
    // Closed ones too: what was taken back does not come again.
    const known = new Set((await this.#memory.facts({ closed: true })).map(keyOf));
    for (const { place, fact, pinned = false, neverRecall = false } of this.#facts) {
      this.#proceed();
      await this.#attempt(place, async () => {
        const clean = readFact(fact);
        if (clean.value.length > this.#limits.entryChars) throw invalid(`it has ${clean.value.length} characters: raise limits.entryChars, now ${this.#limits.entryChars}`);
        if (known.has(keyOf(clean))) return void this.result.facts.duplicates++;
        if (!this.result.dryRun) {
          const { id } = await this.#memory.addFact(fact);
          if (pinned) await this.#memory.pinFact(id);
          if (neverRecall) await this.#memory.neverRecall(id);
        }
        known.add(keyOf(clean));
        this.result.facts.added++;
      });
      this.#report(1);
    }
  }

  async #storeProfiles(): Promise<void> {
    if (this.#profiles.length === 0) return;
    const { versions } = await this.#memory.profile();
    for (const { place, profile: { of, text } } of this.#profiles) {
      this.#proceed();
      if (!versions.some((version) => version.of === of && version.text === text)) {
        await this.#attempt(place, async () => {
          if (text.length > this.#limits.entryChars) throw invalid(`it has ${text.length} characters: raise limits.entryChars, now ${this.#limits.entryChars}`);
          if (!this.result.dryRun) await this.#memory.setProfile(of, text);
          this.result.profiles++;
        });
      }
      this.#report(1);
    }
  }

  /** What the memory refuses is skipped, what fails otherwise ends the import. */
  async #attempt(place: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#skip(place, error.message);
    }
  }

  /** Reasons quote the file, which may hold any number of them. */
  #leaveOut(reason: string): void {
    const kind = this.#leftOut.has(reason) || this.#leftOut.size < MOST_REASONS ? reason : 'other';
    this.#leftOut.set(kind, (this.#leftOut.get(kind) ?? 0) + 1);
  }

  #skip(place: string, reason: string): void {
    this.result.skippedCount++;
    if (this.result.skipped.length < MOST_REASONS) this.result.skipped.push({ place, reason });
  }

  #report(count: number): void {
    this.#done += count;
    this.#options.onProgress?.({ done: this.#done, total: Math.max(this.#entries, this.#done) });
  }

  #proceed(): void {
    if (this.#options.signal?.aborted) throw aborted(this.#options.signal);
  }
}

const PAGES_AT_ONCE = 1_000;

export async function* everyPage(memory: Pick<MemoryOS, 'pages'>): AsyncGenerator<Awaited<ReturnType<MemoryOS['pages']>>[number]> {
  for (let offset = 0; ; offset += PAGES_AT_ONCE) {
    const some = await memory.pages({ offset, limit: PAGES_AT_ONCE });
    yield* some;
    if (some.length < PAGES_AT_ONCE) return;
  }
}

function readLimits(limits: Partial<ImportLimits> = {}): ImportLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (!(name in LIMITS)) throw invalid(`there is no limit ${show(name)}; there are ${Object.keys(LIMITS).join(', ')}`);
    if (!(Number.isInteger(value) && value > 0)) throw invalid(`limits.${name} must be a whole number above 0, got ${show(value)}`);
  }
  return { ...LIMITS, ...limits };
}

function isRefusal(error: unknown): error is Error {
  return isMemoryOSError(error) && error.code === 'INVALID_ARGUMENT';
}

function keyOf({ subject = 'user', subjectName, attribute, value }: Pick<FactInput, 'subject' | 'subjectName' | 'attribute' | 'value'>): string {
  return JSON.stringify([subject, subjectName ?? null, attribute, value]);
}
