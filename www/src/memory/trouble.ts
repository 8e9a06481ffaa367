import type { ErrorCode } from 'memstrata';
import { en } from '../i18n/en';

/** Every code of the package; the dictionary is checked to hold all of them. */
const codes = Object.keys(en.troubles) as ErrorCode[];

/** An error as the page shows it: the code chooses cause and remedy, the message is the detail. */
export interface Trouble {
  code: ErrorCode;
  detail: string;
}

export function troubleOf(error: unknown): Trouble {
  const fields = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown; name?: unknown; message?: unknown };
  const detail = typeof fields.message === 'string' ? fields.message : String(error);
  // An AbortError of the platform has a number for a code.
  if (fields.name === 'AbortError') return { code: 'ABORTED', detail };
  return { code: codes.find((code) => code === fields.code) ?? 'INTERNAL', detail };
}
