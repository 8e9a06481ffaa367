import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/language';

/** A question before something that cannot be undone. The safe answer has the focus; Escape gives it too. */
export function Confirm({ title, action, children, onAnswer }: { title: string; action: string; children: ComponentChildren; onAnswer: (yes: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next paint: a key pressed in between must not reach the page behind.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onAnswer(false);
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
      <div class="row end">
        <button type="button" autofocus onClick={() => onAnswer(false)}>
          {t.value.cancel}
        </button>
        <button type="button" class="danger" data-testid="confirm" onClick={() => onAnswer(true)}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
