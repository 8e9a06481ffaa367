import { t } from '../i18n/language';
import { TroubleNote } from '../shell/TroubleNote';
import { deedTrouble, dismissDeed, doing, lastDeed, undo } from './deeds';

/** What was just done, with its Undo. It stays at the foot of the place until it is dismissed: nothing runs out of time. */
export function Notice({ onLeave }: { onLeave: () => void }) {
  const words = t.value;
  const done = lastDeed.value;
  const shown = done !== null || deedTrouble.value !== null;
  return (
    <div class={shown ? 'notice' : undefined} data-testid="notice">
      <p role="status" dir="auto">{done && words.deeds[done.deed](done.what)}</p>
      {/* Of long-term memory one thing is forbidden: to take back what something later rests on. */}
      {deedTrouble.value?.code === 'FORBIDDEN' && <p class="trouble" role="alert" data-testid="trouble" data-code="FORBIDDEN">{words.notUndoable}</p>}
      {deedTrouble.value && deedTrouble.value.code !== 'FORBIDDEN' && <TroubleNote trouble={deedTrouble.value} />}
      {shown && (
        <div class="row">
          {done?.undo && (
            <button
              type="button"
              data-testid="notice-undo"
              aria-disabled={doing.value}
              onClick={() => {
                if (doing.value) return;
                void undo(done.undo!, done.what);
                // The button goes with what it belonged to.
                onLeave();
              }}
            >
              {words.undo}
            </button>
          )}
          <button
            type="button"
            class="link"
            onClick={() => {
              dismissDeed();
              onLeave();
            }}
          >
            {words.dismiss}
          </button>
        </div>
      )}
    </div>
  );
}
