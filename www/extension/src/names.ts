/** What the parts of the extension call each other by. */
import type { Notice } from './notice';

export const CHANNEL = 'memory';
export const HOST_PAGE = 'host.html';

/** Messages between the parts, beside the Ports. */
export type Message = { type: 'how-to-open' } | { type: 'settings-changed' } | { type: 'notice'; notice: Notice };

export interface HowToOpen {
  baseURL: string;
  model: string;
  key: string;
  /** Incognito: kept in RAM alone. */
  ephemeral: boolean;
}

/** From a part of this extension, and of the kind that is asked for. */
export function isMessage(type: Message['type'], message: unknown, sender: chrome.runtime.MessageSender): boolean {
  return sender.id === chrome.runtime.id && sender.url?.startsWith(chrome.runtime.getURL('')) !== false && typeof message === 'object' && message !== null && (message as Message).type === type;
}
