/** Timestamps as callers write them: a number, a Date or ISO 8601 text. */
import { invalid } from '../errors.js';
import { show } from '../text.js';

export interface Stamp {
  /** Milliseconds since the epoch; null = unknown. */
  epochMs: number | null;
  /** Minutes east of UTC at the place where it was said. */
  offsetMinutes: number;
}

const unknown: Stamp = { epochMs: null, offsetMinutes: 0 };

/** Furthest instant a `Date` can hold. */
const MAX_MS = 8.64e15;
/** The core's bound: no zone lies further from UTC. */
const MAX_OFFSET_MINUTES = 1_080;

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

/**
 * Reads a timestamp. `undefined` is now; what cannot be read is unknown, because a turn with a broken date is still a
 * turn. An offset in the text is kept: 22:30-04:00 belongs to that place's day, not to the reader's.
 */
export function readTimestamp(value: unknown, now: number): Stamp {
  if (value === undefined) return local(now);
  if (typeof value === 'number') return local(value);
  if (value instanceof Date) return local(value.getTime());
  if (typeof value === 'string') return parseIso(value.trim());
  return unknown;
}

/** Where a broken date would silently change the answer, as in a filter, it is refused. */
export function readMoment(value: unknown, name: string): Stamp & { epochMs: number } {
  const { epochMs, offsetMinutes } = value === undefined ? unknown : readTimestamp(value, 0);
  if (epochMs === null) throw invalid(`${name} must be milliseconds, a Date or ISO 8601 text, got ${show(value)}`);
  return { epochMs, offsetMinutes };
}

export function readInstant(value: unknown, name: string): number {
  return readMoment(value, name).epochMs;
}

function local(ms: number): Stamp {
  if (!Number.isFinite(ms) || Math.abs(ms) > MAX_MS) return unknown;
  const epochMs = Math.trunc(ms);
  return { epochMs, offsetMinutes: localOffset(epochMs) };
}

function localOffset(epochMs: number): number {
  // Zones of before standard time have odd seconds, and getTimezoneOffset may answer with fractions.
  return Math.round(-new Date(epochMs).getTimezoneOffset()) || 0;
}

function parseIso(text: string): Stamp {
  const match = ISO.exec(text);
  if (!match) return unknown;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const civil = new Date(0);
  civil.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  civil.setUTCHours(Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0), Number((fraction ?? '0').padEnd(3, '0').slice(0, 3)));
  // 30 February and 25:00 roll over instead of failing: the parts no longer agree.
  const agrees = civil.getUTCMonth() === Number(month) - 1 && civil.getUTCDate() === Number(day)
    && civil.getUTCHours() === Number(hour ?? 0) && civil.getUTCMinutes() === Number(minute ?? 0) && civil.getUTCSeconds() === Number(second ?? 0);
  if (!agrees) return unknown;
  const wall = civil.getTime();
  // As in ECMAScript: a date alone is UTC, a date with a time and no zone is local.
  if (zone === undefined && hour !== undefined) {
    const guess = wall - localOffset(wall) * 60_000;
    const offsetMinutes = localOffset(guess);
    return { epochMs: wall - offsetMinutes * 60_000, offsetMinutes };
  }
  const offsetMinutes = zone === undefined || /^z$/i.test(zone) ? 0 : readOffset(zone);
  if (Math.abs(offsetMinutes) > MAX_OFFSET_MINUTES) return unknown;
  return { epochMs: wall - offsetMinutes * 60_000, offsetMinutes };
}

function readOffset(zone: string): number {
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return zone.startsWith('-') ? -minutes : minutes;
}
