/** The whole turn with what went into the context marked in it. Text nodes only: nothing of memory becomes markup. */
export function Evidence({ text, quotes }: { text: string; quotes: string[] }) {
  return (
    <p class="evidence" dir="auto">
      {marked(text, quotes).map((piece, index) => (piece.quoted ? <mark key={index}>{piece.text}</mark> : piece.text))}
    </p>
  );
}

/** Cuts `text` into quoted and other pieces, in order; a quote that is not in it word for word is left unmarked. */
export function marked(text: string, quotes: string[]): { text: string; quoted: boolean }[] {
  const spans = quotes
    .filter((quote) => quote !== '')
    .map((quote) => ({ start: text.indexOf(quote), end: text.indexOf(quote) + quote.length }))
    .filter((span) => span.start >= 0)
    .sort((a, b) => a.start - b.start);
  const pieces: { text: string; quoted: boolean }[] = [];
  let at = 0;
  for (const span of spans) {
    const start = Math.max(span.start, at);
    if (span.end <= start) continue;
    if (start > at) pieces.push({ text: text.slice(at, start), quoted: false });
    pieces.push({ text: text.slice(start, span.end), quoted: true });
    at = span.end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), quoted: false });
  return pieces;
}
