/** From single measurements to the figures that are reported. */

export const round = (value, digits = 2) => Number(value.toFixed(digits));

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

/** Mean bytes of an add: of those that neither sealed the log nor ran beside a consolidation, and of all. */
export function bytesAt(adds) {
  const own = adds.filter((a) => !a.sealed && !a.sank);
  if (!own.length) throw new Error('no add of the window was free of sealing and consolidation');
  return { add: Math.round(mean(own.map((a) => a.bytes))), amortised: Math.round(mean(adds.map((a) => a.bytes))) };
}
