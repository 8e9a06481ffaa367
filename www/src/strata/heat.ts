/**
 * Colour of a heat: slate when cold, amber at tau, red from twice tau on. A place on the scale is never told by colour
 * alone; its number stands beside it.
 */
export function heatColour(heat: number, tau: number): string {
  const share = tau > 0 ? heat / tau : 0;
  if (share <= 1) return `color-mix(in oklab, var(--heat-amber) ${percent(share)}, var(--heat-slate))`;
  return `color-mix(in oklab, var(--heat-red) ${percent(share - 1)}, var(--heat-amber))`;
}

function percent(share: number): string {
  return `${Math.round(Math.min(Math.max(share, 0), 1) * 100)}%`;
}
