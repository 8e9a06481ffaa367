import { useState } from 'preact/hooks';
import { emptyChat } from '../chat/log';
import { showCount, t } from '../i18n/language';
import { memory } from '../memory/open';
import { troubleOf, type Trouble } from '../memory/trouble';
import { stats } from '../memory/view';
import { suggest } from '../sample/load';
import { Confirm } from '../shell/Confirm';
import { TroubleNote } from '../shell/TroubleNote';

export function Clear() {
  const [asking, setAsking] = useState(false);
  const [cleared, setCleared] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const words = t.value;

  const run = async (): Promise<void> => {
    setTrouble(null);
    try {
      await (await memory()).clear();
      emptyChat();
      suggest([]);
      setCleared(true);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };

  return (
    <section>
      <h3>{words.clearTitle}</h3>
      <p class="quiet">{words.clearBody}</p>
      <button type="button" class="danger" data-testid="clear" onClick={() => setAsking(true)}>
        {words.clear}
      </button>
      <p role="status">{cleared && stats.value?.pages === 0 && words.cleared}</p>
      {trouble && <TroubleNote trouble={trouble} />}
      {asking && (
        <Confirm
          title={words.clearConfirmTitle}
          action={words.clear}
          onAnswer={(yes) => {
            setAsking(false);
            if (yes) void run();
          }}
        >
          <p>{words.clearConfirmBody(showCount(stats.value?.pages ?? 0))}</p>
        </Confirm>
      )}
    </section>
  );
}
