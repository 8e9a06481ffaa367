/** What a terminal shows: colours where they are wanted, one line of progress, dates and quotes in a column. */

/** Colours unless the stream is no terminal or NO_COLOR is set (no-color.org: any value but the empty one). */
export function painter(stream, env) {
  const on = Boolean(stream.isTTY) && !env.NO_COLOR && env.TERM !== 'dumb';
  const code = (n) => (text) => (on ? `\u001b[${n}m${text}\u001b[0m` : text);
  const [slate, amber, red] = [code('90'), code('33'), code('31')];
  return {
    bold: code('1'), dim: code('2'), accent: code('36'),
    heat: (text, share) => (share >= 1 ? red : share >= 0.5 ? amber : slate)(text),
  };
}

/** Rewrites one line on a terminal; elsewhere prints each quarter. */
export function progressLine(stream, label) {
  let quarter = 0;
  return {
    show({ done, total }) {
      if (stream.isTTY) {
        const full = Math.round((24 * done) / total);
        stream.write(`\r${label} [${'#'.repeat(full)}${'.'.repeat(24 - full)}] ${done} of ${total} pages`);
      } else if (Math.floor((4 * done) / total) > quarter) {
        quarter = Math.floor((4 * done) / total);
        stream.write(`${label} ${done} of ${total} pages\n`);
      }
    },
    end() {
      if (stream.isTTY) stream.write('\n');
    },
  };
}

/** Local day and minute of the speaker, whatever the zone of this machine. */
export function when({ time, offsetMinutes }) {
  if (time === null) return 'date unknown    ';
  return new Date(time + offsetMinutes * 60_000).toISOString().slice(0, 16).replace('T', ' ');
}

/** What went into the context, else the beginning of the turn. */
export function quoteOf({ quotes, text }, most = 120) {
  const whole = [...(quotes.join(' … ') || text).replace(/\s+/g, ' ')];
  return whole.length > most ? `"${whole.slice(0, most - 1).join('')}…"` : `"${whole.join('')}"`;
}
