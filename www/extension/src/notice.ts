/** What came of "Remember this": a badge on the button, and a sentence in the panel. */
import { t, type WordKey } from './words';

export interface Notice {
  word: WordKey;
  about: string;
  at: number;
}

export async function give(word: WordKey, about = ''): Promise<void> {
  const notice: Notice = { word, about: about.slice(0, 120), at: Date.now() };
  const kept = word === 'noticeKept';
  await Promise.all([
    chrome.storage.session.set({ notice }),
    chrome.action.setBadgeText({ text: kept ? '✓' : '!' }),
    chrome.action.setBadgeBackgroundColor({ color: kept ? '#0a655d' : '#a3271d' }),
    chrome.action.setTitle({ title: t(word, notice.about) }),
  ]);
}
