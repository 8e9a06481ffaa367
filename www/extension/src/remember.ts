/** "Remember this": a selection on a page, because its reader asked for it. */
import type { RemoteMemory } from 'memstrata/extension';
import { give } from './notice';
import { inPrivateField } from './private-field';
import { isIncognito, readSettings } from './settings';
import { keptAddress, listed } from './sites';

/** Longer selections are refused: a whole book is no memory. */
const MOST_CHARS = 20_000;

interface Pending {
  id: string;
  text: string;
  title: string;
  url: string;
  at: number;
}

type Asked = Pick<chrome.contextMenus.OnClickData, 'selectionText' | 'pageUrl' | 'frameUrl' | 'frameId' | 'editable'>;

/** Checks what was asked for, writes it down for the case that this worker is stopped, and keeps it. */
export async function remember(asked: Asked, tab: chrome.tabs.Tab | undefined, memory: RemoteMemory): Promise<void> {
  const text = (asked.selectionText ?? '').trim();
  const url = keptAddress(asked.frameUrl ?? asked.pageUrl);
  const { never } = await readSettings();
  const site = [asked.pageUrl, asked.frameUrl, tab?.url].map((each) => listed(each ?? '', never)).find((each) => each !== undefined);
  if (site !== undefined) return give('noticeNever', site);
  if (!url) return give('noticeBadSite');
  if (text === '') return give('noticeEmpty');
  if (text.length > MOST_CHARS) return give('noticeLong', String(MOST_CHARS));
  if (await isPrivate(asked, tab)) return give('noticePrivate');
  const pending: Pending = { id: `web:${crypto.randomUUID()}`, text, title: (tab?.title ?? '').slice(0, 300), url: url.href, at: Date.now() };
  // Incognito writes nothing down: what is begun there when this worker stops is not kept.
  if (!isIncognito()) await chrome.storage.session.set({ [pending.id]: pending });
  await keep(pending, memory);
}

/** What an earlier life of this worker had begun. The id makes sure that nothing is kept twice. */
export async function finish(memory: RemoteMemory): Promise<void> {
  if (isIncognito()) return;
  const stored = await chrome.storage.session.get<Record<string, unknown>>(null);
  const begun = Object.entries(stored).filter(([name]) => name.startsWith('web:')).map(([, pending]) => pending as Pending);
  for (const pending of begun) await keep(pending, memory);
}

async function keep({ id, text, title, url, at }: Pending, memory: RemoteMemory): Promise<void> {
  const { host } = new URL(url);
  try {
    // Said by the page, not by its reader: nothing in it becomes a statement of the user's.
    await memory.addMemory({ id, userInput: '', agentResponse: text, agentName: host, timestamp: at, metadata: { origin: 'web', url, title } });
  } catch (error) {
    // It stays written down, and is tried again when the worker next starts.
    return give('noticeFailed', error instanceof Error ? error.message : String(error));
  }
  if (!isIncognito()) await chrome.storage.session.remove(id);
  await give('noticeKept', text);
}

/** A field that cannot be looked into counts as private. */
async function isPrivate({ frameId, editable }: Asked, tab: chrome.tabs.Tab | undefined): Promise<boolean> {
  if (tab?.id === undefined) return editable;
  try {
    const results = await chrome.scripting.executeScript({ target: { tabId: tab.id, frameIds: [frameId ?? 0] }, func: inPrivateField });
    return results.some(({ result }) => result !== false);
  } catch {
    return editable;
  }
}
