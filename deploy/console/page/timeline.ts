import { type Bar, type Lanes, lanesOf, pasts, throughputOf, ticksOf } from '../lanes.ts';
import type { View } from '../view.ts';
import { byId, h, put, svg, text } from './dom.ts';
import { clock, duration, nameLink, size, urlOf } from './words.ts';

const words: Readonly<Record<Bar['kind'], string>> = {
  Succeeded: 'downloaded',
  Retrying: 'failed and tried again',
  Failed: 'failed',
  Queued: 'replaced by a new revision',
  running: 'running',
  forecast: 'waiting',
};
const kinds = Object.keys(words) as Bar['kind'][];

/** The letter of a bar, beside its colour. */
const marks: Readonly<Record<Bar['kind'], string>> = {
  Succeeded: '✓',
  Retrying: '↻',
  Failed: '✕',
  Queued: '–',
  running: '',
  forecast: '',
};

const chartHeight = 56;
const parts = 90;

/** Draws slots as lanes over time with the throughput below, and the same in words and as a table. */
export function drawTimeline(view: View, pastMs: number | undefined): void {
  const nowMs = Date.now();
  const lanes = lanesOf(view, nowMs, pastMs);
  const isWide = document.documentElement.clientWidth > 700;
  const laneHeight = lanes.count > 12 ? 10 : lanes.count > 6 ? 16 : 24;
  const height = lanes.count * laneHeight;
  const at = (ms: number) => ((ms - lanes.fromMs) / (lanes.toMs - lanes.fromMs)) * 100;
  const percent = (ms: number) => `${Math.min(100, Math.max(0, at(ms))).toFixed(2)}%`;
  const rates = throughputOf(view, { fromMs: lanes.fromMs, nowMs, count: parts });
  const most = Math.max(...rates);
  const offsetMs = new Date(nowMs).getTimezoneOffset() * 60_000;
  const ticks = ticksOf(lanes.fromMs, lanes.toMs, isWide ? 9 : 4, offsetMs);
  const bars = [...lanes.bars].sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
  const area = rates
    .map((rate, index) => `H${index} V${(100 - (most > 0 ? rate / most : 0) * 100).toFixed(1)}`)
    .join(' ');
  const chartTop = height + 22;
  // Something of it moves each time.
  byId('lanes').replaceChildren(
    svg(
      'svg',
      { class: 'lanes', width: '100%', height: chartTop + chartHeight + 20, 'aria-hidden': 'true' },
      ...Array.from({ length: lanes.count }, (_, lane) =>
        svg('rect', {
          ...{ class: 'lane', x: 0, width: '100%', rx: 3 },
          ...{ y: lane * laneHeight + 1, height: laneHeight - 2 },
        }),
      ),
      ...ticks.flatMap((ms) => [
        svg('line', { class: 'tick', x1: percent(ms), x2: percent(ms), y1: 0, y2: chartTop + chartHeight }),
        ...(at(ms) < 94
          ? [svg('text', { class: 'tick', x: percent(ms), dx: 3, y: chartTop + chartHeight + 14 }, label(ms, lanes))]
          : []),
      ]),
      ...bars.map((bar) => barOf(bar, { laneHeight, nowMs, percent, at, isNamed: bar.image in view.images })),
      svg(
        'svg',
        {
          ...{ x: 0, y: chartTop, width: percent(nowMs), height: chartHeight },
          ...{ viewBox: `0 0 ${parts} 100`, preserveAspectRatio: 'none' },
        },
        svg('path', { class: 'rate', d: `M0 100 ${area} H${parts} V100 Z` }),
      ),
      svg('text', { class: 'tick', x: 3, y: chartTop - 5 }, most > 0 ? `at most ${size(most)}/s` : 'no throughput'),
      svg('line', { class: 'now', x1: percent(nowMs), x2: percent(nowMs), y1: 0, y2: chartTop + chartHeight }),
    ),
  );
  text('lanes-words', describe(lanes, nowMs));
  drawTable(lanes, view);
}

const label = (ms: number, { fromMs, toMs }: Lanes) =>
  toMs - fromMs > 30 * 3_600_000
    ? new Date(ms).toLocaleDateString([], { weekday: 'short', hour: '2-digit' })
    : clock(ms);

interface Scale {
  laneHeight: number;
  nowMs: number;
  percent(ms: number): string;
  at(ms: number): number;
  /** Not of another user's image. */
  isNamed: boolean;
}

function barOf(
  { lane, image, fromMs, toMs, kind, message }: Bar,
  { laneHeight, nowMs, percent, at, isNamed }: Scale,
): SVGElement {
  const [y, height] = [lane * laneHeight + 2, laneHeight - 4];
  const share = Math.max(0, at(toMs)) - Math.max(0, at(fromMs));
  const width = `${Math.max(0.25, share).toFixed(2)}%`;
  const place = { x: percent(fromMs), y, height, rx: 2 };
  const title = `${image}: ${words[kind]}, ${clock(fromMs)} to ${clock(toMs)}${message ? `. ${message}` : ''}`;
  const mark = share > 3 ? `${marks[kind]} ${image.split('/').at(-1)}` : share > 1 ? marks[kind] : '';
  return svg(
    'a',
    // The table below leads there by keyboard.
    { class: `bar ${kind}`, href: isNamed ? urlOf({ section: 'images', key: image }) : undefined, tabindex: -1 },
    svg('title', {}, title),
    svg('rect', { ...place, width }),
    ...(kind === 'running'
      ? [
          svg('rect', {
            ...place,
            class: 'done',
            width: `${Math.max(0.25, at(nowMs) - Math.max(0, at(fromMs))).toFixed(2)}%`,
          }),
        ]
      : []),
    ...(laneHeight >= 16 && mark
      ? [svg('svg', { x: percent(fromMs), y, width, height }, svg('text', { x: 4, y: height / 2 + 4 }, mark))]
      : []),
  );
}

function describe({ bars, omitted, fromMs, toMs }: Lanes, nowMs: number): string {
  const counts = kinds
    .map((kind) => ({ kind, count: bars.filter((bar) => bar.kind === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${words[kind]}`);
  const last = Math.max(0, ...bars.filter(({ kind }) => kind === 'forecast').map((bar) => bar.toMs));
  const end =
    last > 0
      ? ` By the forecast the last of these is done ${last > toMs ? `in ${duration(last - nowMs)}` : `at ${clock(last)}`}.`
      : '';
  const rest = omitted > 0 ? ` ${omitted} earlier ones are left out.` : '';
  return `${duration(nowMs - fromMs)} back: ${counts.join(', ') || 'no download'}.${rest}${end}`;
}

/** What is drawn, for the keyboard and for screen readers, newest first. */
function drawTable({ bars }: Lanes, view: View): void {
  if (!byId<HTMLDetailsElement>('lanes-table').open) return;
  put(
    byId('lanes-rows'),
    ...[...bars]
      .sort((a, b) => b.fromMs - a.fromMs)
      .slice(0, 200)
      .map((bar) =>
        h(
          'tr',
          {},
          h(
            'td',
            { 'data-title': 'Image' },
            bar.image in view.images ? nameLink({ section: 'images', key: bar.image }) : bar.image,
          ),
          h('td', { 'data-title': 'From' }, clock(bar.fromMs)),
          h('td', { 'data-title': 'To' }, clock(bar.toMs)),
          h('td', { 'data-title': 'Result' }, words[bar.kind]),
          h('td', { class: bar.message ? 'message' : 'message empty', 'data-title': 'Message' }, bar.message),
        ),
      ),
  );
}

/** How far back one looks, as the address of the page says; undefined for as far as is useful. */
export function pastIn(search: string): number | undefined {
  const minutes = Number(new URLSearchParams(search).get('past'));
  return pasts.find((ms) => ms === minutes * 60_000);
}

/** The choices of the select: minutes, and words. */
export const pastOptions = pasts.map((ms) => [String(ms / 60_000), duration(ms)] as const);
