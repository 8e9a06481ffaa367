import { useId } from 'preact/hooks';
import type { ChangeCause, ChangeStepView, ChangeView } from 'memstrata';
import { showCount, showDate, showShare, showTime, t } from '../i18n/language';
import { differences, kindOf, shownValue, type FieldValue } from './change';
import { doing, undo } from './deeds';
import { factWords } from './record';
import { traitName } from './trait-name';

/** One change, whole: when, by whom, what was before and after, and its Undo. */
export function ChangeItem({ change }: { change: ChangeView }) {
  const id = useId();
  const words = t.value;
  const what = change.steps[0] ? stepName(change.steps[0]) : words.aChange;
  return (
    <li class="record" data-testid="change" data-change-id={change.id}>
      <p class="quiet">
        <time>{showTime(change.at)}</time> · {causeWords(change.cause)}
      </p>
      <ul class="plain steps">
        {change.steps.map((step) => (
          <Step key={`${step.what} ${step.id}`} step={step} />
        ))}
      </ul>
      <div class="row acts">
        <button
          type="button"
          data-testid="change-undo"
          // Not `disabled`: what says why not must be within reach of the keyboard.
          aria-disabled={!change.undoable || doing.value}
          aria-label={words.undoNamed(what)}
          {...(change.undoable ? {} : { 'aria-describedby': id })}
          onClick={() => {
            if (change.undoable && !doing.value) void undo(change.id, what);
          }}
        >
          {words.undo}
        </button>
        {!change.undoable && <span class="quiet" id={id}>{words.notUndoable}</span>}
      </div>
    </li>
  );
}

function Step({ step }: { step: ChangeStepView }) {
  const words = t.value;
  const kind = kindOf(step);
  const changed = differences(step);
  return (
    <li data-testid="step" data-kind={kind}>
      <p>
        <b>{words.stepKinds[kind]}</b> <span dir="auto">{stepName(step)}</span>
      </p>
      {step.before !== null && step.after !== null && (
        <dl class="differences">
          {changed.map(({ field, before, after }) => (
            <div key={field}>
              <dt>{words.fields[field]}</dt>
              <dd>
                <s dir="auto">
                  <span class="visually-hidden">{words.beforeWord}: </span>
                  {valueWords(shownValue(before, after))}
                </s>{' '}
                <span aria-hidden="true">→</span>{' '}
                <span dir="auto">
                  <span class="visually-hidden">{words.afterWord}: </span>
                  {valueWords(shownValue(after, before))}
                </span>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {step.what === 'fact' && step.after?.validTo != null && step.before?.validTo == null && step.after.reason && <p class="quiet">{words.closeReasons[step.after.reason]}</p>}
      {/* Of a text that came or went, the words themselves. */}
      {step.what === 'profile' && (step.before === null || step.after === null) && <p class="prose" dir="auto">{(step.after ?? step.before)?.text}</p>}
    </li>
  );
}

function stepName(step: ChangeStepView): string {
  const words = t.value;
  if (step.what === 'fact') {
    const fact = step.after ?? step.before;
    return fact ? factWords(fact) : step.id;
  }
  if (step.what === 'profile') return words.profileField[(step.after ?? step.before)?.of ?? 'user'];
  const trait = step.after ?? step.before;
  return trait ? `${traitName(trait)}, ${words.levels[trait.level]}` : step.id;
}

function causeWords(cause: ChangeCause): string {
  const words = t.value;
  if (cause.by === 'user') return words.causeUser;
  if (cause.by === 'undo') return words.causeUndo;
  const pages = words.pagesInWords(cause.pages.length);
  return `${cause.model === null ? words.causeRules(pages) : words.causeModel(cause.model, pages)}, ${words.stepOf(cause.step)}`;
}

function valueWords(value: FieldValue | null): string {
  const words = t.value;
  if (value === null) return words.none;
  switch (value.as) {
    case 'text':
      return value.text;
    case 'yes-no':
      return value.yes ? words.yes : words.no;
    case 'time':
      return value.phrase ? `“${value.phrase}” (${showDate(value.time)})` : showDate(value.time);
    case 'share':
      return showShare(value.share);
    case 'count':
      return showCount(value.count);
    case 'word':
      return (words[value.of] as Record<string, string>)[value.word] ?? value.word;
  }
}
