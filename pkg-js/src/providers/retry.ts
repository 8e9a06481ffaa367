/** When to try again, and how long to wait before. */

const RETRIED = new Set([408, 409, 429]);
const FIRST_DELAY_MS = 500;

export function isRetried(status: number, complaint: string, retryAfterMs?: number): boolean {
  // An empty account stays empty. Google speaks of billing at every limit of a minute, too, but then says how long to wait.
  const isEmpty = retryAfterMs === undefined ? /insufficient_quota|billing|credit balance/i : /insufficient_quota/i;
  if (status === 429 && isEmpty.test(complaint)) return false;
  return RETRIED.has(status) || status >= 500;
}

/** What the server asks for: seconds, or a date. undefined when it says nothing that can be read. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (exact >= 0) return exact;
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Doubling, with the upper half of each delay left to chance, so that tabs that failed together do not return together. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = FIRST_DELAY_MS * 2 ** attempt;
  return full / 2 + (full / 2) * random();
}
