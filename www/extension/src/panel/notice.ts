/** What came of the last "Remember this", as the service worker tells it. */
import { signal } from '@preact/signals';
import type { Notice } from '../notice';

export const notice = signal<Notice | undefined>(undefined);

/** What was told longer ago is no news. */
const NEWS_MS = 60_000;

const show = (told: unknown): void => {
  const { at } = (told ?? {}) as Partial<Notice>;
  if (at !== undefined && Date.now() - at < NEWS_MS) notice.value = told as Notice;
};

void chrome.storage.session.get<{ notice?: unknown }>('notice').then((stored) => show(stored.notice));
chrome.storage.session.onChanged.addListener((changes) => show(changes.notice?.newValue));
void chrome.action.setBadgeText({ text: '' });
