/** Means, recall and ranks, as EVAL.md of the project defines them. */

export const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : NaN);

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Three decimals carry the measure; more would be noise in a diff. */
export const round = (value, digits = 4) => (Number.isFinite(value) ? Number(value.toFixed(digits)) : null);

/** Distinct keys of hits, best score first. */
export function ranking(hits, keyOf) {
  const best = new Map();
  for (const hit of hits) {
    const key = keyOf(hit);
    if (!best.has(key) || best.get(key) < hit.score) best.set(key, hit.score);
  }
  return [...best].sort((a, b) => b[1] - a[1]).map(([key]) => key);
}

/** Share of the evidence among the first k of a ranking. */
export const recallAt = (ranked, evidence, k) => mean(evidence.map((e) => Number(ranked.slice(0, k).includes(e))));

/** 1 / rank of the first evidence; 0 when there is none. */
export function reciprocalRank(ranked, evidence) {
  const at = ranked.findIndex((key) => evidence.includes(key));
  return at < 0 ? 0 : 1 / (at + 1);
}

/** R@k for each k and MRR over (ranking, evidence) pairs; `letter` names the unit: R for pages and turns, S for sessions. */
export function rankFigures(rows, ks, letter = 'R') {
  const figures = Object.fromEntries(ks.map((k) => [`${letter}@${k}`, round(mean(rows.map((r) => recallAt(r.ranked, r.evidence, k))))]));
  return { ...figures, MRR: round(mean(rows.map((r) => reciprocalRank(r.ranked, r.evidence)))), questions: rows.length };
}
