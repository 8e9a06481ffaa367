import type { Picture } from './layout';

/** More grains than this at once is an import, not a movement to follow. */
const MOST_MOVERS = 40;
const SINK_MS = 900;
const SHIFT_MS = 450;

export type Places = Map<string, { x: number; y: number; tier: 'short' | 'mid' }>;

export function placesOf(picture: Picture): Places {
  const places: Places = new Map();
  for (const grain of picture.grains) places.set(grain.page.id, { x: grain.x, y: grain.y, tier: 'short' });
  for (const band of picture.bands) for (const speck of band.specks) places.set(speck.pageId, { x: speck.x, y: speck.y, tier: 'mid' });
  return places;
}

/** Lets every grain travel from where it lay to where it lies: shifted within its tier, or sunk into the next one. */
export function animateMoves(svg: SVGSVGElement, before: Places, after: Places): void {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const movers = [...after].filter(([id, to]) => {
    const from = before.get(id);
    return from !== undefined && (from.tier !== to.tier || (to.tier === 'short' && Math.hypot(from.x - to.x, from.y - to.y) > 1));
  });
  const arrivals = [...after].filter(([id, to]) => to.tier === 'short' && !before.has(id));
  if (movers.length > MOST_MOVERS || arrivals.length > MOST_MOVERS) return;
  for (const [id, to] of movers) {
    const from = before.get(id)!;
    const sinks = from.tier !== to.tier;
    grainOf(svg, id)?.animate(
      [
        { transform: `translate(${from.x}px, ${from.y}px) scale(${sinks ? 4 : 1})` },
        { transform: `translate(${to.x}px, ${to.y}px) scale(1)` },
      ],
      { duration: sinks ? SINK_MS : SHIFT_MS, easing: sinks ? 'cubic-bezier(.5,0,.3,1)' : 'ease-out' },
    );
  }
  for (const [id, to] of arrivals) {
    grainOf(svg, id)?.animate(
      [
        { transform: `translate(${to.x}px, ${to.y - 26}px)`, opacity: 0 },
        { transform: `translate(${to.x}px, ${to.y}px)`, opacity: 1 },
      ],
      { duration: SHIFT_MS, easing: 'cubic-bezier(.3,0,.4,1.3)' },
    );
  }
}

function grainOf(svg: SVGSVGElement, pageId: string): Element | null {
  return svg.querySelector(`[data-page-id="${CSS.escape(pageId)}"]`);
}
