import { useEffect, useState } from 'preact/hooks';
import { inspected, litFacts, litPages } from '../chat/log';
import { factsOf, passagesOf } from '../chat/packed';
import { tiers } from '../memory/view';
import { asList } from '../strata/selection';
import { narrow } from './places';

/** More threads than this are a rope. */
const MOST_THREADS = 8;
const MOST_FACT_THREADS = 3;

/** Half a row of grains. */
const LANE_PX = 15;
/** Into the gap below a line of the bedrock. */
const LINE_EDGE_PX = 2;

interface Point {
  x: number;
  y: number;
}

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
  const litRecords = litFacts.value;
  const off = narrow.value || asList.value || exchangeId === null || lit.size + litRecords.size === 0;

  useEffect(() => {
    if (off) {
      setThreads([]);
      return;
    }
    let frame = 0;
    const draw = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => setThreads(measure(exchangeId, byRank())));
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
  }, [off, exchangeId, lit, litRecords, picture]);

  if (threads.length === 0) return null;
  return (
    <svg class="threads" aria-hidden="true" data-testid="threads">
      {threads.map((thread) => (
        <path key={`${exchangeId} ${thread.id}`} d={thread.path} pathLength={1} />
      ))}
    </svg>
  );
}

/** What the answer used, as the picture knows it: facts, then pages, those of the best hits first. Threads are few, and the best are spun. */
function byRank(): string[] {
  const recall = inspected.value?.recall;
  if (!recall) return [];
  const packed = new Set(passagesOf(recall).map((passage) => passage.pageId));
  const known = factsOf(recall).filter((fact) => fact.packed);
  return [
    ...known.slice(0, MOST_FACT_THREADS).map((fact) => `[data-record-id="${CSS.escape(fact.id)}"]`),
    ...[...new Set([...recall.hits.map((hit) => hit.pageId).filter((id) => packed.has(id)), ...packed])].map((id) => `[data-testid=grain][data-page-id="${CSS.escape(id)}"]`),
  ];
}

function measure(exchangeId: string, ranked: string[]): Thread[] {
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
  for (const selector of ranked) {
    const grain = document.querySelector<SVGElement>(`.drawing ${selector}[data-lit]`);
    if (!grain) continue;
    const from = grain.getBoundingClientRect();
    // Words stand on the middle of a line of the bedrock: its thread leaves by the gap below it.
    const isLine = grain.dataset.recordId !== undefined;
    const x = isLine ? from.left + LINE_EDGE_PX : from.left + from.width / 2;
    const y = isLine ? from.bottom + LINE_EDGE_PX : from.top + from.height / 2;
    if (y < drawing.top || y > drawing.bottom) continue;
    threads.push({ id: selector, path: route({ x, y }, drawing.left, grain.dataset.tier === 'short' ? LANE_PX : 0, { x: endX, y: endY }) });
    if (threads.length === MOST_THREADS) break;
  }
  return threads;
}

/** Along the grains' own row, or in the lane below it, out of the picture and only then to the answer: so it crosses no words. */
function route(from: Point, left: number, lane: number, to: Point): string {
  const out = { x: left + 8, y: from.y + lane };
  const middle = (out.x + to.x) / 2;
  const turn = lane === 0 ? '' : `Q${point({ x: from.x, y: out.y })} ${point({ x: Math.max(from.x - lane, out.x), y: out.y })} `;
  return `M${point(from)} ${turn}L${point(out)} C${point({ x: middle, y: out.y })} ${point({ x: middle, y: to.y })} ${point(to)}`;
}

function point({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
