/**
 * The pieces of an answer of Chrome's model. Early versions gave all of the text so far in each chunk, later ones what is new, and no
 * field says which: it is seen from the chunks.
 */

/** A chunk that begins with the one before it is chance where that is short. */
const CERTAIN_CHARS = 16;

/** A session with the field's new name is of a version that no longer repeats itself. */
export async function* pieces(session: { readonly contextWindow?: number | undefined }, stream: ReadableStream<string>): AsyncGenerator<string> {
  let repeats = session.contextWindow === undefined ? undefined : false;
  let first = '';
  let last = '';
  /** Begin each with the one before, and mean one thing or the other. The first chunk means the same both ways. */
  const held: string[] = [];
  for await (const chunk of chunksOf(stream)) {
    if (chunk === '' || (repeats && chunk === last)) continue;
    const grows = chunk.length > last.length && chunk.startsWith(last);
    if (repeats !== undefined || first === '') {
      yield repeats ? chunk.slice(last.length) : chunk;
      first ||= chunk;
    } else if (!grows) {
      repeats = false;
      yield [...held, chunk].join('');
    } else if (last.length >= CERTAIN_CHARS) {
      repeats = true;
      yield chunk.slice(first.length);
    } else {
      held.push(chunk);
    }
    last = chunk;
  }
  if (repeats === undefined && held.length > 0) yield last.slice(first.length);
}

async function* chunksOf(stream: ReadableStream<string>): AsyncGenerator<string> {
  // Safari and older versions of Chrome cannot iterate over a stream.
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
