import type { ContentPart, ImportTurn, Metadata, MetadataValue } from 'memstrata';

/** Why an entry of a file was left out, or taken with something missing. */
export type ProblemKind = 'not-an-object' | 'no-text' | 'bad-time' | 'no-time';

export interface Problem {
  /** Position of the entry in its list, from 0. */
  index: number;
  kind: ProblemKind;
}

/** One conversation of a file, paired into pages, nothing written yet. */
export interface Conversation {
  name: string;
  /** Entries of the file, good or bad. */
  entries: number;
  pages: ImportTurn[];
  problems: Problem[];
  speakers: string[];
  sessions: number;
  /** First and last moment, milliseconds; `null` if no entry has a time. */
  from: number | null;
  to: number | null;
  /** Questions that came with it, to ask afterwards. */
  questions: string[];
}

export type FileContent = { kind: 'conversations'; list: Conversation[] } | { kind: 'export' };

/** The file cannot be an import at all; `reason` names the dictionary entry. */
export class UnreadableFile extends Error {
  constructor(readonly reason: 'empty' | 'not-json' | 'no-turns') {
    super(reason);
  }
}

type Fields = { [key: string]: unknown };
type Role = 'user' | 'assistant';

interface Turn {
  role: Role;
  speaker: string;
  text: string | ContentPart[];
  time: string | number | null;
  session: string | undefined;
  id: string | undefined;
}

/**
 * A time that is missing or cannot be read. Left out, it would mean "now", which would be a lie; the package keeps text
 * that is no time as unknown.
 */
export const UNKNOWN_TIME = '';

/** Reads a file's bytes. What is not JSON text is taken for the package's own export, which checks itself. */
export function readFile(bytes: Uint8Array, name: string): FileContent {
  const first = bytes.findIndex((byte) => byte > 0x20 && ![0xef, 0xbb, 0xbf].includes(byte));
  if (first < 0) throw new UnreadableFile('empty');
  const opening = bytes[first];
  if (opening !== 0x7b && opening !== 0x5b) {
    // Plain text is nobody's export; a binary header is.
    if (bytes.subarray(0, 512).every((byte) => byte >= 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)) throw new UnreadableFile('not-json');
    return { kind: 'export' };
  }
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new UnreadableFile('not-json');
  }
  return { kind: 'conversations', list: readConversations(json, name.replace(/\.json$/i, '')) };
}

/** Finds the conversations in parsed JSON, whichever of the known shapes it has. */
export function readConversations(json: unknown, name: string): Conversation[] {
  const inner = isFields(json) && Array.isArray(json.conversations) ? json.conversations : json;
  const several = Array.isArray(inner) && inner.some((entry) => isFields(entry) && listOf(entry)) ? inner : [inner];
  const found: Conversation[] = [];
  for (const entry of several) {
    const list = Array.isArray(entry) ? entry : isFields(entry) ? listOf(entry) : undefined;
    if (!list || list.length === 0) continue;
    const title = isFields(entry) ? (textOf(entry.id) ?? textOf(entry.name) ?? textOf(entry.title)) : undefined;
    found.push(readConversation(list, title ?? (several.length > 1 ? `${name} ${found.length + 1}` : name), isFields(entry) ? entry.questions : undefined));
  }
  if (!found.some((conversation) => conversation.pages.length > 0)) throw new UnreadableFile('no-turns');
  return found;
}

function readConversation(list: unknown[], name: string, questions: unknown): Conversation {
  const problems: Problem[] = [];
  const speakers = new Set<string>();
  const sessions = new Set<string>();
  let from: number | null = null;
  let to: number | null = null;

  const note = (time: string | number | null, index: number): void => {
    const moment = momentOf(time);
    if (moment === null) {
      problems.push({ index, kind: time === null ? 'no-time' : 'bad-time' });
      return;
    }
    from = from === null ? moment : Math.min(from, moment);
    to = to === null ? moment : Math.max(to, moment);
  };

  const paged: ImportTurn[] = [];
  let turns: Turn[] = [];
  const seen = new Set<string>();
  const push = (page: ImportTurn, ids: string[]): void => {
    // The same file imported twice is stored once; two entries that share an id but not their words are both kept.
    const stem = `${name}/${ids.length ? ids.join('+') : `${paged.length}~${hashOf(page)}`}`;
    const id = seen.has(stem) ? `${stem}~${hashOf(page)}` : stem;
    seen.add(id);
    paged.push({ ...page, id });
  };
  const pair = (): void => {
    for (const { page, ids } of pairTurns(turns)) push(page, ids);
    turns = [];
  };

  list.forEach((entry, index) => {
    if (!isFields(entry)) {
      problems.push({ index, kind: 'not-an-object' });
      return;
    }
    const page = pageOf(entry);
    if (page) {
      if (isBlank(page.userInput) && isBlank(page.agentResponse)) {
        problems.push({ index, kind: 'no-text' });
        return;
      }
      pair();
      note(timeOf(entry), index);
      if (page.userName) speakers.add(page.userName);
      if (page.agentName) speakers.add(page.agentName);
      if (page.session) sessions.add(page.session);
      const id = textOf(entry.id);
      push(page, id === undefined ? [] : [id]);
      return;
    }
    const turn = turnOf(entry, speakers);
    if (!turn) {
      problems.push({ index, kind: 'no-text' });
      return;
    }
    note(turn.time, index);
    speakers.add(turn.speaker || turn.role);
    if (turn.session !== undefined) sessions.add(turn.session);
    turns.push(turn);
  });
  pair();

  return { name, entries: list.length, pages: paged, problems, speakers: [...speakers], sessions: sessions.size, from, to, questions: questionsOf(questions) };
}

/** Consecutive turns of user and assistant of one session become one page; a turn alone keeps an empty other side. */
function pairTurns(turns: Turn[]): { page: ImportTurn; ids: string[] }[] {
  const pages: { page: ImportTurn; ids: string[] }[] = [];
  for (let at = 0; at < turns.length; at += 1) {
    const turn = turns[at]!;
    const next = turns[at + 1];
    const answer = turn.role === 'user' && next?.role === 'assistant' && next.session === turn.session ? next : undefined;
    if (answer) at += 1;
    const user = turn.role === 'user' ? turn : undefined;
    const agent = answer ?? (turn.role === 'assistant' ? turn : undefined);
    pages.push({
      page: {
        userInput: user?.text ?? '',
        agentResponse: agent?.text ?? '',
        timestamp: stampOf(turn.time ?? answer?.time ?? null),
        ...(turn.session === undefined ? {} : { session: turn.session }),
        ...(user?.speaker ? { userName: user.speaker } : {}),
        ...(agent?.speaker ? { agentName: agent.speaker } : {}),
      },
      ids: [turn, answer].flatMap((each) => (each?.id === undefined ? [] : [each.id])),
    });
  }
  return pages;
}

/** An entry that is a pair already: `{user_input, agent_response, timestamp}` or the package's own names. */
function pageOf(entry: Fields): ImportTurn | undefined {
  const user = entry.user_input ?? entry.userInput;
  const agent = entry.agent_response ?? entry.agentResponse;
  if (user === undefined && agent === undefined) return undefined;
  const session = textOf(entry.session ?? entry.session_id);
  const userName = textOf(entry.userName ?? entry.user_name);
  const agentName = textOf(entry.agentName ?? entry.agent_name);
  const metadata = metadataOf(entry.metadata ?? entry.meta_data);
  return {
    userInput: contentOf(user) ?? '',
    agentResponse: contentOf(agent) ?? '',
    timestamp: stampOf(timeOf(entry)),
    ...(session === undefined ? {} : { session }),
    ...(userName ? { userName } : {}),
    ...(agentName ? { agentName } : {}),
    ...(metadata ? { metadata } : {}),
  };
}

function turnOf(entry: Fields, speakers: Set<string>): Turn | undefined {
  const text = contentOf(entry.text ?? entry.content ?? entry.message);
  if (text === undefined || isBlank(text)) return undefined;
  const named = textOf(entry.speaker ?? entry.name ?? entry.from) ?? '';
  const given = textOf(entry.role)?.toLowerCase();
  let role: Role;
  if (given === 'user' || given === 'human') role = 'user';
  else if (given !== undefined) role = 'assistant';
  // Without roles, whoever speaks first takes the user's side.
  else role = /^(user|human|me)$/i.test(named) || speakers.size === 0 || [...speakers][0] === named ? 'user' : 'assistant';
  const generic = /^(user|assistant|human|ai|system)$/i.test(named) && named.toLowerCase() === named;
  return { role, speaker: generic ? '' : named, text, time: timeOf(entry), session: textOf(entry.session ?? entry.session_id), id: textOf(entry.id) };
}

function timeOf(entry: Fields): string | number | null {
  const time = entry.time ?? entry.timestamp ?? entry.date ?? entry.created_at ?? entry.create_time;
  if (typeof time === 'number' && Number.isFinite(time)) return Math.abs(time) < 1e11 ? time * 1000 : time;
  return typeof time === 'string' && time.trim() !== '' ? time.trim() : null;
}

/** ISO text goes to the package as it is, so that a zone offset in it is kept. */
function stampOf(time: string | number | null): string | number {
  if (momentOf(time) === null) return UNKNOWN_TIME;
  if (typeof time !== 'string') return time!;
  // A date alone would be midnight in London; what was meant is the reader's own day.
  return /^\d{4}-\d{2}-\d{2}$/.test(time) ? `${time}T00:00:00` : time;
}

/** Milliseconds, a date without a zone being the reader's own day; `null` for what is not ISO 8601 text or a number. */
export function momentOf(time: string | number | null): number | null {
  if (typeof time === 'number') return time;
  if (time === null || !/^\d{4}-\d{2}-\d{2}/.test(time)) return null;
  const moment = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(time) ? `${time}T00:00` : time.replace(' ', 'T'));
  return Number.isNaN(moment) ? null : moment;
}

function contentOf(value: unknown): string | ContentPart[] | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value) && value.every((part) => isFields(part) && typeof part.type === 'string')) return value as ContentPart[];
  return undefined;
}

function isBlank(content: string | ContentPart[]): boolean {
  return typeof content === 'string' ? content.trim() === '' : content.length === 0;
}

/** Keys that would reach an object's prototype are dropped, at every depth. */
function metadataOf(value: unknown): Metadata | undefined {
  return isFields(value) ? (cleaned(value) as Metadata) : undefined;
}

function cleaned(value: unknown): MetadataValue {
  if (Array.isArray(value)) return value.map(cleaned);
  if (isFields(value)) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !['__proto__', 'constructor', 'prototype'].includes(key))
        .map(([key, inner]) => [key, cleaned(inner)]),
    );
  }
  return value as MetadataValue;
}

function questionsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry) => {
    const text = typeof entry === 'string' ? entry : isFields(entry) ? textOf(entry.question ?? entry.query ?? entry.text) : undefined;
    return text ? [text] : [];
  });
}

function listOf(fields: Fields): unknown[] | undefined {
  return [fields.turns, fields.messages, fields.pages].find(Array.isArray);
}

/** Ids, names, sessions. An empty one is none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** FNV-1a over the page's words and time; only tells entries apart that have no id. */
function hashOf(page: ImportTurn): string {
  let hash = 0x811c9dc5;
  for (const char of JSON.stringify([page.userInput, page.agentResponse, page.timestamp])) {
    hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193) >>> 0;
  }
  return hash.toString(36);
}
