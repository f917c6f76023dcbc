import type { Look } from '../../../deploy/terminal/paint.ts';
import { formatBytes } from '../../../deploy/terminal/quantities.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import { audit, type Cost, type Memory } from './measure.ts';

/** The most that an event may cost beside the most objects, to the fewest. */
export const mostGrowth = 1.5;

export interface Row {
  beside: string;
  batch: string;
  function: string;
  costs: readonly Cost[];
  /** The requests or bytes beside the most objects to those beside the fewest. */
  growth: number;
}

export function rowsOf(costs: readonly Cost[]): Row[] {
  const rows = Map.groupBy(costs, (cost) => [cost.beside, cost.batch, cost.function].join('|'));
  return [...rows.values()].flatMap((of) => {
    const [first, last] = [of[0], of.at(-1)];
    if (!first || !last) return [];
    // A kilobyte is nothing, however often it is more than nothing.
    const growth = Math.max(ratio(last.requests, first.requests), ratio(last.bytes - 1000, first.bytes));
    return [{ beside: first.beside, batch: first.batch, function: first.function, costs: of, growth }];
  });
}

/** An event asks for more beside more objects, an audit for more than there are more objects. */
export const isGrown = ({ batch, costs, growth }: Row) =>
  growth > mostGrowth * (batch === audit ? ratio(costs.at(-1)?.count ?? 0, costs[0]?.count ?? 0) : 1);

const ratio = (most: number, fewest: number) => (most <= fewest ? 1 : most / Math.max(fewest, 1));

const right = (title: string) => ({ title, align: 'right' }) as const;

export function costTable(rows: readonly Row[], look: Look): string[] {
  const cells = (of: (cost: Cost) => string, { costs }: Row) => costs.map(of).join(' · ');
  return tableLines(
    [
      { title: 'BESIDE' },
      { title: 'BATCH' },
      { title: 'FUNCTION' },
      ...['REQUESTS', 'KB', 'CPU MS', 'BLOCK MS', 'RATIO OF REQUESTS OR BYTES', 'OF CPU'].map(right),
    ],
    rows.map((row) => [
      `${row.costs.map(({ count }) => count).join(' · ')} ${row.beside}`,
      row.batch,
      row.function,
      cells(({ requests }) => requests.toFixed(requests % 1 === 0 ? 0 : 1), row),
      cells(({ bytes }) => (bytes / 1000).toFixed(1), row),
      cells(({ cpuMs }) => cpuMs.toFixed(1), row),
      cells(({ blockMs }) => blockMs.toFixed(0), row),
      row.growth.toFixed(1),
      ratio(row.costs.at(-1)?.cpuMs ?? 0, row.costs[0]?.cpuMs ?? 0).toFixed(1),
    ]),
    look,
  );
}

export const memoryTable = (memory: readonly Memory[], look: Look) =>
  tableLines(
    [{ title: 'RESIDENT MEMORY BESIDE' }, { title: 'FUNCTION' }, right('AT REST, FEWEST'), right('AT MOST')],
    memory.map(({ beside, function: name, rest, peak }) => [beside, name, formatBytes(rest), formatBytes(peak)]),
    look,
  );
