import { expect, test } from 'vitest';
import type { PageView, SegmentView, TiersView } from 'memstrata';
import { layOut, pebble } from '../src/strata/layout';

const page = (id: string, waiting = false): PageView => ({
  id, userInput: 'hello', agentResponse: 'there', userName: 'user', agentName: 'assistant', time: 0, offsetMinutes: 0, session: 's', tier: 'short', metadata: {}, waiting, segmentIds: [], neverRecall: false,
});

const segment = (id: string, heat: number, pages: number, tier: 'mid' | 'archive' = 'mid'): SegmentView => ({
  id, summary: '', keywords: [], theme: id, pages: Array.from({ length: pages }, (_, index) => `${id}-${index}`), tier,
  heat: { value: heat, nVisit: 0, lInteraction: 0, rRecency: 0 }, lastAccess: 0, enriched: false, startTime: null, endTime: null,
});

const view = (short: number, mid: SegmentView[], archive: SegmentView[] = []): TiersView => ({
  shortTerm: Array.from({ length: short }, (_, index) => page(`p${index}`)), midTerm: mid, archive, heatThreshold: 5,
});

test('grains lie in order and within the picture, at 320 pixels too', () => {
  for (const width of [320, 420, 900]) {
    const { grains, zones } = layOut(view(14, []), width, 600);
    for (const [index, grain] of grains.entries()) {
      expect(grain.x + grain.r).toBeLessThanOrEqual(width);
      expect(grain.y + grain.r).toBeLessThanOrEqual(zones.mid.y);
      const before = grains[index - 1];
      if (before) expect(grain.y > before.y || grain.x > before.x).toBe(true);
    }
  }
});

test('bands fall from hot to cold, with the tau line between', () => {
  const { bands, tauY } = layOut(view(3, [segment('cold', 1, 2), segment('hot', 9, 4), segment('warm', 4.9, 8)]), 400, 600);
  expect(bands.map((band) => band.segment.id)).toEqual(['hot', 'warm', 'cold']);
  expect(tauY).toBeGreaterThan(bands[0]!.y + bands[0]!.height);
  expect(tauY).toBeLessThan(bands[1]!.y);
});

test('width follows pages', () => {
  const { bands } = layOut(view(0, [segment('a', 3, 40), segment('b', 2, 20)]), 400, 600);
  expect(bands[1]!.width / bands[0]!.width).toBeCloseTo(0.5);
});

test('two hundred segments all have a place, none over another', () => {
  const { bands, zones, height } = layOut(view(10, Array.from({ length: 200 }, (_, index) => segment(`s${index}`, index / 20, 1 + (index % 30))), [segment('old', 0.1, 3, 'archive')]), 360, 600);
  expect(bands).toHaveLength(201);
  bands.forEach((band, index) => {
    if (index > 0) expect(band.y).toBeGreaterThanOrEqual(bands[index - 1]!.y + bands[index - 1]!.height);
  });
  expect(bands.at(-1)!.y).toBeGreaterThan(zones.archive.y);
  expect(height).toBe(zones.long.y + zones.long.height);
});

test('thin bands are announced, and the heats beside them stand apart', () => {
  const { bands, thin, ticks, tauY } = layOut(view(10, Array.from({ length: 200 }, (_, index) => segment(`s${index}`, Math.floor(index / 10), 1))), 360, 600);
  const laminae = bands.filter((band) => band.lamina);
  expect(thin!.count).toBe(laminae.length);
  expect(thin!.y).toBeLessThan(laminae[0]!.y);
  const taken = [...ticks.map((tick) => tick.y), tauY!].sort((a, b) => a - b);
  taken.forEach((y, index) => index > 0 && expect(y - taken[index - 1]!).toBeGreaterThanOrEqual(15));
  expect(new Set(ticks.map((tick) => tick.heat)).size).toBe(ticks.length);
});

test('as many as two dozen segments all keep their words, and without any there is no tau line', () => {
  for (const count of [3, 20, 24]) expect(layOut(view(3, Array.from({ length: count }, (_, index) => segment(`s${index}`, 2, 1))), 360, 600).thin).toBeNull();
  expect(layOut(view(0, []), 360, 600)).toMatchObject({ bands: [], ticks: [], thin: null, tauY: null });
});

test('a page keeps its shape', () => {
  expect(pebble('p1', 10)).toBe(pebble('p1', 10));
  expect(pebble('p1', 10)).not.toBe(pebble('p2', 10));
});
