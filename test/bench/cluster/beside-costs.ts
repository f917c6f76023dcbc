import type { Look } from '../../../deploy/terminal/paint.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import type { Machine } from '../machine.ts';
import type { Beside } from './beside.ts';

/** CPU milliseconds an image by part, without what the cluster needs at rest. */
export interface BesideCosts {
  part: string;
  alone: number;
  /** Beside the others, without what their changes cost. */
  beside: number;
}

/** The most that an image may cost beside the others, to its cost alone. */
export const mostBeside = 1.1;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * What an image costs alone and beside others. Runs beside few and many changes are on a line (least squares): its slope is what a change
 * costs beside images, and where it meets no changes is what the images cost.
 */
export function besideCosts({ images, alone, beside }: Beside): BesideCosts[] {
  const parts = [...new Set([...alone.runs, ...beside.runs].flatMap(({ cpu }) => Object.keys(cpu)))];
  const changes = beside.runs.map((run) => run.changes);
  const off = changes.map((count) => count - mean(changes));
  const spread = off.reduce((sum, value) => sum + value ** 2, 0);
  return parts.map((part) => {
    const own = ({ rest, runs }: Beside['alone']) => {
      const atRest = (rest.cpu[part] ?? 0) / rest.seconds;
      return runs.map(({ cpu, seconds }) => (((cpu[part] ?? 0) - atRest * seconds) * 1000) / images);
    };
    const costs = own(beside);
    const slope = costs.reduce((sum, cost, run) => sum + cost * (off[run] ?? 0), 0) / spread;
    return { part, alone: mean(own(alone)), beside: mean(costs) - slope * mean(changes) };
  });
}

/** As a table, and whether an image costs no more than it may. */
export function reportBeside(costs: readonly BesideCosts[], machine: Machine, look: Look) {
  const sum = (of: 'alone' | 'beside') => costs.reduce((all, one) => all + one[of], 0);
  const ratio = sum('beside') / sum('alone');
  const lines = [
    measuredOn(machine),
    '',
    'CPU for each image, in milliseconds, by part, without that of a cluster at rest and of changes of the others',
    ...costTable(
      ['ALONE', 'BESIDE'],
      costs.map(({ part, alone, beside }) => [part, alone, beside]),
      look,
    ),
    '',
    `Beside the others an image costs ${ratio.toFixed(2)} × what it costs alone; at most ${mostBeside} is promised.`,
  ];
  return { lines, ok: ratio <= mostBeside };
}

export function measuredOn({ processors, node, load }: Machine): string {
  const [before, after] = load.map((one) => one.toFixed(1));
  return `Measured on ${processors}, Node ${node}, load ${before} before and ${after} after.`;
}

/** Milliseconds by part, of one way and of another; all parts first, then the dearest. */
export function costTable(
  titles: readonly [string, string],
  costs: readonly (readonly [part: string, one: number, other: number])[],
  look: Look,
): string[] {
  const all = costs.reduce(([name, one, other], cost) => [name, one + cost[1], other + cost[2]] as const, [
    'all',
    0,
    0,
  ] as const as readonly [string, number, number]);
  const rows = [all, ...costs.toSorted((a, b) => b[1] - a[1])].map(([part, one, other]) => [
    part,
    ...[one, other, other - one].map((value) => value.toFixed(0)),
  ]);
  const right = (title: string) => ({ title, align: 'right' }) as const;
  return tableLines([{ title: 'PART' }, ...[...titles, 'MORE'].map(right)], rows, look);
}
