import { useEffect, useState } from 'preact/hooks';
import { inspected, litPages } from '../chat/log';
import { tiers } from '../memory/view';
import { asList } from '../strata/selection';
import { narrow } from './places';

/** More threads than this are a rope. */
const MOST_THREADS = 8;

interface Thread {
  id: string;
  path: string;
}

/** From every grain an answer used, a thread to the answer. Drawn over the page, deaf to the pointer, told in words elsewhere. */
export function Threads() {
  const [threads, setThreads] = useState<Thread[]>([]);
  const exchangeId = inspected.value?.exchangeId ?? null;
  const lit = litPages.value;
  const picture = tiers.value;
  const off = narrow.value || asList.value || exchangeId === null || lit.size === 0;

  useEffect(() => {
    if (off) {
      setThreads([]);
      return;
    }
    let frame = 0;
    const draw = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => setThreads(measure(exchangeId)));
    };
    draw();
    // Grains settle for a second after they have moved.
    const settled = setTimeout(draw, 1000);
    window.addEventListener('resize', draw);
    // Capturing: scrolling does not bubble, and both the log and the picture scroll.
    document.addEventListener('scroll', draw, { capture: true, passive: true });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(settled);
      window.removeEventListener('resize', draw);
      document.removeEventListener('scroll', draw, { capture: true });
    };
  }, [off, exchangeId, lit, picture]);

  if (threads.length === 0) return null;
  return (
    <svg class="threads" aria-hidden="true" data-testid="threads">
      {threads.map((thread) => (
        <path key={`${exchangeId} ${thread.id}`} d={thread.path} pathLength={1} />
      ))}
    </svg>
  );
}

function measure(exchangeId: string): Thread[] {
  const answer = document.querySelector(`[data-exchange="${CSS.escape(exchangeId)}"]`);
  const link = answer?.querySelector('.recalled');
  const log = document.querySelector('.log')?.getBoundingClientRect();
  const drawing = document.querySelector('.drawing')?.getBoundingClientRect();
  if (!answer || !link || !log || !drawing) return [];
  const to = link.getBoundingClientRect();
  const bubble = answer.getBoundingClientRect();
  if (bubble.bottom < log.top || bubble.top > log.bottom) return [];
  // At the answer's edge and not at the link itself, so that no thread crosses words; of a long answer, where it leaves the view.
  const endX = bubble.right;
  const endY = Math.min(Math.max(to.top + to.height / 2, log.top + 8), log.bottom - 8);
  const threads: Thread[] = [];
  for (const grain of document.querySelectorAll<SVGElement>('.drawing [data-testid=grain][data-lit]')) {
    const from = grain.getBoundingClientRect();
    const x = from.left + from.width / 2;
    const y = from.top + from.height / 2;
    if (y < drawing.top || y > drawing.bottom) continue;
    const middle = (x + endX) / 2;
    threads.push({ id: grain.dataset.pageId ?? '', path: `M${x.toFixed(1)} ${y.toFixed(1)} C${middle.toFixed(1)} ${y.toFixed(1)} ${middle.toFixed(1)} ${endY.toFixed(1)} ${endX.toFixed(1)} ${endY.toFixed(1)}` });
    if (threads.length === MOST_THREADS) break;
  }
  return threads;
}
