/** What came of "Remember this": a badge on the button, and a sentence in the panel. */
import type { Message } from './names';
import { isIncognito } from './settings';
import { t, type WordKey } from './words';

export interface Notice {
  word: WordKey;
  about: string;
  at: number;
}

/** In incognito only where it is seen: `storage.session` is shared with the windows outside. */
export async function give(word: WordKey, about = ''): Promise<void> {
  const notice: Notice = { word, about: about.slice(0, 120), at: Date.now() };
  const kept = word === 'noticeKept';
  await Promise.all([
    isIncognito() ? undefined : chrome.storage.session.set({ notice }),
    chrome.runtime.sendMessage({ type: 'notice', notice } satisfies Message).catch(() => undefined),
    chrome.action.setBadgeText({ text: kept ? '✓' : '!' }),
    chrome.action.setBadgeBackgroundColor({ color: kept ? '#0a655d' : '#a3271d' }),
    chrome.action.setTitle({ title: isIncognito() ? t(word, '') : t(word, notice.about) }),
  ]);
}
