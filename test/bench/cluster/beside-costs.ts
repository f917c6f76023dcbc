import type { Look } from '../../../deploy/terminal/paint.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import type { Machine } from '../machine.ts';
import type { Beside } from './beside.ts';

/** CPU milliseconds an image by part. */
export interface BesideCosts {
  part: string;
  without: number;
  /** Beside the others, with what a change of them costs taken off for each. */
  beside: number;
}

/** The most that an image may cost beside the others, to its cost alone. */
export const mostBeside = 1.1;

/**
 * What an image costs alone and beside others. What one change costs is the CPU of a while of changes less that of as long a while of
 * none; images bear the cluster's own CPU both times.
 */
export function besideCosts({ images, without, idle, alone, beside }: Beside): BesideCosts[] {
  const runs = [...without, ...beside, idle, alone];
  const parts = [...new Set(runs.flatMap(({ cpu }) => Object.keys(cpu)))];
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return parts.map((part) => {
    const idleEach = (idle.cpu[part] ?? 0) / idle.seconds;
    const change = ((alone.cpu[part] ?? 0) - idleEach * alone.seconds) / alone.changes;
    const perImage = (seconds: number) => (seconds * 1000) / images;
    return {
      part,
      without: mean(without.map(({ cpu }) => perImage(cpu[part] ?? 0))),
      beside: mean(beside.map(({ cpu, changes }) => perImage((cpu[part] ?? 0) - change * changes))),
    };
  });
}

/** As a table, and whether an image costs no more than it may. */
export function reportBeside(costs: readonly BesideCosts[], machine: Machine, look: Look) {
  const sum = (of: 'without' | 'beside') => costs.reduce((all, one) => all + one[of], 0);
  const ratio = sum('beside') / sum('without');
  const lines = [
    measuredOn(machine),
    '',
    'CPU for each image, in milliseconds, by part; what changes of the others cost by themselves is taken off',
    ...costTable(
      ['ALONE', 'BESIDE'],
      costs.map(({ part, without, beside }) => [part, without, beside]),
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
