import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TiersView } from 'memstrata';
import { litFacts, litPages } from '../chat/log';
import { showCount, showHeat, showTime, t } from '../i18n/language';
import { facts, moved, stirred, traits } from '../memory/persona';
import { stats } from '../memory/view';
import { isOpen } from '../persona/record';
import { heatColour } from './heat';
import { fitText, HEAT_COLUMN, layOut, pebble, surface, type Band, type Grain, type Line, type Picture } from './layout';
import { animateMoves, placesOf, type Places } from './movement';
import { beds } from './records';
import { themeOf } from './theme';
import { held, same, selected, type Selected } from './selection';

const THEME_FONT = '500 12px system-ui, sans-serif';
const NOTE_FONT = '13px system-ui, sans-serif';

const STEPS: Record<string, number | undefined> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** The cross-section. Every grain and band can be reached by pointer, tap and arrow keys. */
export function Drawing({ view }: { view: TiersView }) {
  const frame = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const before = useRef<Places | null>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });

  useLayoutEffect(() => {
    const element = frame.current!;
    const measure = (): void => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const picture = useMemo(() => layOut(view, size.width, size.height, beds.value), [view, size, beds.value]);

  useEffect(() => {
    const places = placesOf(picture);
    if (before.current && svg.current && size.width > 0) animateMoves(svg.current, before.current, places);
    before.current = places;
  }, [view]);

  // What another size moved has not moved in memory.
  useEffect(() => {
    before.current = placesOf(picture);
  }, [size]);

  const order: Selected[] = [...picture.grains.map((grain) => ({ kind: 'page' as const, id: grain.page.id })), ...picture.bands.map((band) => ({ kind: 'segment' as const, id: band.segment.id })), ...picture.lines.map((line) => ({ kind: 'record' as const, id: line.bed.id }))];
  const current = order.findIndex((item) => same(item, selected.value));
  const stop = current >= 0 ? current : 0;

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    const target = event.key === 'Home' ? 0 : event.key === 'End' ? order.length - 1 : step === undefined ? undefined : Math.min(Math.max(stop + step, 0), order.length - 1);
    if (target !== undefined && order[target]) {
      event.preventDefault();
      held.value = false;
      selected.value = order[target];
      requestAnimationFrame(() => svg.current?.querySelector<SVGElement>(`[data-stop="${target}"]`)?.focus());
    } else if ((event.key === 'Enter' || event.key === ' ') && selected.value) {
      event.preventDefault();
      held.value = !held.value;
    } else if (event.key === 'Escape' && selected.value) {
      event.preventDefault();
      held.value = false;
      selected.value = null;
    }
  };

  return (
    <div class="drawing" ref={frame}>
      {size.width > 0 && (
        <svg
          ref={svg}
          role="group"
          aria-label={t.value.strataTitle}
          aria-description={t.value.pictureHint}
          width={picture.width}
          height={picture.height}
          viewBox={`0 0 ${picture.width} ${picture.height}`}
          onKeyDown={onKeyDown}
        >
          <Ground picture={picture} view={view} />
          {picture.bands.map((band, index) => (
            <BandShape key={band.segment.id} band={band} tau={view.heatThreshold} width={picture.width} index={picture.grains.length + index} stop={stop} />
          ))}
          <g aria-hidden="true">
            {picture.bands.map((band) => (
              <BandWords key={band.segment.id} band={band} tau={view.heatThreshold} width={picture.width} />
            ))}
          </g>
          <ThinBands picture={picture} tau={view.heatThreshold} />
          {picture.lines.map((line, index) => (
            <LineShape key={line.bed.id} line={line} index={picture.grains.length + picture.bands.length + index} stop={stop} />
          ))}
          <g aria-hidden="true">
            {picture.lines.map((line) => (
              <LineWords key={line.bed.id} line={line} />
            ))}
            {picture.thinLines && <text class="thin-note" x={16} y={picture.thinLines.y + 4}>{t.value.moreLines(showCount(picture.thinLines.count))}</text>}
          </g>
          {picture.tauY !== null && <TauLine y={picture.tauY} width={picture.width} tau={view.heatThreshold} />}
          {picture.grains.map((grain, index) => (
            <GrainShape key={grain.page.id} grain={grain} index={index} stop={stop} />
          ))}
        </svg>
      )}
    </div>
  );
}

/** The strata themselves, with their names. */
function Ground({ picture, view }: { picture: Picture; view: TiersView }) {
  const { width, height, zones } = picture;
  const words = t.value;
  const now = stats.value;
  const down = (y: number, seed: number): string => `${surface(y, width, seed)} L${width} ${height} L0 ${height}Z`;
  const midPages = view.midTerm.reduce((sum, segment) => sum + segment.pages.length, 0);
  const archivePages = view.archive.reduce((sum, segment) => sum + segment.pages.length, 0);
  const waiting = view.shortTerm.filter((page) => page.waiting).length;
  const shortNote = now ? words.shortTermCount(showCount(view.shortTerm.length), showCount(now.shortTerm.capacity)) + (waiting ? `, ${words.waitingCount(showCount(waiting))}` : '') : '';
  return (
    // Bare ground under the pointer tells nothing and takes the card away; the card itself may be entered.
    <g
      onPointerEnter={() => {
        if (!held.value) selected.value = null;
      }}
    >
      <rect class="ground short" width={width} height={height} />
      <path class="ground mid" d={down(zones.mid.y, 1)} />
      <Texture from={picture.midEnd} to={zones.mid.y + zones.mid.height} width={width} />
      {zones.archive.height > 0 && <path class="ground archive" d={down(zones.archive.y, 2)} />}
      <path class={`ground long${stirred.value ? ' stirred' : ''}`} data-testid="stratum-long" data-stirred={stirred.value ? 'true' : undefined} d={down(zones.long.y, 3)} />
      <Bedrock y={zones.long.y} width={width} height={zones.long.height} />
      <Heading y={zones.short.y} name={words.shortTerm} note={shortNote} width={width} />
      {view.shortTerm.length === 0 && <text class="ground-note" x={16} y={zones.short.y + 48}>{words.shortTermEmpty}</text>}
      <Heading y={zones.mid.y} name={words.midTerm} note={view.midTerm.length ? words.segmentCount(view.midTerm.length, midPages) : ''} width={width} />
      {view.midTerm.length === 0 && <text class="ground-note" x={16} y={zones.mid.y + 48}>{words.midTermEmpty}</text>}
      {zones.archive.height > 0 && <Heading y={zones.archive.y} name={words.archive} note={words.segmentCount(view.archive.length, archivePages)} width={width} />}
      <Heading y={zones.long.y} name={words.longTerm} note={picture.lines.length ? words.longTermCount(words.factCount(facts.value.filter(isOpen).length), words.traitCount(traits.value.length)) : ''} width={width} />
      {picture.lines.length === 0 && <text class="ground-note" x={16} y={zones.long.y + 46}>{fitText(words.longTermNote, width - 32, NOTE_FONT)}</text>}
    </g>
  );
}

function Heading({ y, name, note, width }: { y: number; name: string; note: string; width: number }) {
  return (
    <>
      <text class="zone-name" x={16} y={y + 22}>{name}</text>
      <text class="zone-note" x={width - 16} y={y + 22} text-anchor="end">{note}</text>
    </>
  );
}

/** Faint layers where mid-term memory has room left. */
function Texture({ from, to, width }: { from: number; to: number; width: number }) {
  const lines: string[] = [];
  for (let y = from + 34, gap = 38; y < to - 26; y += gap, gap += 14) lines.push(surface(y, width, y));
  return <path class="texture" d={lines.join(' ')} />;
}

/** Short strokes of rock below everything. */
function Bedrock({ y, width, height }: { y: number; width: number; height: number }) {
  const strokes: string[] = [];
  for (let row = 0; row < 2; row += 1) {
    for (let x = 10 + row * 17; x < width; x += 34) strokes.push(`M${x} ${y + height - 12 + row * 7} l${10 + ((x * 7) % 9)} 0`);
  }
  return <path class="bedrock" d={strokes.join(' ')} />;
}

/** What is said of bands too thin for words of their own. */
function ThinBands({ picture: { thin, ticks, width }, tau }: { picture: Picture; tau: number }) {
  return (
    <g aria-hidden="true">
      {thin && <text class="thin-note" x={16} y={thin.y + 4}>{t.value.thinLayers(showCount(thin.count))}</text>}
      {ticks.map((tick) => (
        <text key={tick.y} class="tick" x={width - 16} y={tick.y + 4} text-anchor="end">{showHeat(tick.heat, tau)}</text>
      ))}
    </g>
  );
}

function TauLine({ y, width, tau }: { y: number; width: number; tau: number }) {
  return (
    <g class="tau">
      <title>{t.value.thresholdNote(showHeat(tau))}</title>
      <line x1={16} x2={width - 16 - HEAT_COLUMN} y1={y} y2={y} />
      <text x={width - 16} y={y + 4} text-anchor="end">{t.value.threshold(showHeat(tau))}</text>
    </g>
  );
}

function GrainShape({ grain, index, stop }: { grain: Grain; index: number; stop: number }) {
  const { page } = grain;
  const lit = litPages.value.has(page.id);
  const words = t.value;
  const label = [words.pageLabel(showTime(page.time), page.userInput || page.agentResponse || words.noText), page.waiting ? words.waitingMark : '', lit ? words.usedMark : ''].filter(Boolean).join(', ');
  return (
    <g
      class={`grain${page.waiting ? ' waiting' : ''}${lit ? ' lit' : ''}`}
      data-testid="grain"
      data-page-id={page.id}
      data-tier="short"
      data-lit={lit ? 'true' : undefined}
      data-waiting={page.waiting ? 'true' : undefined}
      transform={`translate(${grain.x} ${grain.y})`}
      {...stopOf({ kind: 'page', id: page.id }, index, stop, label)}
    >
      <rect class="target" x={-14} y={-14} width={28} height={28} rx={14} />
      {lit && <circle class="halo" r={grain.r + 4} />}
      <path class="stone" d={pebble(page.id, grain.r)} />
    </g>
  );
}

function BandShape({ band, tau, width, index, stop }: { band: Band; tau: number; width: number; index: number; stop: number }) {
  const { segment } = band;
  const heat = showHeat(segment.heat.value, tau);
  const lit = segment.pages.filter((id) => litPages.value.has(id));
  const theme = themeOf(segment);
  const colour = heatColour(segment.heat.value, tau);
  const label = t.value.segmentLabel(theme, segment.pages.length, heat) + (lit.length ? `, ${t.value.usedMark}` : '');
  return (
    <g
      class={`band ${segment.tier}${lit.length ? ' lit' : ''}${band.lamina ? ' lamina' : ''}`}
      data-testid="segment"
      data-segment-id={segment.id}
      data-tier={segment.tier}
      data-lit={lit.length ? 'true' : undefined}
      {...stopOf({ kind: 'segment', id: segment.id }, index, stop, label)}
    >
      {/* The whole row answers to the pointer, however narrow the band is. */}
      <rect class="target" x={band.x - 5} y={band.y} width={width - 22} height={band.height} rx={4} />
      <rect class="layer" x={band.x} y={band.y} width={band.width} height={band.height} rx={band.lamina ? 1.5 : 4} style={{ fill: colour }} />
      {!band.lamina && <rect class="swatch-edge" x={band.x} y={band.y} width={4} height={band.height} rx={2} style={{ fill: colour }} />}
      {band.specks.map((speck) => {
        const used = litPages.value.has(speck.pageId);
        if (band.lamina && !used) return null;
        return (
          <g key={speck.pageId} class={`speck${used ? ' lit' : ''}`} data-testid="grain" data-page-id={speck.pageId} data-tier={segment.tier} data-lit={used ? 'true' : undefined} transform={`translate(${speck.x} ${speck.y})`}>
            <circle r={used ? 4.5 : 1.8} />
          </g>
        );
      })}
    </g>
  );
}

/** A band's words. They stand apart from its shape, whose label says them whole where here they are cut to fit. */
function BandWords({ band, tau, width }: { band: Band; tau: number; width: number }) {
  if (band.lamina) return null;
  return (
    <g class="band-words">
      <text class="theme" x={band.x + 11} y={band.y + 15}>
        {fitText(themeOf(band.segment), width - 32 - HEAT_COLUMN - 16, THEME_FONT)}
      </text>
      <text class="heat" x={width - 16} y={band.y + 18} text-anchor="end">
        {showHeat(band.segment.heat.value, tau)}
      </text>
    </g>
  );
}

/** A record of long-term memory as a slab of the bedrock. */
function LineShape({ line, index, stop }: { line: Line; index: number; stop: number }) {
  const { bed } = line;
  const words = t.value;
  const lit = litFacts.value.has(bed.id);
  const fresh = moved.value.has(bed.id);
  const label = [bed.label, fresh ? words.movedMark : '', lit ? words.usedMark : ''].filter(Boolean).join(', ');
  return (
    <g
      class={`line ${bed.kind}${bed.struck ? ' struck' : ''}${lit ? ' lit' : ''}${fresh ? ' fresh' : ''}${line.lamina ? ' lamina' : ''}`}
      data-testid="record-line"
      data-record-id={bed.id}
      data-kind={bed.kind}
      data-struck={bed.struck ? 'true' : undefined}
      data-lit={lit ? 'true' : undefined}
      data-moved={fresh ? 'true' : undefined}
      {...stopOf({ kind: 'record', id: bed.id }, index, stop, label)}
    >
      {line.lamina && <rect class="target" x={line.x} y={line.y - 3} width={line.width} height={line.height + 6} />}
      <rect class="slab" x={line.x} y={line.y} width={line.width} height={line.height} rx={line.lamina ? 1.5 : 4} />
      {!line.lamina && <rect class="target" x={line.x} y={line.y} width={line.width} height={line.height} rx={4} />}
      {bed.struck && line.lamina && <line class="strike" x1={line.x} x2={line.x + line.width} y1={line.y + line.height / 2} y2={line.y + line.height / 2} />}
    </g>
  );
}

/** A slab's words, cut to fit; its shape's label says them whole. */
function LineWords({ line }: { line: Line }) {
  if (line.lamina) return null;
  return (
    <text class={`line-words${line.bed.struck ? ' struck' : ''}`} x={line.x + 9} y={line.y + 16}>
      {fitText(line.bed.text.replace(/\s+/gu, ' '), line.width - 14, THEME_FONT)}
    </text>
  );
}

/** What makes a shape one stop of the picture: one of them takes the Tab key, the arrows lead to the others. */
function stopOf(item: Selected, index: number, stop: number, label: string) {
  return {
    role: 'button',
    tabindex: index === stop ? 0 : -1,
    'data-stop': index,
    'aria-label': label,
    'aria-pressed': held.value && same(selected.value, item),
    onPointerEnter: (event: PointerEvent) => {
      if (event.pointerType !== 'touch' && !held.value) selected.value = item;
    },
    onFocus: () => {
      if (!held.value) selected.value = item;
    },
    onClick: () => {
      held.value = !(held.value && same(selected.value, item));
      selected.value = item;
    },
  } as const;
}
