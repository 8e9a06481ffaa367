import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { t } from '../i18n/language';
import { ask, busy, stop } from './log';

const draft = signal('');

/** Where one types. Enter sends, but never while an input method still composes: there it picks a word. */
export function Composer() {
  const field = useRef<HTMLTextAreaElement>(null);
  const words = t.value;

  const send = (): void => {
    const text = draft.value.trim();
    if (text === '' || busy.value) return;
    draft.value = '';
    ask(text);
    field.current?.focus();
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        id="chat-input"
        data-testid="chat-input"
        rows={1}
        dir="auto"
        value={draft.value}
        aria-label={words.inputLabel}
        aria-describedby="composer-keys"
        placeholder={words.inputHint}
        enterkeyhint="send"
        onInput={(event) => {
          draft.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          // keyCode 229 is what some browsers report for the Enter that ends a composition, after isComposing has gone.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
          event.preventDefault();
          send();
        }}
      />
      <span id="composer-keys" class="visually-hidden">
        {words.keysHint}
      </span>
      {busy.value ? (
        <button type="button" class="stop" data-testid="chat-stop" onClick={stop}>
          {words.stop}
        </button>
      ) : (
        <button type="submit" class="primary" data-testid="chat-send" disabled={draft.value.trim() === ''}>
          {words.send}
        </button>
      )}
    </form>
  );
}
