import { showBytes, showCount, t } from '../i18n/language';
import { TroubleNote } from '../shell/TroubleNote';
import { cancelImport, importing, lookInto, startImport } from './importing';
import { Preview } from './Preview';

/** Choose a file, see what is in it, then write it. */
export function Import() {
  const words = t.value;
  const state = importing.value;
  const canStart = state.step === 'preview' || state.step === 'preview-export';
  return (
    <section>
      <h3>{words.importTitle}</h3>
      <p class="quiet">{words.importBody}</p>
      <label class="file">
        {words.chooseFile}
        <input
          type="file"
          data-testid="import-file"
          disabled={state.step === 'running'}
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            // Emptied, so that the same file can be chosen again after it was corrected.
            if (file) void lookInto(file).then(() => (event.target as HTMLInputElement).value = '');
          }}
        />
      </label>
      {state.step === 'unreadable' && <p class="trouble" role="alert" data-testid="import-unreadable">{words.unreadable[state.reason]}</p>}
      {state.step === 'preview' && <Preview list={state.list} chosen={state.chosen} />}
      {state.step === 'preview-export' && <p>{words.exportRecognised(showBytes(state.bytes.byteLength))}</p>}
      {canStart && (
        <button type="button" class="primary" data-testid="import-start" onClick={() => void startImport()}>
          {words.importStart}
        </button>
      )}
      {state.step === 'running' && (
        <div class="row">
          <progress data-testid="import-progress" aria-label={words.importTitle} {...(state.total > 0 ? { value: state.done, max: state.total } : {})} />
          <span>{state.total > 0 ? words.importing(showCount(state.done), showCount(state.total)) : words.importingExport}</span>
          {state.total > 0 && (
            <button type="button" data-testid="import-cancel" onClick={cancelImport}>
              {words.cancel}
            </button>
          )}
        </div>
      )}
      <div role="status" data-testid="import-result" data-step={state.step}>
        {state.step === 'done' && <p>{words.importDone(showCount(state.added), showCount(state.duplicates))}</p>}
        {state.step === 'cancelled' && <p>{words.importCancelled(showCount(state.done))}</p>}
      </div>
      {state.step === 'done' && state.skipped.length > 0 && (
        <>
          <p>{words.importSkipped(showCount(state.skipped.length))}</p>
          <ul>
            {state.skipped.slice(0, 10).map((entry) => (
              <li key={entry.index}>{showCount(entry.index + 1)}: {entry.reason}</li>
            ))}
          </ul>
        </>
      )}
      {state.step === 'failed' && <TroubleNote trouble={state.trouble} />}
    </section>
  );
}
