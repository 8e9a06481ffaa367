/** ISO 8601 in the zone where it was said, to the millisecond; `null` if unknown or out of range. */
export function momentOf(epochMs: number | null, offsetMinutes = 0): string | null {
  const local = new Date(epochMs === null ? Number.NaN : epochMs + offsetMinutes * 60_000);
  if (Number.isNaN(local.getTime())) return null;
  const text = local.toISOString().replace('.000Z', 'Z');
  if (offsetMinutes === 0) return text;
  const two = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  const minutes = Math.abs(offsetMinutes);
  return `${text.slice(0, -1)}${offsetMinutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}
