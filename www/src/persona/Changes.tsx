import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChangeView } from 'memstrata';
import { t } from '../i18n/language';
import { memory } from '../memory/open';
import { personaReadings } from '../memory/persona';
import { troubleOf, type Trouble } from '../memory/trouble';
import { TroubleNote } from '../shell/TroubleNote';
import { ChangeItem } from './ChangeItem';
import { historyOf } from './section';

const CHANGES_A_CALL = 30;

/** The history of long-term memory, newest first: of one record or of all. */
export function Changes() {
  const [limit, setLimit] = useState(CHANGES_A_CALL);
  const [read, setRead] = useState<{ changes: ChangeView[]; more: boolean } | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const latest = useRef(0);
  const words = t.value;
  const of = historyOf.value;
  const id = of?.id;
  const readings = personaReadings.value;

  useEffect(() => {
    const mine = (latest.current += 1);
    const load = async (): Promise<void> => {
      try {
        // One more than is shown, to know whether there are any.
        const changes = await (await memory()).history({ ...(id === undefined ? {} : { id }), limit: limit + 1 });
        if (latest.current !== mine) return;
        setRead({ changes: changes.slice(0, limit), more: changes.length > limit });
        setTrouble(null);
      } catch (error) {
        if (latest.current === mine) setTrouble(troubleOf(error));
      }
    };
    void load();
    return () => {
      latest.current += 1;
    };
  }, [id, limit, readings]);

  return (
    <section>
      <h3 dir="auto">{of ? words.changesOf(of.words) : words.changesAll}</h3>
      {of && (
        <button
          type="button"
          class="link"
          data-testid="all-changes"
          onClick={() => {
            historyOf.value = null;
            setLimit(CHANGES_A_CALL);
          }}
        >
          {words.showAllChanges}
        </button>
      )}
      {trouble && <TroubleNote trouble={trouble} />}
      {!read && !trouble && <p class="quiet" role="status">{words.readingMemory}</p>}
      {read?.changes.length === 0 && <p class="quiet">{words.changesNone}</p>}
      <ol class="records changes">
        {read?.changes.map((change) => (
          <ChangeItem key={change.id} change={change} />
        ))}
      </ol>
      {read?.more && (
        <button type="button" data-testid="more-changes" onClick={() => setLimit(limit + CHANGES_A_CALL)}>
          {words.moreChanges}
        </button>
      )}
    </section>
  );
}
