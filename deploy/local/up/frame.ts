import { barOf } from '../terminal/bar.ts';
import { type Look, lineOf, type Span, styled } from '../terminal/paint.ts';
import { phaseSpan } from '../terminal/phase-style.ts';
import { tableLines } from '../terminal/table.ts';
import type { ClusterView, Fact, ImageRow } from './cluster-view.ts';

/** How many of the images and of the facts there is room for. */
export interface Room {
  images: number;
  facts: number;
}

/** The lines of the live display: a table of the images, and the last facts. */
export function render({ images, facts }: ClusterView, look: Look, room: Room): string[] {
  const hidden = images.length - room.images;
  return [
    '',
    ...(images.length === 0
      ? [lineOf([styled('dim', 'No image yet.')], look)]
      : tableLines(titles, images.slice(0, room.images).map(row), look)),
    ...(hidden > 0 ? [lineOf([styled('dim', `and ${hidden} more`)], look)] : []),
    ...(facts.length > 0 ? ['', ...facts.slice(-room.facts).map((fact) => lineOf(factSpans(fact), look))] : []),
  ];
}

/** One fact as one line. */
export const factLine = (fact: Fact, look: Look) => lineOf(factSpans(fact), look);

const titles = [
  { title: 'IMAGE' },
  { title: 'PHASE' },
  { title: 'PROGRESS' },
  { title: 'SLOT', align: 'right' },
  { title: 'WAITING FOR' },
] as const;

const barWidth = 16;

const row = ({ name, phase, share, slot, waiting }: ImageRow): Span[] => [
  name,
  phaseSpan(phase),
  share === undefined
    ? ''
    : styled('cyan', `${barOf(share, barWidth)} ${String(Math.floor(share * 100)).padStart(3)}%`),
  slot === undefined ? '' : String(slot),
  styled('dim', waiting),
];

const factSpans = ({ time, image, fact, message }: Fact): Span[] => [
  styled('dim', clockTime(time)),
  `  ${image}  `,
  fact,
  styled('dim', message ? `  ${message}` : ''),
];

/** The time of day where one is. */
function clockTime(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? time : date.toTimeString().slice(0, 8);
}
