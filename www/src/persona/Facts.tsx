import { useRef, useState } from 'preact/hooks';
import { showCount, t } from '../i18n/language';
import { facts } from '../memory/persona';
import { BelievedThen } from './BelievedThen';
import { FactForm } from './FactForm';
import { FactItem } from './FactItem';
import { groupFacts, isOpen, searchFacts, type FactGroup } from './record';
import { asOf, factSearch, showClosed, soughtFact } from './section';
import { subjectTitle } from './subject-title';

/** Facts by whom they are about. */
export function Facts() {
  const day = useRef<HTMLInputElement>(null);
  const words = t.value;
  const all = facts.value;
  const closed = all.filter((fact) => !isOpen(fact)).length;
  const found = searchFacts(showClosed.value ? all : all.filter(isOpen), factSearch.value);
  return (
    <>
      {all.length > 0 && (
        <div class="filters" role="search">
          <label class="grow">
            {words.searchFacts}
            <input type="search" dir="auto" data-testid="fact-search" value={factSearch.value} onInput={(event) => (factSearch.value = event.currentTarget.value)} />
          </label>
          <label>
            {words.asOf}
            <input ref={day} type="date" data-testid="as-of" value={asOf.value} onInput={(event) => (asOf.value = event.currentTarget.value)} />
          </label>
          {closed > 0 && asOf.value === '' && (
            <label class="choice">
              <input type="checkbox" data-testid="show-closed" checked={showClosed.value} onChange={(event) => (showClosed.value = event.currentTarget.checked)} />
              <span>{words.showClosed} <span class="quiet">{showCount(closed)}</span></span>
            </label>
          )}
        </div>
      )}
      {asOf.value !== '' ? (
        <BelievedThen
          onBack={() => {
            asOf.value = '';
            day.current?.focus();
          }}
        />
      ) : (
        <>
          <p role="status" class="quiet">{factSearch.value.trim() !== '' && (found.length === 0 ? words.factsNone : words.factCount(found.length))}</p>
          {groupFacts(found).map((group) => (
            <Group key={`${group.subject} ${group.name}`} group={group} />
          ))}
          <Adding />
        </>
      )}
    </>
  );
}

const FACTS_AT_ONCE = 50;

function Group({ group }: { group: FactGroup }) {
  const [limit, setLimit] = useState(FACTS_AT_ONCE);
  const words = t.value;
  const sought = group.facts.findIndex((fact) => fact.id === soughtFact.value);
  const shown = Math.max(limit, sought + 1);
  return (
    <section data-testid="fact-group" data-subject={group.subject}>
      <h3 dir="auto">{subjectTitle(group)}</h3>
      <ul class="records">
        {group.facts.slice(0, shown).map((fact) => (
          <FactItem key={fact.id} fact={fact} />
        ))}
      </ul>
      {group.facts.length > shown && (
        <button type="button" onClick={() => setLimit(shown + FACTS_AT_ONCE)}>
          {words.andMore(showCount(group.facts.length - shown))}
        </button>
      )}
    </section>
  );
}

function Adding() {
  const [open, setOpen] = useState(false);
  const words = t.value;
  return (
    <section>
      {open ? (
        <>
          <h3>{words.addFact}</h3>
          <p class="quiet">{words.addFactNote}</p>
          <FactForm onDone={() => setOpen(false)} />
        </>
      ) : (
        <button type="button" data-testid="fact-add" onClick={() => setOpen(true)}>
          {words.addFact}
        </button>
      )}
    </section>
  );
}
