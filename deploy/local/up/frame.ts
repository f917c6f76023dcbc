import { barOf } from '../../terminal/bar.ts';
import { machineColumns, machineRow } from '../../terminal/machine-table.ts';
import { type Look, lineOf, type Span, styled } from '../../terminal/paint.ts';
import { phaseSpan } from '../../terminal/phase-style.ts';
import { type Column, tableLines } from '../../terminal/table.ts';
import type { ClusterView, Fact, ImageRow } from './cluster-view.ts';

/** How many of the images, of the machines and of the facts there is room for. */
interface Room {
  images: number;
  machines: number;
  facts: number;
}

/** Divides this many lines: facts get a third at most, and machines and images what the other does not need. */
export function roomIn(rows: number, { images, machines, facts }: ClusterView): Room {
  const forFacts = machines.length > 0 && rows < 12 ? 0 : Math.min(6, Math.floor(rows / 3));
  const titles = machines.length > 0 ? 4 : 2;
  const shown = Math.min(forFacts, facts.length);
  const left = rows - (shown > 0 ? shown + 1 : 0) - titles;
  if (images.length + machines.length <= left) {
    return { images: images.length, machines: machines.length, facts: forFacts };
  }
  // Omitted rows are counted in a separate line.
  const half = Math.max(1, Math.floor(left / 2));
  const forMachines = Math.min(machines.length, Math.max(half, left - images.length));
  const forImages = Math.min(images.length, left - forMachines);
  return { images: fitted(forImages, images.length), machines: fitted(forMachines, machines.length), facts: forFacts };
}

const fitted = (room: number, wanted: number) => (room < wanted ? Math.max(1, room - 1) : wanted);

/** The lines of the live display: a table of the images, one of the machines where there are any, and the last facts. */
export function render({ images, machines, facts }: ClusterView, look: Look, room: Room): string[] {
  return [
    '',
    ...(images.length === 0
      ? [lineOf([styled('dim', 'No image yet.')], look)]
      : tableOf(titles, images.map(row), look, room.images)),
    ...(machines.length > 0
      ? [
          '',
          ...tableOf(
            machineColumns,
            machines.map((machine) => machineRow(machine, machine.message)),
            look,
            room.machines,
          ),
        ]
      : []),
    ...(Math.min(facts.length, room.facts) > 0
      ? ['', ...facts.slice(-room.facts).map((fact) => lineOf(factSpans(fact), look))]
      : []),
  ];
}

function tableOf(titles: readonly Column[], rows: readonly Span[][], look: Look, most: number): string[] {
  const hidden = rows.length - most;
  return [
    ...tableLines(titles, rows.slice(0, most), look),
    ...(hidden > 0 ? [lineOf([styled('dim', `and ${hidden} more`)], look)] : []),
  ];
}

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

const factSpans = ({ time, about, fact, message }: Fact): Span[] => [
  styled('dim', clockTime(time)),
  `  ${about}  `,
  fact,
  styled('dim', message ? `  ${message}` : ''),
];

/** The time of day where one is. */
function clockTime(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? time : date.toTimeString().slice(0, 8);
}
