/** Quotes of one turn as one text: an ellipsis only where something between them was left out. */
export function joinQuotes(text: string, quotes: string[]): string {
  let joined = '';
  let at = 0;
  for (const quote of quotes) {
    const found = text.indexOf(quote, at);
    const between = found < 0 ? null : text.slice(at, found);
    if (joined !== '') joined += between !== null && between.trim() === '' ? between : ' … ';
    joined += quote;
    if (found >= 0) at = found + quote.length;
  }
  return joined;
}
