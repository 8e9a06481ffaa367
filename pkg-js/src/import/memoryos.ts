/**
 * Reads what the MemoryOS Python package writes: short_term.json, mid_term.json and the long_term_*.json files. An entry of
 * its own (`memstrata/import`), so that pages which import nothing do not load it.
 */
import { aborted, invalid, isMemoryOSError } from '../errors.js';
import type { MemoryOS } from '../memory-os.js';
import { show, wellFormed } from '../text.js';
import { hash } from './hash.js';
import type { FactInput, ImportProgress, ImportTurn } from '../types.js';

/** How files of the MemoryOS Python package are read. */
export interface MemoryOSImportOptions {
  /** Minutes east of UTC where the dialogues took place; their times name no zone. Default: this machine's zone. */
  offsetMinutes?: number;
  /** Whose profile it is, where the file holds several. Default: the only one. */
  user?: string;
  onProgress?: (progress: ImportProgress) => void;
  /** Stops after the running step: what was stored stays, and another import goes on from there. */
  signal?: AbortSignal;
}

/** What of those files is stored now. */
export interface MemoryOSImportResult {
  pages: { added: number; duplicates: number };
  facts: { added: number; duplicates: number };
  /** Profile texts that were set. */
  profiles: number;
  /** What could not be read, by its place in the file, with the reason; the rest was imported. */
  skipped: { place: string; reason: string }[];
}

/** The calls of a memory that an import makes. */
export type ImportTarget = Pick<MemoryOS, 'importConversation' | 'facts' | 'addFact' | 'profile' | 'setProfile'>;

/** Ends in a plural: such an attribute holds several values at once, so that no entry closes another. */
const ATTRIBUTE = 'notes';

/** What the Python package writes where a model found nothing. */
const NOTHING = /^(-\s*)?none\.?$/i;

/**
 * Imports one of the files, as JSON text or parsed; several as `{ shortTerm, midTerm, longTerm }`, where `longTerm` may be a
 * list of files; or a bare list of turns. Dialogues go in by order of time, each once however often it is imported or
 * stands in the files. Knowledge becomes facts about user or assistant, a profile its text.
 */
export async function importMemoryOS(memory: ImportTarget, json: unknown, options: MemoryOSImportOptions = {}): Promise<MemoryOSImportResult> {
  const { onProgress, signal } = options;
  const found = read(parse(json), options);
  const result: MemoryOSImportResult = { pages: { added: 0, duplicates: 0 }, facts: { added: 0, duplicates: 0 }, profiles: 0, skipped: found.skipped };
  const total = found.pages.length + found.facts.length + found.profiles.length;
  const report = (done: number): void => onProgress?.({ done, total });
  const proceed = (): void => {
    if (signal?.aborted) throw aborted(signal);
  };

  proceed();
  const { added, duplicates, skipped } = await memory.importConversation(found.pages.map(({ turn }) => turn), {
    onProgress: ({ done }) => report(done),
    ...(signal ? { signal } : {}),
  });
  result.pages = { added, duplicates };
  for (const { index, reason } of skipped) result.skipped.push({ place: found.pages[index]?.place ?? '', reason });

  let done = found.pages.length;
  // Closed ones too: what was taken back does not come again.
  const known = new Set((await memory.facts({ closed: true })).map(keyOf));
  for (const { place, fact } of found.facts) {
    proceed();
    if (known.has(keyOf(fact))) result.facts.duplicates++;
    else if (await taken(place, result, () => memory.addFact(fact))) {
      known.add(keyOf(fact));
      result.facts.added++;
    }
    report(++done);
  }

  const versions = found.profiles.length > 0 ? (await memory.profile()).versions : [];
  for (const { place, text } of found.profiles) {
    proceed();
    const there = versions.some((version) => version.of === 'user' && version.text === text);
    if (!there && await taken(place, result, () => memory.setProfile('user', text))) result.profiles++;
    report(++done);
  }
  return result;
}

/** Runs one step; what the memory refuses is skipped, what fails otherwise ends the import. */
async function taken(place: string, { skipped }: MemoryOSImportResult, step: () => Promise<unknown>): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    if (!isMemoryOSError(error) || error.code !== 'INVALID_ARGUMENT') throw error;
    skipped.push({ place, reason: error.message });
    return false;
  }
}

export interface Found {
  pages: { place: string; turn: ImportTurn }[];
  facts: { place: string; fact: FactInput }[];
  profiles: { place: string; text: string }[];
  skipped: { place: string; reason: string }[];
}

type Json = Record<string, unknown>;

function parse(json: unknown): unknown {
  if (typeof json !== 'string') return json;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw invalid(`importMemoryOS takes JSON text or what it holds: ${(error as Error).message}`);
  }
}

export function read(json: unknown, { user, offsetMinutes }: MemoryOSImportOptions): Found {
  if (offsetMinutes !== undefined && !(Number.isInteger(offsetMinutes) && Math.abs(offsetMinutes) <= 1_080)) {
    throw invalid(`offsetMinutes must be a whole number from -1080 to 1080, got ${show(offsetMinutes)}`);
  }
  const found: Found = { pages: [], facts: [], profiles: [], skipped: [] };
  const file = isObject(json) && ('shortTerm' in json || 'midTerm' in json || 'longTerm' in json) ? json : guess(json);
  const { shortTerm, midTerm, longTerm } = file;
  // Of a dialogue that is in both, the one that has sunk says more.
  if (midTerm !== undefined) readSessions(midTerm, found);
  if (shortTerm !== undefined) readPages(list(shortTerm, 'shortTerm', found), 'shortTerm', {}, found);
  for (const [at, item] of (Array.isArray(longTerm) ? longTerm : longTerm === undefined ? [] : [longTerm]).entries()) {
    readLongTerm(item, Array.isArray(longTerm) ? `longTerm[${at}]` : 'longTerm', user, found);
  }
  settle(found, offsetMinutes);
  return found;
}

/** Which of the files it is, by what is in it. */
function guess(json: unknown): Json {
  if (Array.isArray(json)) return { shortTerm: json };
  if (isObject(json) && 'sessions' in json) return { midTerm: json };
  if (isObject(json) && ('user_profiles' in json || 'knowledge_base' in json || 'assistant_knowledge' in json)) return { longTerm: json };
  throw invalid(`importMemoryOS takes short_term.json, mid_term.json, a long_term file or an object with shortTerm, midTerm and longTerm, got ${show(json)}`);
}

function readSessions(json: unknown, found: Found): void {
  const sessions = isObject(json) && 'sessions' in json ? json.sessions : json;
  if (!isObject(sessions)) return skip(found, 'midTerm.sessions', `it must be an object of sessions, got ${show(sessions)}`);
  for (const [id, session] of Object.entries(sessions)) {
    const place = `midTerm.sessions.${id}`;
    if (!isObject(session)) {
      skip(found, place, `it must be an object with details, got ${show(session)}`);
      continue;
    }
    const topic = typeof session.summary === 'string' && session.summary !== '' ? { topic: session.summary } : {};
    readPages(list(session.details, `${place}.details`, found), `${place}.details`, { session: id, ...topic }, found);
  }
}

function readPages(pages: unknown[], place: string, metadata: Record<string, string>, found: Found): void {
  pages.forEach((page, at) => {
    if (!isObject(page)) return skip(found, `${place}[${at}]`, `it must be an object with user_input and agent_response, got ${show(page)}`);
    const { user_input: userInput, agent_response: agentResponse, timestamp } = page as { user_input: string; agent_response: string; timestamp?: unknown };
    // What is wrong with the texts is said by whoever stores them.
    found.pages.push({ place: `${place}[${at}]`, turn: { userInput, agentResponse, metadata, ...(typeof timestamp === 'string' ? { timestamp: timestamp.trim() } : {}) } });
  });
}

function readLongTerm(json: unknown, place: string, user: string | undefined, found: Found): void {
  if (!isObject(json)) return skip(found, place, `it must be an object with user_profiles and knowledge_base, got ${show(json)}`);
  const { user_profiles: profiles = {}, knowledge_base: ofUser = [], assistant_knowledge: ofAssistant = [] } = json;
  readKnowledge(list(ofUser, `${place}.knowledge_base`, found), `${place}.knowledge_base`, 'user', found);
  readKnowledge(list(ofAssistant, `${place}.assistant_knowledge`, found), `${place}.assistant_knowledge`, 'assistant', found);
  if (!isObject(profiles)) return skip(found, `${place}.user_profiles`, `it must be an object of profiles, got ${show(profiles)}`);
  const names = Object.keys(profiles);
  for (const name of names) {
    const where = `${place}.user_profiles.${name}`;
    const profile = profiles[name];
    const text = isObject(profile) ? profile.data : profile;
    if (user === undefined ? names.length > 1 : name !== user) skip(found, where, "it is another user's: name the one to import in `user`");
    else if (typeof text !== 'string' || text.trim() === '') skip(found, where, `its data must be a text, got ${show(text)}`);
    else if (!NOTHING.test(text.trim())) found.profiles.push({ place: where, text: wellFormed(text.trim()) });
  }
}

function readKnowledge(entries: unknown[], place: string, subject: 'user' | 'assistant', found: Found): void {
  entries.forEach((entry, at) => {
    const text = isObject(entry) ? entry.knowledge : entry;
    if (typeof text !== 'string' || text.trim() === '') return skip(found, `${place}[${at}]`, `its knowledge must be a text, got ${show(text)}`);
    const value = wellFormed(text).trim().replace(/^-\s+/, '');
    if (!NOTHING.test(value)) found.facts.push({ place: `${place}[${at}]`, fact: { subject, attribute: ATTRIBUTE, value } });
  });
}

/** Gives each dialogue its id and its zone, drops what is there twice, and sorts by time; what has no time comes first. */
function settle(found: Found, offsetMinutes: number | undefined): void {
  const pages = new Map<string, Found['pages'][0]>();
  for (const page of found.pages) {
    const { turn } = page;
    // Made of the content: a page has an id of its own only once it has sunk, and sinks into every topic of its batch.
    const id = `memoryos:${hash(JSON.stringify([turn.timestamp, turn.userInput, turn.agentResponse]))}`;
    if (!pages.has(id)) pages.set(id, { ...page, turn: { ...turn, id, ...inZone(turn.timestamp as string | undefined, offsetMinutes) } });
  }
  // Their times are all of one form, which sorts as text.
  const when = ({ turn }: Found['pages'][0]): string => (turn.timestamp as string | undefined)?.replace('T', ' ') ?? '';
  found.pages = [...pages.values()].sort((a, b) => (when(a) < when(b) ? -1 : when(a) > when(b) ? 1 : 0));
}

function inZone(timestamp: string | undefined, offsetMinutes: number | undefined): { timestamp?: string } {
  if (timestamp === undefined) return {};
  if (offsetMinutes === undefined || !/\d:\d\d(:\d\d([.,]\d+)?)?$/.test(timestamp) || /[+-]\d\d:\d\d$/.test(timestamp)) return { timestamp };
  const minutes = Math.abs(offsetMinutes);
  const two = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  return { timestamp: `${timestamp}${offsetMinutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}` };
}

function keyOf({ subject = 'user', attribute, value }: Pick<FactInput, 'subject' | 'attribute' | 'value'>): string {
  return JSON.stringify([subject, attribute, value]);
}

function list(value: unknown, place: string, found: Found): unknown[] {
  if (Array.isArray(value)) return value;
  skip(found, place, `it must be a list, got ${show(value)}`);
  return [];
}

function skip(found: Found, place: string, reason: string): void {
  found.skipped.push({ place, reason });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
