/** What came of the last "Remember this", as the service worker tells it. */
import { signal } from '@preact/signals';
import { isMessage } from '../names';
import type { Notice } from '../notice';
import { isIncognito } from '../settings';

export const notice = signal<Notice | undefined>(undefined);

/** What was told longer ago is no news. */
const NEWS_MS = 60_000;

const show = (told: unknown): void => {
  const { at } = (told ?? {}) as Partial<Notice>;
  if (at !== undefined && Date.now() - at < NEWS_MS) notice.value = told as Notice;
};

if (!isIncognito()) void chrome.storage.session.get<{ notice?: unknown }>('notice').then((stored) => show(stored.notice));
chrome.runtime.onMessage.addListener((message: unknown, sender) => {
  if (isMessage('notice', message, sender)) show((message as { notice: unknown }).notice);
  return undefined;
});
void chrome.action.setBadgeText({ text: '' });
