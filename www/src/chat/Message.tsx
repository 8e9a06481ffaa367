import { showCount, showTime, t } from '../i18n/language';
import { TroubleNote } from '../shell/TroubleNote';
import { go } from '../shell/places';
import { busy, inspected, retry, type Exchange } from './log';
import { factsOf, passagesOf } from './packed';
import { Passages } from './Passages';

/** One question with its answer. */
export function Message({ exchange }: { exchange: Exchange }) {
  const words = t.value;
  const waiting = exchange.state === 'waiting';
  // Without a model the text that comes is the packed context; its passages are shown instead, each with date and speaker.
  const plain = exchange.mode === 'memory-only';
  // Asked at an earlier visit: the page is here, what answered it is not.
  const unanswered = exchange.state === 'done' && exchange.answer === '' && !exchange.recall;
  return (
    <>
      <article class="message user" data-testid="message" data-role="user">
        <p class="who">
          {words.you} <time>{showTime(exchange.time)}</time>
        </p>
        <p class="text" dir="auto">{exchange.question}</p>
      </article>
      <article class={`message assistant${unanswered ? ' unanswered' : ''}`} data-testid="message" data-role="assistant" data-state={exchange.state} data-exchange={exchange.id} aria-busy={waiting || exchange.state === 'streaming'}>
        {!unanswered && <p class="who">{words.assistant}</p>}
        {(waiting || (plain && exchange.state === 'streaming')) && <p class="quiet">{words.waiting}</p>}
        {plain ? exchange.recall && <Passages recall={exchange.recall} /> : exchange.answer !== '' && <p class="text" dir="auto">{exchange.answer}</p>}
        {unanswered && <p class="quiet">{words.unanswered}</p>}
        {exchange.state === 'stopped' && <p class="quiet">{words.stopped}</p>}
        {exchange.cutShort && <p class="quiet">{words.cutShort}</p>}
        {exchange.trouble && <TroubleNote trouble={exchange.trouble} />}
        <div class="row under">
          {exchange.recall && <RecalledLink exchange={exchange} />}
          {!waiting && exchange.state !== 'streaming' && (
            <button type="button" class="link" data-testid="chat-retry" disabled={busy.value} onClick={() => void retry(exchange)}>
              {words.retry}
            </button>
          )}
        </div>
      </article>
    </>
  );
}

function RecalledLink({ exchange }: { exchange: Exchange }) {
  const words = t.value;
  const recall = exchange.recall!;
  const facts = factsOf(recall).filter((fact) => fact.packed).length;
  return (
    <button
      type="button"
      class="link recalled"
      data-testid="recalled-link"
      aria-description={words.recalledOpens}
      aria-pressed={inspected.value?.exchangeId === exchange.id}
      onClick={() => {
        inspected.value = { query: exchange.question, recall, exchangeId: exchange.id };
        go('inspector');
      }}
    >
      {facts === 0
        ? words.recalled(showCount(passagesOf(recall).length), showCount(recall.contextTokens))
        : words.recalledWith(showCount(passagesOf(recall).length), words.factCount(facts), showCount(recall.contextTokens))}
    </button>
  );
}
