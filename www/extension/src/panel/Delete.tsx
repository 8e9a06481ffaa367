import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../words';

/** A question before what cannot be undone. The safe answer has the focus; Escape gives it too. */
export function Delete({ text, onAnswer }: { text: string; onAnswer: (yes: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onCancel={(event) => { event.preventDefault(); onAnswer(false); }}>
      <h2 id={id}>{t('deleteTitle')}</h2>
      <blockquote dir="auto">{text}</blockquote>
      <p>{t('deleteBody')}</p>
      <div class="row end">
        <button type="button" autofocus onClick={() => onAnswer(false)}>{t('cancel')}</button>
        <button type="button" class="danger" data-testid="confirm" onClick={() => onAnswer(true)}>{t('delete')}</button>
      </div>
    </dialog>
  );
}
