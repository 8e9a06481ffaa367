import { useEffect, useRef } from 'preact/hooks';
import { showCount, t } from '../i18n/language';
import { memory } from '../memory/open';
import { isEmpty, stats } from '../memory/view';
import { Composer } from './Composer';
import { chatLoading, exchanges } from './log';
import { Message } from './Message';
import { Mode } from './Mode';
import { Suggestions } from './Suggestions';
import { Welcome } from './Welcome';

/** How near to the foot one must be for the log to keep following. */
const FOLLOW_PX = 80;

export function Chat() {
  const log = useRef<HTMLDivElement>(null);
  const follow = useRef(true);
  const words = t.value;
  const shown = exchanges.value;
  const last = shown.at(-1);

  useEffect(() => {
    void memory().catch(() => undefined);
  }, []);

  // A question of one's own always comes into view; an answer only while one reads at the foot.
  useEffect(() => {
    if (last?.state === 'waiting') follow.current = true;
    const element = log.current;
    if (element && follow.current) element.scrollTop = element.scrollHeight;
  }, [shown.length, last?.state, last?.answer, last?.recall]);

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
          follow.current = scrollHeight - scrollTop - clientHeight < FOLLOW_PX;
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
