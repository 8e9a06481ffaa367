import type { Dictionary } from '../i18n/en';

/** The package's codes, and one for everything that carries none. */
export const codes = [
  'INVALID_ARGUMENT', 'NOT_OPEN', 'CLOSED', 'LOCKED', 'STORAGE_UNAVAILABLE', 'STORAGE_QUOTA', 'STORAGE_CORRUPT', 'VERSION_TOO_NEW',
  'PROVIDER_FAILED', 'PROVIDER_TIMEOUT', 'PROVIDER_BAD_REPLY', 'DIMENSION_MISMATCH', 'WRONG_KEY', 'NOT_FOUND', 'FORBIDDEN', 'ABORTED', 'INTERNAL',
] as const satisfies readonly (keyof Dictionary['troubles'])[];

export type Code = (typeof codes)[number];

/** An error as the page shows it: the code chooses cause and remedy, the message is the detail. */
export interface Trouble {
  code: Code;
  detail: string;
}

export function troubleOf(error: unknown): Trouble {
  const fields = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown; name?: unknown; message?: unknown };
  const detail = typeof fields.message === 'string' ? fields.message : String(error);
  // An AbortError of the platform has a number for a code.
  if (fields.name === 'AbortError') return { code: 'ABORTED', detail };
  return { code: codes.find((code) => code === fields.code) ?? 'INTERNAL', detail };
}
