import type { Settings } from 'memstrata';
import { memory } from '../memory/open';
import { refreshSoon } from '../memory/view';
import { dailyCalls, dailyTokens, policy } from './settings';

/** Changes settings of the open memory, and keeps what it accepted for the next visit. */
export async function configure(change: Settings): Promise<void> {
  await (await memory()).configure(change);
  if (change.updatePolicy !== undefined) policy.value = change.updatePolicy;
  if (change.dailyCalls !== undefined) dailyCalls.value = String(change.dailyCalls);
  if (change.dailyTokens !== undefined) dailyTokens.value = String(change.dailyTokens);
  refreshSoon();
}
