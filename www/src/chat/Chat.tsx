import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { showCount, t } from '../i18n/language';
import { memory } from '../memory/open';
import { isEmpty, stats } from '../memory/view';
import { suggested } from '../sample/load';
import { Composer } from './Composer';
import { chatLoading, exchanges } from './log';
import { Message } from './Message';
import { Mode } from './Mode';
import { Suggestions } from './Suggestions';
import { Welcome } from './Welcome';

/** How near to the foot one must be for the log to keep following. */
const FOLLOW_PX = 80;
const QUESTION_MARGIN_PX = 16;

export function Chat() {
  const log = useRef<HTMLDivElement>(null);
  const follow = useRef(true);
  const lastTop = useRef(0);
  const words = t.value;
  const shown = exchanges.value;
  const last = shown.at(-1);

  useEffect(() => {
    void memory().catch(() => undefined);
  }, []);

  // A question of one's own always comes into view; an answer only while one reads at the foot. Of a long one the beginning
  // is shown, under its question.
  useLayoutEffect(() => {
    if (last?.state === 'waiting') follow.current = true;
    const element = log.current;
    if (!element || !follow.current) return;
    const question = [...element.querySelectorAll<HTMLElement>('[data-role=user]')].at(-1);
    element.scrollTop = Math.min(element.scrollHeight, question ? question.offsetTop - element.offsetTop - QUESTION_MARGIN_PX : Infinity);
    lastTop.current = element.scrollTop;
  }, [shown.length, last?.state, last?.answer, last?.recall, suggested.value]);

  return (
    <div class="chat">
      <h2 class="visually-hidden">{words.places.chat}</h2>
      <div
        ref={log}
        class="log"
        role="log"
        aria-label={words.chatLog}
        aria-live="polite"
        tabIndex={0}
        data-testid="chat-log"
        onScroll={(event) => {
          const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
          // Only a move up is the reader's wish to stay; a log that grew under the eye is not.
          if (scrollTop < lastTop.current - 2) follow.current = false;
          if (scrollHeight - scrollTop - clientHeight < FOLLOW_PX) follow.current = true;
          lastTop.current = scrollTop;
        }}
      >
        {shown.length === 0 && <Beginning />}
        {shown.map((exchange) => (
          <Message key={exchange.id} exchange={exchange} />
        ))}
      </div>
      <Suggestions />
      <Mode />
      <Composer />
    </div>
  );
}

/** What stands in the log before anything was said in it. */
function Beginning() {
  const words = t.value;
  if (isEmpty.value) return <Welcome />;
  if (stats.value) return <p class="quiet">{words.nothingSaidYet(showCount(stats.value.pages))}</p>;
  return chatLoading.value ? <p class="quiet">{words.readingMemory}</p> : null;
}
