import { t } from '../i18n/language';
import { openTrouble, reopen, status } from '../memory/open';
import { embedderStatus, workTrouble } from '../memory/view';
import { TroubleNote } from './TroubleNote';

/** What concerns the whole page: a memory that does not open, background work that fails, a table still on its way. */
export function Banner() {
  const words = t.value;
  return (
    <div class="banner">
      {openTrouble.value && status.value === 'failed' && (
        <TroubleNote trouble={openTrouble.value} title={words.openFailed}>
          <button type="button" class="primary" data-testid="reopen" onClick={() => void reopen()}>
            {words.tryAgain}
          </button>
        </TroubleNote>
      )}
      {workTrouble.value && (
        <TroubleNote trouble={workTrouble.value} title={words.workFailed}>
          <button type="button" onClick={() => (workTrouble.value = null)}>
            {words.dismiss}
          </button>
        </TroubleNote>
      )}
      <div role="status">
        {embedderStatus.value === 'loading' && <p class="quiet">{words.embedderLoading}</p>}
        {embedderStatus.value === 'failed' && <p class="quiet">{words.embedderFailed}</p>}
      </div>
    </div>
  );
}
