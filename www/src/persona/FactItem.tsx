import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FactView } from 'memstrata';
import { showDate, showShare, t } from '../i18n/language';
import { facts, moved } from '../memory/persona';
import { DeleteFact } from './DeleteFact';
import { act, doing } from './deeds';
import { FactForm } from './FactForm';
import { Quotes } from './Quotes';
import { factWords, isOpen } from './record';
import { showHistory, showRecord, soughtFact } from './section';
import { sinceWords } from './since';

/** One fact: what it says, on whose word, and what can be done about it. */
export function FactItem({ fact }: { fact: FactView }) {
  const [editing, setEditing] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const wasEditing = useRef(false);
  const words = t.value;
  const open = isOpen(fact);
  const sought = soughtFact.value === fact.id;

  useLayoutEffect(() => {
    if (!sought) return;
    item.current?.scrollIntoView({ block: 'center' });
    item.current?.focus({ preventScroll: true });
    soughtFact.value = null;
  }, [sought]);

  // The form took the place of the button that opened it; when it goes the focus goes back there.
  useLayoutEffect(() => {
    if (wasEditing.current && !editing) item.current?.querySelector<HTMLElement>('[data-testid=fact-edit]')?.focus();
    wasEditing.current = editing;
  }, [editing]);

  const marks = [fact.kind === 'knowledge' ? '' : words.factKinds[fact.kind], fact.pinned ? words.pinned : '', fact.neverRecall ? words.neverMark : '', fact.archived ? words.archived : ''].filter(Boolean);
  return (
    <li ref={item} tabIndex={-1} class={`record${open ? '' : ' closed'}${moved.value.has(fact.id) ? ' moved' : ''}`} data-testid="fact" data-fact-id={fact.id} data-state={open ? 'open' : 'closed'}>
      {editing ? (
        <FactForm fact={fact} onDone={() => setEditing(false)} />
      ) : (
        <>
          <p class="record-words">
            <span class="attribute" dir="auto">{fact.attribute}</span> {open ? <b dir="auto">{fact.value}</b> : <s dir="auto">{fact.value}</s>}
          </p>
          <p class="quiet" dir="auto">
            {[sinceWords(fact), words.sources[fact.source], words.confidence(showShare(fact.confidence)), ...marks].join(' · ')}
            {moved.value.has(fact.id) && <span class="mark used"> · {words.movedMark}</span>}
          </p>
          {!open && <Closed fact={fact} />}
          <Quotes evidence={fact.evidence} />
          <Acts fact={fact} onEdit={() => setEditing(true)} />
        </>
      )}
    </li>
  );
}

/** When and why a fact was closed, and what took its place. */
function Closed({ fact }: { fact: FactView }) {
  const words = t.value;
  const next = fact.supersededBy === undefined ? undefined : facts.value.find((each) => each.id === fact.supersededBy);
  return (
    <p data-testid="fact-reason" data-reason={fact.reason}>
      {words.closedOn(showDate(fact.validTo))} {fact.reason && words.closeReasons[fact.reason]}{' '}
      {fact.supersededBy !== undefined &&
        (next ? (
          <>
            {words.replacedBy}:{' '}
            <button type="button" class="link" dir="auto" data-testid="fact-next" onClick={() => showRecord('fact', next.id, isOpen(next))}>
              {factWords(next)}
            </button>
          </>
        ) : (
          words.replacedGone
        ))}
    </p>
  );
}

function Acts({ fact, onEdit }: { fact: FactView; onEdit: () => void }) {
  const [asking, setAsking] = useState(false);
  const words = t.value;
  const what = factWords(fact);
  // Told and not enforced by `disabled`, which would take the focus away; `act` does one thing at a time.
  const busy = doing.value;
  const head = (): void => document.querySelector<HTMLElement>('.persona .sections')?.focus();
  return (
    <div class="row acts" role="group" aria-label={what}>
      {isOpen(fact) && (
        <>
          <button type="button" data-testid="fact-edit" onClick={onEdit}>{words.edit}</button>
          <button type="button" data-testid="fact-pin" aria-pressed={fact.pinned} aria-disabled={busy} onClick={() => void act(fact.pinned ? 'unpinned' : 'pinned', what, (engine) => engine.pinFact(fact.id, !fact.pinned))}>
            {words.pin}
          </button>
        </>
      )}
      <button type="button" data-testid="fact-never" aria-pressed={fact.neverRecall} aria-disabled={busy} onClick={() => void act(fact.neverRecall ? 'again' : 'never', what, (engine) => engine.neverRecall(fact.id, !fact.neverRecall), fact.id)}>
        {words.neverRecall}
      </button>
      {isOpen(fact) && (
        <button
          type="button"
          data-testid="fact-retract"
          aria-disabled={busy}
          onClick={() => {
            if (busy) return;
            void act('retracted', what, (engine) => engine.retractFact(fact.id));
            // Unless closed facts are shown, this one leaves the list with its buttons.
            head();
          }}
        >
          {words.retract}
        </button>
      )}
      <button type="button" class="danger" data-testid="fact-delete" aria-disabled={busy} onClick={() => setAsking(true)}>{words.deleteForGood}</button>
      <button type="button" class="link" data-testid="fact-history" onClick={() => showHistory(fact.id, what)}>{words.historyOf}</button>
      {asking && (
        <DeleteFact
          fact={fact}
          onAnswer={(yes) => {
            setAsking(false);
            if (yes) head();
          }}
        />
      )}
    </div>
  );
}
