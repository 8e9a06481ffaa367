/** Keeps the offscreen document in which a memory is served: to be called in the service worker. */
import type { ChromeOffscreen } from './chrome.js';
import { platformChrome } from './chrome.js';
import { DEFAULT_CHANNEL, isWake } from './messages.js';
import { identify } from './sites.js';

/** Which document serves the memory. */
export interface KeepHostOptions {
  /** The document that calls `serveMemory`, such as `"host.html"`. */
  url: string;
  channel?: string;
  /** What Chrome is told that the document is for. */
  justification?: string;
  /** Default `chrome`. */
  chrome?: ChromeOffscreen;
}

/**
 * Starts the document whenever a client asks for its host and there is none. An offscreen document outlives the service
 * worker, and has Workers, which a service worker lacks. `ready` is for the service worker itself, which cannot send messages to itself.
 */
export function keepHost({ url, channel = DEFAULT_CHANNEL, justification = 'Runs the memory in a Worker', chrome = platformChrome<ChromeOffscreen>('offscreen') }: KeepHostOptions): { ready(): Promise<void> } {
  const { runtime, offscreen } = chrome;
  const isThere = async (): Promise<boolean> => (await runtime.getContexts({ contextTypes: ['OFFSCREEN_DOCUMENT'], documentUrls: [runtime.getURL(url)] })).length > 0;
  const start = async (): Promise<void> => {
    if (await isThere()) return;
    try {
      await offscreen.createDocument({ url, reasons: ['WORKERS'], justification });
    } catch (error) {
      // Chrome allows one; another start of this worker may have made it in between.
      if (!(await isThere())) throw error;
    }
  };
  let starting: Promise<void> | undefined;
  const ready = (): Promise<void> => (starting ??= start().finally(() => (starting = undefined)));
  runtime.onMessage.addListener((message, sender, reply) => {
    if (!isWake(message, channel) || identify(sender, runtime) === undefined) return undefined;
    ready().then(() => reply(true), (error: unknown) => reply({ error: String(error) }));
    return true;
  });
  return { ready };
}
