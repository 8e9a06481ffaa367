/** Memory as text: lines of JSON for programs, Markdown for people. `memstrata/export`. */
import { aborted, toMemoryOSError } from '../errors.js';
import { everyPage } from '../import/file.js';
import { JSONL_VERSION } from '../import/formats/memstrata.js';
import type { MemoryOS } from '../memory-os.js';
import { momentOf } from '../tools/moment.js';
import type { FactView, PageView } from '../types.js';

/** How an export is cut short: `signal` ends the stream. */
export interface ExportOptions {
  signal?: AbortSignal;
}

/** The calls of a memory that an export makes. */
export type ExportSource = Pick<MemoryOS, 'pages' | 'facts' | 'profile'>;

/**
 * One line a page, in order of time, then the facts, closed ones too, and the latest profile texts. `importFile` reads it back: pages
 * with their times, sessions, names and metadata, open facts, profiles. Segments, traits, history and vectors are not in it; a whole
 * memory is what `exportTo` writes.
 */
export function exportJsonl(memory: ExportSource, options: ExportOptions = {}): ReadableStream<Uint8Array> {
  return bytesOf(jsonLines(memory), options);
}

/** Profile, facts with their evidence, and what was said, in order of time. What was stored is quoted: nothing of it acts as markup. */
export function exportMarkdown(memory: ExportSource, options: ExportOptions = {}): ReadableStream<Uint8Array> {
  return bytesOf(markdown(memory), options);
}

async function* jsonLines(memory: ExportSource): AsyncGenerator<string> {
  const line = (value: object): string => `${JSON.stringify(value)}\n`;
  yield line({ type: 'memstrata', version: JSONL_VERSION });
  for (const { id, clientId, userInput, agentResponse, userName, agentName, time, offsetMinutes, session, metadata, neverRecall } of await pagesByTime(memory)) {
    yield line({ type: 'page', id, clientId, userInput, agentResponse, userName, agentName, time, offsetMinutes, session, metadata, neverRecall });
  }
  for (const fact of await factsByTime(memory)) yield line({ type: 'fact', ...fact });
  const { user, assistant } = await memory.profile();
  for (const profile of [user, assistant]) if (profile) yield line({ type: 'profile', of: profile.of, text: profile.text, recordedAt: profile.recordedAt });
}

async function* markdown(memory: ExportSource): AsyncGenerator<string> {
  const pages = await pagesByTime(memory);
  const facts = await factsByTime(memory);
  const { user, assistant } = await memory.profile();
  yield '# Memory\n';
  for (const [title, profile] of [['The user', user], ['The assistant', assistant]] as const) if (profile) yield `\n## ${title}\n\n${quoted(profile.text)}\n`;
  if (facts.length > 0) yield '\n## Facts\n\n';
  const byId = new Map(pages.map((page) => [page.id, page]));
  for (const fact of facts) yield factLines(fact, byId);
  if (pages.length > 0) yield '\n## Conversations\n';
  let heading: string | undefined;
  for (const page of pages) {
    const day = momentOf(page.time, page.offsetMinutes)?.slice(0, 10) ?? 'Date unknown';
    const next = `\n### ${day}, ${escaped(page.session)}\n`;
    if (next !== heading) yield next;
    heading = next;
    yield pageLines(page);
  }
}

function factLines(fact: FactView, pages: Map<string, PageView>): string {
  const day = (time: number | null): string | undefined => momentOf(time)?.slice(0, 10);
  const about = fact.subject === 'user' ? '' : `${escaped(fact.subjectName ?? fact.subject)}, `;
  const since = day(fact.validFrom) === undefined ? [] : [`since ${day(fact.validFrom)}`];
  const until = fact.validTo === null ? [] : [`until ${day(fact.validTo)}`];
  const notes = [...since, ...until, fact.source, ...(fact.pinned ? ['pinned'] : [])].join('; ');
  const evidence = fact.evidence.map(({ pageId, role, quote }) => {
    const page = pages.get(pageId);
    return `  - ${role}${page?.time === null || page === undefined ? '' : `, ${momentOf(page.time, page.offsetMinutes)?.slice(0, 10)}`}: “${escaped(quote)}”\n`;
  });
  return `- **${about}${escaped(fact.attribute)}**: ${escaped(fact.value)} (${notes})\n${evidence.join('')}`;
}

function pageLines({ userInput, agentResponse, userName, agentName, time, offsetMinutes }: PageView): string {
  const clock = momentOf(time, offsetMinutes)?.slice(11, 16);
  const side = (name: string, text: string): string => (text.trim() === '' ? '' : `\n**${escaped(name)}**${clock === undefined ? '' : ` ${clock}`}\n\n${quoted(text)}\n`);
  return side(userName || 'User', userInput) + side(agentName || 'Assistant', agentResponse);
}

/** Order of time; what has none comes first, what has the same in the order of arrival. */
async function pagesByTime(memory: ExportSource): Promise<PageView[]> {
  const pages = new Map<string, PageView>();
  // The listing may shift while it is read: what was seen is not taken twice.
  for await (const page of everyPage(memory)) pages.set(page.id, page);
  const when = ({ time }: PageView): number => time ?? Number.NEGATIVE_INFINITY;
  return [...pages.values()].reverse().sort((a, b) => (when(a) < when(b) ? -1 : when(a) > when(b) ? 1 : 0));
}

async function factsByTime(memory: ExportSource): Promise<FactView[]> {
  return (await memory.facts({ closed: true })).sort((a, b) => (a.validFrom ?? a.recordedAt) - (b.validFrom ?? b.recordedAt));
}

function quoted(text: string): string {
  return escaped(text, false).split('\n').map((line) => `> ${line}`).join('\n');
}

/** No links, pictures, code, emphasis or HTML out of stored text; on one line unless it is quoted. */
function escaped(text: string, oneLine = true): string {
  const plain = text.replace(/\r\n?/g, '\n').replace(/[\\`*_[\]<>&~|]/g, '\\$&');
  // What would begin a heading, a list or a rule at the start of a line.
  const still = plain.replace(/^(\s*)([#+=-]|\d+[.)])/gm, (_, space: string, sign: string) => `${space}${sign.length === 1 ? `\\${sign}` : `${sign.slice(0, -1)}\\${sign.slice(-1)}`}`);
  return oneLine ? still.replace(/\s*\n\s*/g, ' ') : still;
}

function bytesOf(texts: AsyncGenerator<string>, { signal }: ExportOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        if (signal?.aborted) throw aborted(signal);
        const { done, value } = await texts.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        controller.error(toMemoryOSError(error, 'INTERNAL'));
      }
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}
