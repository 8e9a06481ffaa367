import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FactView } from 'memstrata';
import { t } from '../i18n/language';
import { act, doing } from './deeds';
import { changesOf, draftOf, inputOf, missing, type Draft, type Lack } from './input';
import { factWords } from './record';
import { soughtFact } from './section';

const subjects = ['user', 'assistant', 'other'] as const;
const kinds = ['knowledge', 'preference', 'event'] as const;

/** A fact to be entered or edited in place. Of the static profile, `attribute` is set and only its value is asked. */
export function FactForm({ fact, attribute, label, onDone }: { fact?: FactView; attribute?: string; label?: string; onDone: () => void }) {
  const [start] = useState(() => draftOf(fact, attribute));
  const [draft, setDraft] = useState(start);
  const [lack, setLack] = useState<Lack | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const words = t.value;
  const fixed = attribute !== undefined;
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });

  useLayoutEffect(() => {
    form.current?.querySelector<HTMLInputElement>(fact || fixed ? '[name=value]' : '[name=attribute]')?.focus();
  }, []);

  const save = async (): Promise<void> => {
    const lacks = missing(draft, start);
    setLack(lacks);
    if (lacks) {
      const field = lacks === 'name' ? 'subjectName' : lacks === 'since' ? 'since' : draft.attribute.trim() === '' ? 'attribute' : 'value';
      form.current?.querySelector<HTMLInputElement>(`[name=${field}]`)?.focus();
      return;
    }
    const changes = changesOf(start, draft);
    if (fact && Object.keys(changes).length === 0) {
      onDone();
      return;
    }
    let id = fact?.id;
    const saved = await act(fact ? 'edited' : 'added', factWords(inputOf(draft)), async (engine) => {
      const holds = await (fact ? engine.editFact(fact.id, changes) : engine.addFact(inputOf(draft)));
      id = holds.id;
      return holds;
    });
    if (!saved) return;
    // A new fact comes into view; so does the one that says the same already, in which an edited one went up.
    if (!fixed && id !== fact?.id) soughtFact.value = id ?? null;
    onDone();
  };

  return (
    <form
      ref={form}
      class="fact-form"
      noValidate
      aria-label={label ?? (fact ? words.editNamed(factWords(fact)) : words.addFact)}
      data-testid="fact-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        // The Enter that ends a composition picks a word.
        if (event.key === 'Enter' && (event.isComposing || event.keyCode === 229)) event.preventDefault();
        if (event.key === 'Escape' && !event.isComposing) {
          event.stopPropagation();
          onDone();
        }
      }}
    >
      {!fixed && (
        <>
          <label>
            {words.factOf}
            <select name="subject" value={draft.subject} onChange={(event) => set({ subject: event.currentTarget.value as Draft['subject'] })}>
              {subjects.map((each) => (
                <option key={each} value={each}>{words.factSubjects[each]}</option>
              ))}
            </select>
          </label>
          {draft.subject === 'other' && <Field name="subjectName" label={words.factName} value={draft.subjectName} bad={lack === 'name'} onInput={(subjectName) => set({ subjectName })} />}
          <Field name="attribute" label={words.factAttribute} hint={words.factAttributeHint} value={draft.attribute} bad={lack === 'both' && draft.attribute.trim() === ''} onInput={(value) => set({ attribute: value })} />
        </>
      )}
      <Field name="value" label={label ?? words.factValue} value={draft.value} bad={lack === 'both' && draft.value.trim() === ''} onInput={(value) => set({ value })} />
      {!fixed && (
        <>
          <label>
            {words.factKind}
            <select name="kind" value={draft.kind} onChange={(event) => set({ kind: event.currentTarget.value as Draft['kind'] })}>
              {kinds.map((each) => (
                <option key={each} value={each}>{words.factKinds[each]}</option>
              ))}
            </select>
          </label>
          <label>
            {words.factSince}
            <input type="date" name="since" value={draft.since} aria-invalid={lack === 'since'} onInput={(event) => set({ since: event.currentTarget.value })} />
          </label>
        </>
      )}
      {lack && <p class="trouble" role="alert">{{ name: words.fillName, since: words.fillSince, both: words.fillBoth }[lack]}</p>}
      <div class="row">
        <button type="submit" class="primary" data-testid="fact-save" aria-disabled={doing.value}>{fact ? words.save : words.add}</button>
        <button type="button" onClick={onDone}>{words.cancel}</button>
      </div>
    </form>
  );
}

function Field({ name, label, hint, value, bad, onInput }: { name: string; label: string; hint?: string; value: string; bad: boolean; onInput: (value: string) => void }) {
  return (
    <label>
      {label}
      <input type="text" dir="auto" name={name} data-testid={`fact-${name}`} value={value} placeholder={hint} aria-invalid={bad} autocomplete="off" onInput={(event) => onInput(event.currentTarget.value)} />
    </label>
  );
}
