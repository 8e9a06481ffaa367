import { useState } from 'preact/hooks';
import type { MemoryOS } from 'memstrata';
import { showTime, t } from '../i18n/language';
import { memory } from '../memory/open';
import { troubleOf, type Trouble } from '../memory/trouble';
import { jobs, refreshSoon } from '../memory/view';
import { TroubleNote } from '../shell/TroubleNote';
import { Background } from './Background';

/** What the engine still has to do, and what it could not do. */
export function Queue() {
  const [running, setRunning] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const words = t.value;

  const run = async (work: (engine: MemoryOS) => Promise<void>): Promise<void> => {
    setRunning(true);
    setTrouble(null);
    try {
      await work(await memory());
    } catch (error) {
      setTrouble(troubleOf(error));
    } finally {
      setRunning(false);
      refreshSoon();
    }
  };

  return (
    <section>
      <h3>{words.queueTitle}</h3>
      {jobs.value.length === 0 ? <p class="quiet" data-testid="queue-empty">{words.queueEmpty}</p> : (
        <ul class="jobs">
          {jobs.value.map((job) => (
            <li key={job.id} data-testid="job" data-kind={job.kind} data-state={job.state}>
              <p>
                <b>{words.jobKinds[job.kind]}</b> <span class="quiet">{words.jobNotes[job.kind]}</span> {job.pages.length > 0 && words.pageCount(job.pages.length)} <span class={`badge ${job.state}`}>{words.jobStates[job.state]}</span>
              </p>
              <p class="quiet">
                {words.attempts(job.attempts)}
                {job.waitsFor && <span data-testid="waits-for" data-waits-for={job.waitsFor}> · {words.waitsFor[job.waitsFor]}</span>}
                {job.notBefore > Date.now() && ` · ${words.jobNext(showTime(job.notBefore))}`}
              </p>
              {job.error && (
                <TroubleNote trouble={troubleOf(job.error)}>
                  {job.state === 'failed' && (
                    <button type="button" data-testid="retry-job" onClick={() => void run((engine) => engine.retryJob(job.id))}>
                      {words.tryAgain}
                    </button>
                  )}
                </TroubleNote>
              )}
            </li>
          ))}
        </ul>
      )}
      <button type="button" data-testid="run-all" disabled={running} onClick={() => void run((engine) => engine.flush())}>
        {running ? words.runningAll : words.runAll}
      </button>
      <Background />
      {trouble && <TroubleNote trouble={trouble} />}
    </section>
  );
}
