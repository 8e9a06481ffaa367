import { expect, test } from 'vitest';
import { heatColour, heatPlace, heatTicks } from '../src/strata/heat';

test('each tick of the scale is a quarter of it further on, with tau in the middle', () => {
  expect(heatTicks(5).map((heat) => heatPlace(heat, 5))).toEqual([0, 0.25, 0.5, 0.75, 1]);
});

test('heats far over tau still differ, and none falls off the scale', () => {
  expect(heatPlace(16, 5)).toBeGreaterThan(heatPlace(11, 5));
  for (const heat of [0, -1, NaN, 1e-9]) expect(heatPlace(heat, 5)).toBe(0);
  for (const heat of [20, 1e9, Infinity]) expect(heatPlace(heat, 5)).toBe(1);
  expect(heatPlace(3, 0)).toBe(1);
});

test('slate, amber and red are the marks of the scale', () => {
  expect(heatColour(0, 5)).toContain('--heat-amber) 0%');
  expect(heatColour(5, 5)).toContain('--heat-amber) 100%');
  expect(heatColour(20, 5)).toContain('--heat-red) 100%');
});
