import { useEffect, useState } from 'preact/hooks';
import type { FactView } from 'memstrata';
import { showDay, t } from '../i18n/language';
import { memory } from '../memory/open';
import { facts, personaReadings } from '../memory/persona';
import { troubleOf, type Trouble } from '../memory/trouble';
import { TroubleNote } from '../shell/TroubleNote';
import { endOfDay } from './input';
import { factWords, groupFacts, isOpen, searchFacts } from './record';
import { asOf, factSearch, showRecord } from './section';
import { sinceWords } from './since';
import { subjectTitle } from './subject-title';

/** What was believed on a day: to read, not to edit. Each fact leads to what is believed of it now. */
export function BelievedThen({ onBack }: { onBack: () => void }) {
  const [then, setThen] = useState<FactView[] | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const words = t.value;
  const day = asOf.value;
  const readings = personaReadings.value;

  useEffect(() => {
    let latest = true;
    const load = async (): Promise<void> => {
      try {
        const found = await (await memory()).facts({ asOf: endOfDay(day) });
        if (!latest) return;
        setThen(found);
        setTrouble(null);
      } catch (error) {
        if (latest) setTrouble(troubleOf(error));
      }
    };
    void load();
    return () => {
      latest = false;
    };
  }, [day, readings]);

  const now = new Map(facts.value.map((fact) => [fact.id, fact]));
  return (
    <>
      <p role="status">
        {then && words.believedThen(showDay(day), words.factCount(then.length))}{' '}
        <button type="button" class="link" data-testid="as-of-now" onClick={onBack}>{words.backToNow}</button>
      </p>
      {trouble && <TroubleNote trouble={trouble} />}
      {groupFacts(searchFacts(then ?? [], factSearch.value)).map((group) => (
        <section key={`${group.subject} ${group.name}`}>
          <h3 dir="auto">{subjectTitle(group)}</h3>
          <ul class="records">
            {group.facts.map((fact) => {
              const present = now.get(fact.id);
              return (
                <li key={fact.id} class="record" data-testid="fact-then" data-fact-id={fact.id}>
                  <p class="record-words">
                    <span class="attribute" dir="auto">{fact.attribute}</span> <b dir="auto">{fact.value}</b>
                  </p>
                  <p class="quiet" dir="auto">
                    {sinceWords(fact)}
                    {present && !isOpen(present) && ` · ${words.closedMark}`}
                  </p>
                  {present && (
                    <button
                      type="button"
                      class="link"
                      aria-description={factWords(fact)}
                      onClick={() => {
                        asOf.value = '';
                        showRecord('fact', fact.id, isOpen(present));
                      }}
                    >
                      {words.asItIsNow}
                    </button>
                  )}
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </>
  );
}
