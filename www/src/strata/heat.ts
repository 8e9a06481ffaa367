/**
 * Colour of a heat, on a scale that doubles from tick to tick: heats run far over tau, because pages count until a model has
 * analysed them. Slate at a quarter of tau and below, amber at tau, red from four times tau on. A place on the scale is
 * never told by colour alone; its number stands beside it.
 */
export function heatColour(heat: number, tau: number): string {
  const place = heatPlace(heat, tau);
  return place <= 0.5
    ? `color-mix(in oklab, var(--heat-amber) ${percent(place * 2)}, var(--heat-slate))`
    : `color-mix(in oklab, var(--heat-red) ${percent(place * 2 - 1)}, var(--heat-amber))`;
}

/** Where a heat stands on the scale, from 0 to 1; tau is the middle. */
export function heatPlace(heat: number, tau: number): number {
  if (!(heat > 0)) return 0;
  if (!(tau > 0)) return 1;
  return Math.min(Math.max((Math.log2(heat / tau) + 2) / 4, 0), 1);
}

/** What the scale is marked with, from its beginning to its end. */
export function heatTicks(tau: number): number[] {
  return [tau / 4, tau / 2, tau, tau * 2, tau * 4];
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}
