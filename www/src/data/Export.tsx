import { signal } from '@preact/signals';
import { showBytes, showTime, t } from '../i18n/language';
import { memory } from '../memory/open';
import { troubleOf, type Trouble } from '../memory/trouble';
import { preference } from '../shell/preference';
import { TroubleNote } from '../shell/TroubleNote';

const state = signal<{ step: 'idle' } | { step: 'running' } | { step: 'done'; bytes: number } | { step: 'failed'; trouble: Trouble }>({ step: 'idle' });
const lastExport = preference<string>('last-export', '');

/** Long enough for the slowest browser to have begun the download. */
const REVOKE_AFTER_MS = 60_000;

async function run(): Promise<void> {
  state.value = { step: 'running' };
  try {
    const blob = await (await memory()).exportTo();
    const address = URL.createObjectURL(blob);
    const link = document.createElement('a');
    link.href = address;
    link.download = `memstrata-${new Date().toISOString().slice(0, 10)}.memstrata`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), REVOKE_AFTER_MS);
    lastExport.value = String(Date.now());
    state.value = { step: 'done', bytes: blob.size };
  } catch (error) {
    state.value = { step: 'failed', trouble: troubleOf(error) };
  }
}

export function Export() {
  const words = t.value;
  const now = state.value;
  return (
    <section>
      <h3>{words.exportTitle}</h3>
      <p class="quiet">{words.exportBody}</p>
      <div class="row">
        <button type="button" data-testid="export" disabled={now.step === 'running'} onClick={() => void run()}>
          {now.step === 'running' ? words.exporting : words.export}
        </button>
        <span class="quiet">
          {words.lastBackup}: {lastExport.value === '' ? words.never : showTime(Number(lastExport.value))}
        </span>
      </div>
      <p role="status">{now.step === 'done' && words.exported(showBytes(now.bytes))}</p>
      {now.step === 'failed' && <TroubleNote trouble={now.trouble} />}
    </section>
  );
}
