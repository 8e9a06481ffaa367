import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../words';
import { again, ask, busy, exchanges, stop, type Exchange } from './chat';
import { pages } from './memory';
import { Recall } from './Recall';

export function Chat() {
  const log = useRef<HTMLDivElement>(null);
  const last = exchanges.value.at(-1);
  useLayoutEffect(() => {
    log.current?.lastElementChild?.scrollIntoView({ block: 'nearest' });
  }, [exchanges.value.length, last?.state]);
  return (
    <div class="chat">
      <div ref={log} class="log" role="log" aria-label={t('log')} aria-live="polite" tabIndex={0} data-testid="log">
        {exchanges.value.length === 0 && pages.value && <p class="quiet">{t(pages.value.length === 0 ? 'empty' : 'begin')}</p>}
        {exchanges.value.map((exchange) => (
          <Message key={exchange.id} exchange={exchange} />
        ))}
      </div>
      <Composer />
    </div>
  );
}

function Message({ exchange }: { exchange: Exchange }) {
  const { question, answer, state, mode, recall, trouble } = exchange;
  const working = state === 'waiting' || state === 'streaming';
  // Without a model the text is the packed passages, which are shown with date and origin instead.
  const passages = mode === 'memory-only';
  return (
    <>
      <article class="message user" data-testid="question">
        <p class="who">{t('you')}</p>
        <p class="text" dir="auto">{question}</p>
      </article>
      <article class="message assistant" aria-busy={working} data-testid="answer" data-state={state}>
        <p class="who">{t('assistant')}</p>
        {state === 'waiting' && <p class="quiet">{t('waiting')}</p>}
        {answer !== '' && !passages && <p class="text" dir="auto">{answer}</p>}
        {state === 'stopped' && <p class="quiet">{t('stopped')}</p>}
        {trouble !== '' && <p class="trouble" role="alert">{t('trouble', trouble)}</p>}
        {recall && <Recall recall={recall} open={passages} />}
        {(state === 'failed' || state === 'stopped') && (
          <button type="button" class="link" disabled={busy.value} data-testid="again" onClick={() => again(exchange)}>{t('again')}</button>
        )}
      </article>
    </>
  );
}

/** Enter sends, but never while an input method still composes: there it picks a word. */
function Composer() {
  const draft = useSignal('');
  const field = useRef<HTMLTextAreaElement>(null);
  const send = (): void => {
    const text = draft.value.trim();
    if (text === '' || busy.value) return;
    draft.value = '';
    ask(text);
    field.current?.focus();
  };
  return (
    <form class="composer" onSubmit={(event) => { event.preventDefault(); send(); }}>
      <textarea
        ref={field}
        data-testid="input"
        rows={2}
        dir="auto"
        value={draft.value}
        aria-label={t('input')}
        placeholder={t('inputHint')}
        enterkeyhint="send"
        onInput={(event) => { draft.value = event.currentTarget.value; }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
          event.preventDefault();
          send();
        }}
      />
      {busy.value
        ? <button type="button" data-testid="stop" onClick={stop}>{t('stop')}</button>
        : <button type="submit" class="primary" data-testid="send" disabled={draft.value.trim() === ''}>{t('send')}</button>}
    </form>
  );
}
