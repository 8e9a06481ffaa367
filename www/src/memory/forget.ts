import type { ForgetResult } from 'memstrata';
import { markForgotten } from './forgotten';
import { memory } from './open';
import { personaMoved } from './persona';
import { refreshSoon } from './view';

/** Removes pages or facts for good. The event tells of pages only; facts that go are marked here, so that no answer shows them still. */
export async function forget(ids: string[]): Promise<ForgetResult> {
  const result = await (await memory()).forget(ids);
  markForgotten(result.facts);
  personaMoved();
  refreshSoon();
  return result;
}
