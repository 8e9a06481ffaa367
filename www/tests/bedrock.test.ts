import { expect, test } from 'vitest';
import { en } from '../src/i18n/en';
import { recordsOf, type Bed } from '../src/strata/bedrock';
import { layOut } from '../src/strata/layout';
import { fact, trait } from './fake-memory';

const empty = { shortTerm: [], midTerm: [], archive: [], heatThreshold: 5 };
const bed = (index: number, text = `line ${index}`): Bed => ({ kind: 'fact', id: `f${index}`, text, label: text, struck: false });

test('what holds lies before what held, and what is archived is left to the list', () => {
  const text = { version: 1, of: 'user', text: 'Likes the sea.', recordedAt: 0 } as const;
  const beds = recordsOf(
    { user: text, assistant: null, versions: [text], name: null, gender: null, birthYear: null },
    [trait(3)],
    [fact('was', 'city', 'Lisbon', { validTo: 1, reason: 'later' }), fact('is', 'city', 'Porto'), fact('stowed', 'pet', 'cat', { archived: true })],
    en,
    (each) => each.name,
  );
  expect(beds.map((each) => [each.kind, each.id, each.struck])).toEqual([['profile', 'profile_user', false], ['fact', 'is', false], ['trait', 'trait_3', false], ['fact', 'was', true]]);
  expect(beds.at(-1)!.label).toContain(en.closeReasons.later);
});

test.each([320, 360, 420, 900])('lines lie within the picture and apart, %d pixels wide', (width) => {
  for (const count of [1, 5, 16, 17, 240]) {
    const { lines, thinLines, zones, height } = layOut(empty, width, 400, Array.from({ length: count }, (_, index) => bed(index, index % 3 ? 'home city: Porto' : '住在一座很长很长名字的城市里，那里有河有海，还有一座桥')));
    expect(lines).toHaveLength(count);
    expect(thinLines?.count ?? 0).toBe(Math.max(0, count - 16));
    expect(height).toBe(zones.long.y + zones.long.height);
    lines.forEach((line, index) => {
      expect(line.x).toBeGreaterThanOrEqual(16);
      expect(line.x + line.width).toBeLessThanOrEqual(width - 16 + 0.01);
      expect(line.y).toBeGreaterThan(zones.long.y + 22);
      expect(line.y + line.height).toBeLessThanOrEqual(height);
      const before = lines[index - 1];
      if (before) expect(line.y >= before.y + before.height || line.x >= before.x + before.width).toBe(true);
    });
  }
});

test('without any the rock keeps its room', () => {
  const { lines, zones, height } = layOut(empty, 400, 600);
  expect(lines).toEqual([]);
  expect(zones.long.height).toBe(72);
  expect(height).toBe(600);
});
