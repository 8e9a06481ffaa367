import type { PageView, SegmentView, TiersView } from 'memstrata';
import type { Bed } from './bedrock';

/** Where everything of the cross-section lies, in pixels of the picture. Pure: the same memory gives the same picture. */
export interface Picture {
  width: number;
  height: number;
  zones: Record<ZoneName, { y: number; height: number }>;
  grains: Grain[];
  bands: Band[];
  /** Height of the tau line, between the bands over it and those under it; `null` without bands. */
  tauY: number | null;
  /** Where it is said how many bands are too thin for their words; `null` if none is. */
  thin: { y: number; count: number } | null;
  /** Heats beside thin bands, no two of them closer than their words are high. */
  ticks: { y: number; heat: number }[];
  lines: Line[];
  /** Where it is said how many lines are too many for their words; `null` if none is. */
  thinLines: { y: number; count: number } | null;
  /** Foot of the lowest mid-term band. */
  midEnd: number;
}

export type ZoneName = 'short' | 'mid' | 'archive' | 'long';

export interface Grain {
  page: PageView;
  x: number;
  y: number;
  r: number;
}

export interface Band {
  segment: SegmentView;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Too many bands for their words: the coolest are drawn as thin laminae. */
  lamina: boolean;
  /** One speck a page, in the order they were said. */
  specks: { pageId: string; x: number; y: number }[];
}

/** A line of the bedrock. */
export interface Line {
  bed: Bed;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Too many lines for their words: the last are drawn as thin laminae. */
  lamina: boolean;
}

const SIDE = 16;
/** Room at the right for the number of a heat. */
export const HEAT_COLUMN = 46;
const HEADING = 30;
const GRAIN_PITCH = 30;
const GRAIN_RADIUS = 10;
const BAND = 28;
const BAND_GAP = 4;
const LAMINA = 6;
const LAMINA_GAP = 2;
const TAU_GAP = 22;
/** A line of small words between bands. */
const THIN_ROW = 20;
const TICK_PITCH = 15;
/** On a small screen the picture scrolls rather than lose its words. */
const LABELLED_AT_LEAST = 24;
/** The least that long-term memory takes up: its name, a line of words and the rock. */
const BEDROCK = 72;
/** Strokes of rock at the foot. */
const ROCK = 24;
const LINE = 24;
const LINE_GAP = 4;
const LINE_PADDING = 9;
const LINES_WITH_WORDS = 16;
const THIN_LINE = { width: 26, height: 6, pitch: 12 };
const EMPTY_ROW = 30;
const FOOT = 14;

export function layOut(tiers: TiersView, width: number, atLeast: number, beds: Bed[] = []): Picture {
  const inner = Math.max(width - 2 * SIDE, 120);
  const { lines, thinLines, height: bedrock } = layLines(beds, inner);
  const grains = layGrains(tiers.shortTerm, inner);
  const grainRows = Math.max(1, Math.ceil(tiers.shortTerm.length / perRow(inner)));
  const shortHeight = HEADING + grainRows * GRAIN_PITCH + FOOT;

  const midTerm = [...tiers.midTerm].sort((a, b) => b.heat.value - a.heat.value || a.id.localeCompare(b.id));
  const archive = [...tiers.archive].sort((a, b) => b.lastAccess - a.lastAccess || a.id.localeCompare(b.id));
  const most = Math.max(1, ...midTerm.map((s) => s.pages.length), ...archive.map((s) => s.pages.length));

  const archiveShown = Math.min(archive.length, 3);
  const archiveHeight = archive.length === 0 ? 0 : HEADING + archiveShown * (BAND + BAND_GAP) + (archive.length - archiveShown) * (LAMINA + LAMINA_GAP) + FOOT;
  const room = atLeast - shortHeight - archiveHeight - bedrock - HEADING - TAU_GAP - FOOT;
  const shown = labelled(midTerm.length, room);

  const bands: Band[] = [];
  let y = shortHeight + HEADING;
  let tauY: number | null = null;
  let thin: Picture['thin'] = null;
  midTerm.forEach((segment, index) => {
    if (tauY === null && segment.heat.value < tiers.heatThreshold) {
      tauY = y + TAU_GAP / 2 - 2;
      y += TAU_GAP;
    }
    if (index === shown) {
      thin = { y: y + THIN_ROW / 2, count: midTerm.length - shown };
      y += THIN_ROW;
    }
    const band = layBand(segment, y, index >= shown, inner, most);
    bands.push(band);
    y += band.height + (band.lamina ? LAMINA_GAP : BAND_GAP);
  });
  const ticks = layTicks(bands, tauY);
  if (midTerm.length > 0 && tauY === null) {
    tauY = y + TAU_GAP / 2 - 2;
    y += TAU_GAP;
  }
  if (midTerm.length === 0) y += EMPTY_ROW;
  const midHeight = y + FOOT - shortHeight;

  // A small memory leaves room: mid-term takes it, so that the bedrock lies at the foot of the panel.
  const spare = Math.max(0, atLeast - shortHeight - midHeight - archiveHeight - bedrock);
  const archiveY = shortHeight + midHeight + spare;
  y = archiveY + HEADING;
  archive.forEach((segment, index) => {
    const band = layBand(segment, y, index >= archiveShown, inner, most);
    bands.push(band);
    y += band.height + (band.lamina ? LAMINA_GAP : BAND_GAP);
  });

  const longY = archiveY + archiveHeight;
  return {
    width,
    height: longY + bedrock,
    zones: {
      short: { y: 0, height: shortHeight },
      mid: { y: shortHeight, height: midHeight + spare },
      archive: { y: archiveY, height: archiveHeight },
      long: { y: longY, height: bedrock },
    },
    grains,
    bands,
    tauY,
    thin,
    ticks,
    lines: lines.map((line) => ({ ...line, y: line.y + longY })),
    thinLines: thinLines && { ...thinLines, y: thinLines.y + longY },
    midEnd: shortHeight + midHeight - FOOT,
  };
}

function perRow(inner: number): number {
  return Math.max(1, Math.floor(inner / GRAIN_PITCH));
}

function layGrains(pages: PageView[], inner: number): Grain[] {
  const columns = perRow(inner);
  const pitch = Math.min(inner / columns, GRAIN_PITCH * 1.4);
  return pages.map((page, index) => ({
    page,
    x: SIDE + (index % columns) * pitch + GRAIN_PITCH / 2,
    y: HEADING + Math.floor(index / columns) * GRAIN_PITCH + GRAIN_PITCH / 2 + 2,
    // A long page is a larger grain; the square root keeps an essay from covering its neighbours.
    r: GRAIN_RADIUS - 2 + Math.min(4, Math.sqrt((page.userInput.length + page.agentResponse.length) / 60)),
  }));
}

/** Lines side by side, row by row, as long as their words; from the top of their zone. Those after the first have no words. */
function layLines(beds: Bed[], inner: number): { lines: Line[]; thinLines: Picture['thinLines']; height: number } {
  if (beds.length === 0) return { lines: [], thinLines: null, height: BEDROCK };
  const lines: Line[] = [];
  // Two in a row, even of the longest, where there is room for that.
  const most = inner >= 300 ? (inner - LINE_GAP) / 2 : inner;
  let x = 0;
  let y = HEADING + 2;
  for (const bed of beds.slice(0, LINES_WITH_WORDS)) {
    const width = Math.min(most, Math.max(48, textWidth(bed.text) + 2 * LINE_PADDING));
    if (x > 0 && x + width > inner) {
      x = 0;
      y += LINE + LINE_GAP;
    }
    lines.push({ bed, x: SIDE + x, y, width, height: LINE, lamina: false });
    x += width + LINE_GAP;
  }
  y += LINE + LINE_GAP;
  const rest = beds.slice(LINES_WITH_WORDS);
  if (rest.length === 0) return { lines, thinLines: null, height: Math.max(BEDROCK, y + ROCK) };
  const thinLines = { y: y + THIN_ROW / 2, count: rest.length };
  y += THIN_ROW + 2;
  const columns = Math.max(1, Math.floor((inner + LINE_GAP) / (THIN_LINE.width + LINE_GAP)));
  rest.forEach((bed, index) => {
    lines.push({ bed, x: SIDE + (index % columns) * (THIN_LINE.width + LINE_GAP), y: y + Math.floor(index / columns) * THIN_LINE.pitch, width: THIN_LINE.width, height: THIN_LINE.height, lamina: true });
  });
  y += Math.ceil(rest.length / columns) * THIN_LINE.pitch;
  return { lines, thinLines, height: y + ROCK };
}

/** About how wide words of 12 pixels are: Chinese ones are square. The drawing cuts them to what there is. */
function textWidth(text: string): number {
  let width = 0;
  for (const char of text) width += /\p{Script=Han}|[\u3000-\u30ff\uff00-\uffef]/u.test(char) ? 12 : 7.2;
  return width;
}

/** How many of `count` bands get their words, so that the rest still fits in `room` as laminae. */
function labelled(count: number, room: number): number {
  const full = BAND + BAND_GAP;
  const thin = LAMINA + LAMINA_GAP;
  if (count * full <= room || count <= LABELLED_AT_LEAST) return count;
  return Math.max(LABELLED_AT_LEAST, Math.min(count, Math.floor((room - count * thin) / (full - thin))));
}

/** The first of every run of thin bands of one heat has its number, where there is room for it. */
function layTicks(bands: Band[], tauY: number | null): Picture['ticks'] {
  const ticks: Picture['ticks'] = [];
  for (const { lamina, segment, y, height } of bands) {
    if (!lamina) continue;
    const tick = { y: y + height / 2, heat: segment.heat.value };
    const last = ticks.at(-1);
    const told = last !== undefined && Math.abs(last.heat - tick.heat) < 0.05;
    const taken = [last?.y, tauY].some((other) => other !== undefined && other !== null && Math.abs(other - tick.y) < TICK_PITCH);
    if (!told && !taken) ticks.push(tick);
  }
  return ticks;
}

function layBand(segment: SegmentView, y: number, lamina: boolean, inner: number, most: number): Band {
  const full = inner - HEAT_COLUMN;
  const width = Math.max(28, (segment.pages.length / most) * full);
  const height = lamina ? LAMINA : BAND;
  const pitch = Math.min(9, (width - 14) / Math.max(1, segment.pages.length - 1));
  return {
    segment,
    x: SIDE,
    y,
    width,
    height,
    lamina,
    specks: segment.pages.map((pageId, index) => ({ pageId, x: SIDE + 9 + index * pitch, y: lamina ? y + height / 2 : y + height - 5 })),
  };
}

/** The surface of a stratum: a calm line with the unevenness of something laid down, the same at every drawing. */
export function surface(y: number, width: number, seed: number): string {
  const step = width / 4;
  const wave = (index: number): number => Math.sin(seed * 12.9898 + index * 78.233) * 3;
  let path = `M0 ${y + wave(0)}`;
  for (let index = 1; index <= 4; index += 1) {
    const x = index * step;
    path += ` C${x - step * 0.6} ${y + wave(index - 1) + wave(index + 7)} ${x - step * 0.4} ${y + wave(index) - wave(index + 7)} ${x} ${y + wave(index)}`;
  }
  return path;
}

/** A pebble of radius `r` around the origin, its shape following from the page's id. */
export function pebble(id: string, r: number): string {
  let state = 2166136261;
  for (const char of id) state = Math.imul(state ^ char.codePointAt(0)!, 16777619) >>> 0;
  const corners = Array.from({ length: 7 }, (_, index) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const reach = r * (0.84 + (state / 2 ** 32) * 0.28);
    const angle = (index / 7) * 2 * Math.PI + (state % 97) / 400;
    return [Math.cos(angle) * reach * 1.06, Math.sin(angle) * reach * 0.94] as const;
  });
  const between = (a: readonly [number, number], b: readonly [number, number]): string => `${((a[0] + b[0]) / 2).toFixed(1)} ${((a[1] + b[1]) / 2).toFixed(1)}`;
  const start = between(corners[6]!, corners[0]!);
  return `M${start} ${corners.map((corner, index) => `Q${corner[0].toFixed(1)} ${corner[1].toFixed(1)} ${between(corner, corners[(index + 1) % 7]!)}`).join(' ')}Z`;
}

let canvas: CanvasRenderingContext2D | null | undefined;

/** Cuts text to a width, so that no theme runs over its heat. */
export function fitText(text: string, width: number, font: string): string {
  canvas ??= document.createElement('canvas').getContext('2d');
  if (!canvas) return text;
  canvas.font = font;
  if (canvas.measureText(text).width <= width) return text;
  const chars = [...text];
  let low = 0;
  let high = chars.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (canvas.measureText(`${chars.slice(0, middle).join('')}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${chars.slice(0, low).join('').trimEnd()}…`;
}
