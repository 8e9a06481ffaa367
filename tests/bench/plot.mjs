/**
 * Draws the plot of the README from the committed records.
 *   node tests/bench/plot.mjs      reads record/{retrieval,vector}.json, writes record/plot.svg
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const RECORD = new URL('record/', import.meta.url);
const OWN = /^memstrata/;
const [WIDTH, LABEL, BAR, ROW, HEAD] = [760, 250, 330, 22, 34]; // pixels

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const ms = (value) => `${value < 1 ? value.toFixed(2) : value.toFixed(1)} ms`;

/** Rows `{name, share, note}`: the share of the bar's length, and what stands behind it. */
function panel(title, rows, top) {
  const bars = rows.map(({ name, share, note }, n) => {
    const y = top + HEAD + n * ROW;
    const kind = OWN.test(name) ? 'own' : 'peer';
    const length = Math.max(1, share * BAR).toFixed(1);
    return [
      `<text x="${LABEL - 8}" y="${y + 14}" text-anchor="end">${escaped(name)}</text>`,
      `<rect class="${kind}" x="${LABEL}" y="${y + 3}" width="${length}" height="${ROW - 7}" rx="2"/>`,
      `<text x="${(LABEL + Number(length) + 6).toFixed(1)}" y="${y + 14}">${escaped(note)}</text>`,
    ].join('\n');
  });
  return { svg: [`<text class="title" x="8" y="${top + 20}">${escaped(title)}</text>`, ...bars].join('\n'), end: top + HEAD + rows.length * ROW + 12 };
}

const byRecall = (rows) =>
  Object.entries(rows)
    .map(([name, row]) => ({ name, share: row['R@10'], note: `${row['R@10'].toFixed(3)}, ${ms(row.cpu_ms)}` }))
    .sort((a, b) => b.share - a.share);

/** Times differ by two orders of magnitude: the axis is logarithmic, from a hundredth of the slowest. */
function byTime(rows) {
  const timed = Object.entries(rows).filter(([, row]) => row?.cpu_ms);
  const most = Math.max(...timed.map(([, row]) => row.cpu_ms));
  const share = (value) => Math.max(0.01, 1 + Math.log10(value / most) / 3);
  return timed
    .map(([name, row]) => ({ name, share: share(row.cpu_ms), note: `${ms(row.cpu_ms)}, recall ${row.recall.toFixed(3)}`, time: row.cpu_ms }))
    .sort((a, b) => a.time - b.time);
}

export function plot({ retrieval }, { vector }) {
  const panels = [];
  let top = 0;
  const add = (title, rows) => {
    const { svg, end } = panel(title, rows, top);
    panels.push(svg);
    top = end;
  };
  const of = `${retrieval.turns.toLocaleString('en')} turns, ${retrieval.questions} questions`;
  add(`Words alone: share of the evidence among the best 10 turns (${of})`, byRecall(retrieval.keyword));
  add(`Words and vectors: the same`, byRecall(retrieval.whole));
  add('10 nearest of 10,000 vectors of 384 numbers: CPU time a question, logarithmic', byTime(vector['10000']));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img" aria-label="Search measured beside other packages">
<style>text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:13px}.own{fill:#0a7f5a}.peer{fill:#9aa4af}@media(prefers-color-scheme:dark){text{fill:#d0d7de}.own{fill:#3fb98a}.peer{fill:#57606a}}</style>
${panels.join('\n')}
</svg>
`;
}

export const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, RECORD), 'utf8'));

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(new URL('plot.svg', RECORD), plot(read('retrieval'), read('vector')));
}
