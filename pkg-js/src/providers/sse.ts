/** Server-sent events of a fetch response, as a sequence of their data. */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';

export interface ServerEvent {
  /** The event's type; absent for the default one. */
  event?: string | undefined;
  data: string;
}

/**
 * Reads events until the stream ends. `nextChunk` reads the body, so that the caller can time each wait.
 * Characters may be cut anywhere, lines may end in CRLF, and the last event needs no blank line after it.
 */
export async function* serverEvents(nextChunk: () => Promise<Uint8Array | undefined>): AsyncGenerator<ServerEvent> {
  let ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event) });
  const decoder = new TextDecoder();
  for (let ended = false; !ended; ) {
    const chunk = await nextChunk();
    ended = chunk === undefined;
    // Servers that close right after the last line mean it all the same.
    parser.feed(chunk ? decoder.decode(chunk, { stream: true }) : `${decoder.decode()}\n\n`);
    const events = ready;
    ready = [];
    for (const { event, data } of events) yield { event, data };
  }
}
