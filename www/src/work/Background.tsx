import { signal } from '@preact/signals';
import type { AnalysisResult, MemoryOS } from 'memstrata';
import { showCount, showTime, t } from '../i18n/language';
import { memory } from '../memory/open';
import { personaMoved } from '../memory/persona';
import { troubleOf, type Trouble } from '../memory/trouble';
import { ledger, refreshSoon } from '../memory/view';
import { TroubleNote } from '../shell/TroubleNote';
import { pausedHere } from './settings';

const running = signal<'analyse' | 'pause' | null>(null);
const result = signal<AnalysisResult | null>(null);
const trouble = signal<Trouble | null>(null);

async function run(what: 'analyse' | 'pause', work: (engine: MemoryOS) => Promise<AnalysisResult | void>): Promise<void> {
  if (running.value) return;
  running.value = what;
  trouble.value = null;
  result.value = null;
  try {
    result.value = (await work(await memory())) ?? null;
  } catch (error) {
    trouble.value = troubleOf(error);
  } finally {
    running.value = null;
    if (what === 'analyse') personaMoved();
    refreshSoon();
  }
}

/** A wish to pause outlives the page; the engine's pause ends with it. */
async function setPaused(engine: MemoryOS, paused: boolean): Promise<void> {
  await (paused ? engine.pause() : engine.resume());
  pausedHere.value = paused ? 'yes' : 'no';
}

/** Pause, resume, and analysis at once. */
export function Background() {
  const words = t.value;
  const now = ledger.value;
  const paused = now?.paused ?? false;
  return (
    <>
      <div class="row">
        <button type="button" data-testid="analyse" aria-disabled={running.value !== null} onClick={() => void run('analyse', (engine) => engine.analyse())}>
          {running.value === 'analyse' ? words.analysing : words.analyse}
        </button>
        <button type="button" data-testid={paused ? 'resume' : 'pause'} aria-disabled={running.value !== null} onClick={() => void run('pause', (engine) => setPaused(engine, !paused))}>
          {paused ? words.resume : words.pause}
        </button>
      </div>
      <p role="status" data-testid="background-status">
        {result.value && words.analysed(showCount(result.value.pages), showCount(result.value.changes))} {paused && words.paused}{' '}
        {now?.resumesAt != null && words.resumesAt(showTime(now.resumesAt))}
      </p>
      {trouble.value && <TroubleNote trouble={trouble.value} />}
    </>
  );
}
