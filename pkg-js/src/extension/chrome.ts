/** The few calls of `chrome.*` that are used, by their shape: nothing of Chrome's types is needed to build with this package. */
import { MemoryOSError } from '../errors.js';

export interface ChromeEvent<F> {
  addListener(listener: F): void;
  removeListener(listener: F): void;
}

/** Who speaks at the other end. */
export interface Sender {
  id?: string | undefined;
  url?: string | undefined;
  origin?: string | undefined;
}

/** A Port of `chrome.runtime`, as far as it is used. */
export interface Port {
  readonly name: string;
  readonly sender?: Sender | undefined;
  readonly onMessage: ChromeEvent<(message: unknown) => void>;
  readonly onDisconnect: ChromeEvent<() => void>;
  postMessage(message: unknown): void;
  disconnect(): void;
}

/** Of `chrome.runtime`, what both ends use. */
export interface Runtime {
  /** Absent once the extension was reloaded under a content script. */
  readonly id?: string | undefined;
  readonly lastError?: { message?: string | undefined } | undefined;
  readonly onConnect: ChromeEvent<(port: Port) => void>;
  readonly onMessage: ChromeEvent<(message: unknown, sender: Sender, reply: (answer?: unknown) => void) => boolean | undefined>;
  connect(info: { name: string }): Port;
  sendMessage(message: unknown): Promise<unknown>;
  getURL(path: string): string;
}

/** Of `chrome`, what a service worker needs to keep an offscreen document. */
export interface ChromeOffscreen {
  readonly runtime: Runtime & { getContexts(filter: { contextTypes: 'OFFSCREEN_DOCUMENT'[]; documentUrls: string[] }): Promise<unknown[]> };
  readonly offscreen: { createDocument(parameters: { url: string; reasons: 'WORKERS'[]; justification: string }): Promise<void> };
}

/** `chrome` of this realm, with the part that is asked for. */
export function platformChrome<T>(part: 'runtime' | 'offscreen'): T {
  const { chrome } = globalThis as { chrome?: { [name: string]: unknown } };
  if (chrome?.[part] === undefined) {
    throw new MemoryOSError('FORBIDDEN', `there is no chrome.${part} here: ${part === 'runtime' ? 'call it in a page, a service worker or a content script of an extension' : 'call it in the service worker, and name "offscreen" among the permissions'}`);
  }
  return chrome as T;
}
