import { audit, type Cost, type Memory } from './measure.ts';

/** The most that an event may cost beside the most objects, to the fewest. */
export const mostGrowth = 1.5;

/** The longest time in milliseconds for which a function may do nothing else. */
export const longestBlockMs = 50;

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
    const growth = Math.max(
      ratio(last.requests, first.requests),
      ratio(last.elsewhere, first.elsewhere),
      // A kilobyte is nothing, however often it is more than nothing.
      ratio(last.bytes - 1000, first.bytes),
    );
    return [{ beside: first.beside, batch: first.batch, function: first.function, costs: of, growth }];
  });
}

/** An event asks for more beside more objects, unless it is known to concern all of them; an audit for more than there are more objects. */
export const isGrown = ({ batch, costs, growth }: Row) =>
  growth > mostGrowth * (batch === audit || mayGrow(costs) ? ratio(costs.at(-1)?.count ?? 0, costs[0]?.count ?? 0) : 1);

const mayGrow = (costs: readonly Cost[]) => costs.some((cost) => cost.mayGrow);

/** Nothing else could run for too long, in an event or in a part of an audit. */
export const blocks = ({ costs }: Row) => costs.some(({ blockMs }) => blockMs > longestBlockMs);

const ratio = (most: number, fewest: number) => (most <= fewest ? 1 : most / Math.max(fewest, 1));

const markdown = (titles: readonly string[], rows: readonly (readonly string[])[]) =>
  [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);

const countsOf = ({ costs }: Row) => costs.map(({ count }) => count.toLocaleString('en')).join(' · ');
const cells = ({ costs }: Row, of: (cost: Cost) => number, digits: number) =>
  costs.map((cost) => (of(cost) % 1 === 0 ? `${of(cost)}` : of(cost).toFixed(digits))).join(' · ');
/** Of OpenStack, or of the server of a source. */
const elsewhere = (row: Row) =>
  row.costs.some((cost) => cost.elsewhere > 0) ? cells(row, (cost) => cost.elsewhere, 1) : '';
const cpuGrowth = ({ costs }: Row) => ratio(costs.at(-1)?.cpuMs ?? 0, costs[0]?.cpuMs ?? 0);

/** The last two columns: beside the most objects to beside the fewest. */
export function eventTable(rows: readonly Row[]): string[] {
  const titles = ['beside', 'event', 'function', 'requests', 'elsewhere', 'kB', 'CPU ms', '× requests or kB', '× CPU'];
  return markdown(
    titles,
    rows
      .filter(({ batch }) => batch !== audit)
      .map((row) => [
        `${countsOf(row)} ${row.beside}`,
        row.batch,
        mayGrow(row.costs) ? `${row.function} (concerns all)` : row.function,
        cells(row, ({ requests }) => requests, 1),
        elsewhere(row),
        cells(row, ({ bytes }) => bytes / 1000, 1),
        cells(row, ({ cpuMs }) => cpuMs, 1),
        row.growth.toFixed(2),
        cpuGrowth(row).toFixed(2),
      ]),
  );
}

/** The last two columns: beside the most objects to beside the fewest, for each object; 1 is linear. */
export function auditTable(rows: readonly Row[]): string[] {
  const titles = [
    'audit of',
    'function',
    'requests',
    'elsewhere',
    'MB',
    'CPU ms',
    'block ms',
    '× requests or kB',
    '× CPU',
  ];
  const perObject = ({ costs }: Row, growth: number) =>
    (growth / ratio(costs.at(-1)?.count ?? 0, costs[0]?.count ?? 0)).toFixed(2);
  return markdown(
    titles,
    rows
      .filter(({ batch }) => batch === audit)
      .map((row) => [
        `${countsOf(row)} ${row.beside}`,
        row.function,
        cells(row, ({ requests }) => requests, 0),
        elsewhere(row),
        cells(row, ({ bytes }) => bytes / 1e6, 1),
        cells(row, ({ cpuMs }) => cpuMs, 0),
        cells(row, ({ blockMs }) => blockMs, 0),
        perObject(row, row.growth),
        perObject(row, cpuGrowth(row)),
      ]),
  );
}

/** The crowd beside which each function's process needed the most. */
export function memoryTable(memory: readonly Memory[]): string[] {
  const mebibytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
  const rows = [...Map.groupBy(memory, (one) => one.function)].flatMap(([name, of]) => {
    const most = of.toSorted((a, b) => b.peak - a.peak)[0];
    if (!most) return [];
    const limit = `${mebibytes(most.limit)}${most.isLimited ? '' : ' (not enforced here)'}`;
    const rest = Math.max(...of.map((one) => one.rest));
    return [[name, mebibytes(rest), mebibytes(most.peak), most.beside, limit]];
  });
  return markdown(['function', 'MiB at rest', 'at most', 'beside', 'limit'], rows);
}
