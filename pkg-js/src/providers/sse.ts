/** Server-sent events of a fetch response, by the HTML standard's rules for them (9.2.6). */

export interface ServerEvent {
  /** The event's type; absent for the default one. */
  event?: string;
  data: string;
}

/**
 * Reads events until the stream ends. `nextChunk` reads the body, so that the caller can time each wait.
 * Deviation: the last event counts although no blank line follows it, because servers that close right after their
 * last line mean it all the same.
 */
export async function* serverEvents(nextChunk: () => Promise<Uint8Array | undefined>): AsyncGenerator<ServerEvent> {
  // Joins characters that are cut between chunks, and drops a byte order mark.
  const decoder = new TextDecoder();
  let event: string | undefined;
  let data: string[] = [];
  let rest = '';
  for (let ended = false; !ended; ) {
    const chunk = await nextChunk();
    ended = chunk === undefined;
    const lines = (rest + (chunk ? decoder.decode(chunk, { stream: true }) : `${decoder.decode()}\n\n`)).split(LINE_END);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') {
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        // A line that begins with a colon is a comment: its field is empty.
        if (field === 'data') data.push(value);
        else if (field === 'event') event = value;
        continue;
      }
      if (data.length > 0) yield { ...(event ? { event } : {}), data: data.join('\n') };
      event = undefined;
      data = [];
    }
  }
}

/** A CR at the end of what has come may be half of a CRLF: it is left for the next chunk. */
const LINE_END = /\r\n|\n|\r(?!$)/;
