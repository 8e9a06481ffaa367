import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FactView, ProfileText } from 'memstrata';
import { showCount, showShare, showTime, t } from '../i18n/language';
import { profile } from '../memory/persona';
import { act, doing } from './deeds';
import { FactForm } from './FactForm';
import { showHistory, showRecord } from './section';
import { sinceWords } from './since';

/** Attributes of the static profile, as the engine names its slots. */
const slots = [
  ['name', 'name'],
  ['gender', 'gender'],
  ['birthYear', 'birth year'],
] as const;

/** The static profile, and the two texts with their versions. */
export function Profile() {
  const words = t.value;
  const now = profile.value;
  if (!now) return <p class="quiet">{words.readingMemory}</p>;
  return (
    <>
      <section data-testid="static-profile">
        <h3>{words.staticProfile}</h3>
        <dl class="facts">
          {slots.map(([slot, attribute]) => (
            <Slot key={slot} label={words.slots[slot]} attribute={attribute} fact={now[slot]} />
          ))}
        </dl>
      </section>
      {(['user', 'assistant'] as const).map((of) => (
        <Text key={of} of={of} text={now[of]} versions={now.versions.filter((version) => version.of === of)} />
      ))}
      <section>
        <button type="button" class="link" onClick={() => showHistory('profile', words.sections.profile)}>{words.historyOf}</button>
      </section>
    </>
  );
}

function Slot({ label, attribute, fact }: { label: string; attribute: string; fact: FactView | null }) {
  const [editing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const words = t.value;
  const done = (): void => {
    setEditing(false);
    requestAnimationFrame(() => button.current?.focus());
  };
  return (
    <div data-testid="slot" data-slot={attribute}>
      <dt>{label}</dt>
      <dd>
        {editing ? (
          <FactForm {...(fact ? { fact } : {})} attribute={attribute} label={label} onDone={done} />
        ) : (
          <>
            {fact ? <b dir="auto">{fact.value}</b> : <span class="quiet">{words.unknown}</span>}{' '}
            <button ref={button} type="button" class="link" data-testid="slot-edit" aria-label={fact ? words.editNamed(label) : words.setSlot(label)} onClick={() => setEditing(true)}>
              {fact ? words.edit : words.set}
            </button>
            {fact && (
              <p class="quiet">
                {sinceWords(fact)} · {words.sources[fact.source]} · {words.confidence(showShare(fact.confidence))}{' · '}
                <button type="button" class="link" onClick={() => showRecord('fact', fact.id)}>{words.quotes(fact.evidence.length)}</button>
              </p>
            )}
          </>
        )}
      </dd>
    </div>
  );
}

function Text({ of, text, versions }: { of: 'user' | 'assistant'; text: ProfileText | null; versions: ProfileText[] }) {
  const [draft, setDraft] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const words = t.value;
  const editing = draft !== null;
  const earlier = versions.filter((version) => version.version !== text?.version);

  useLayoutEffect(() => {
    if (editing) field.current?.focus();
  }, [editing]);

  const close = (): void => {
    setDraft(null);
    requestAnimationFrame(() => button.current?.focus());
  };
  const save = async (): Promise<void> => {
    const wanted = draft?.trim() ?? '';
    if (wanted === (text?.text ?? '') || (await act('profile', words.profileField[of], (engine) => engine.setProfile(of, wanted), 'profile'))) close();
  };

  return (
    <section data-testid="profile-text" data-of={of}>
      <h3>{words.profileOf[of]}</h3>
      {editing ? (
        <form
          class="fact-form"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && !event.isComposing) close();
          }}
        >
          <label>
            {words.profileField[of]}
            <textarea ref={field} dir="auto" rows={6} data-testid="profile-field" value={draft} onInput={(event) => setDraft(event.currentTarget.value)} />
          </label>
          <div class="row">
            <button type="submit" class="primary" data-testid="profile-save" aria-disabled={doing.value}>{words.save}</button>
            <button type="button" onClick={close}>{words.cancel}</button>
          </div>
        </form>
      ) : (
        <>
          {text ? <p class="prose" dir="auto">{text.text}</p> : <p class="quiet">{words.profileNone}</p>}
          {text && <p class="quiet">{words.version(showCount(text.version), showTime(text.recordedAt))}</p>}
          <button ref={button} type="button" data-testid="profile-edit" aria-label={(text ? words.editNamed : words.writeNamed)(words.profileField[of])} onClick={() => setDraft(text?.text ?? '')}>
            {text ? words.edit : words.write}
          </button>
        </>
      )}
      {earlier.length > 0 && (
        <details>
          <summary>{words.earlierVersions(showCount(earlier.length))}</summary>
          <ol class="plain versions">
            {earlier.map((version) => (
              <li key={version.version}>
                <p class="quiet">{words.version(showCount(version.version), showTime(version.recordedAt))}</p>
                <p class="prose" dir="auto">{version.text}</p>
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}
