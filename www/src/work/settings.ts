import { computed } from '@preact/signals';
import type { Settings, UpdatePolicy } from 'memstrata';
import { preference } from '../shell/preference';

export const policies = ['auto', 'batched', 'paper', 'offline'] as const satisfies readonly UpdatePolicy[];

/** Kept on this device, since the engine's own settings last until the memory is closed. */
export const policy = preference<UpdatePolicy>('update-policy', 'auto', policies);
export const dailyCalls = preference<string>('daily-calls', '0');
export const dailyTokens = preference<string>('daily-tokens', '0');

/** Whether background work was paused here: an opened memory starts it by itself. */
export const pausedHere = preference<'yes' | 'no'>('paused', 'no', ['yes', 'no']);

/** What a memory opens with. */
export const settings = computed<Required<Settings>>(() => ({
  updatePolicy: policy.value,
  dailyCalls: readLimit(dailyCalls.value) ?? 0,
  dailyTokens: readLimit(dailyTokens.value) ?? 0,
}));

/** A limit as typed; `null` if it is none. Empty means no limit. */
export function readLimit(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '') return 0;
  const limit = /^\d+$/.test(trimmed) ? Number(trimmed) : NaN;
  return Number.isSafeInteger(limit) ? limit : null;
}
