import { bareNode, lowerQuartileOf, type StartCost } from './cold-start.ts';
import type { FailedBytes } from './failed-bytes.ts';
import { type Figure, lifeTables } from './life-tables.ts';
import { type Life, type LifeName, sumOf } from './lives.ts';
import { audit, nothingToDo, type ReconcileCost } from './reconcile-costs.ts';
import { spreadOf } from './spread.ts';
import type { SyncRun } from './sync-run.ts';
import { type Part, readsPerImage, writeCosts, writesPerImage } from './write-costs.ts';

/** A promise about cost, and what this run found. */
export interface Bound {
  what: string;
  found: number;
  most: number;
  /** What both are counted in. */
  unit: string;
  holds: boolean;
  /** Time beside time: what else the machine does may break it. Others are counted, the same on every machine. */
  isTimed: boolean;
  /** Whose events or requests these are. */
  life?: LifeName;
}

/** All that a run measured. */
export interface Measured {
  runs: readonly SyncRun[];
  reconciles: readonly ReconcileCost[];
  bytes: readonly FailedBytes[];
  starts: readonly StartCost[];
  lives: readonly Life[];
}

const bound = (what: string, found: number, most: number, unit: string): Bound => ({
  what,
  found,
  most,
  unit,
  // Nothing measured is NaN, which holds nothing.
  holds: found <= most,
  isTimed: false,
});
const timed = (...of: Parameters<typeof bound>): Bound => ({ ...bound(...of), isTimed: true });

/** What is promised, each against what was measured. */
export function boundsOf({ runs, reconciles, bytes, starts, lives }: Measured): Bound[] {
  return [
    ...handOverBounds(runs),
    ...runs.flatMap(costBounds),
    ...lives.flatMap((life) => lifeBounds(life)),
    ...sweepBounds(reconciles),
    ...growthBounds(reconciles),
    ...bytes.map(bytesBound),
    ...startBounds(starts),
  ];
}

function startBounds(starts: readonly StartCost[]): Bound[] {
  const bare = starts.find(({ what }) => what === bareNode);
  const functions = starts.filter((cost) => cost !== bare);
  return functions.flatMap((cost) => {
    const ratio = lowerQuartileOf(cost.firstAnswerMs) / lowerQuartileOf(bare?.firstAnswerMs ?? []);
    const own = (cost.ownBytes ?? Number.NaN) / 1e6;
    return [
      timed(`start to first answer, ${cost.what}`, ratio, 5, '× bare Node'),
      ...(cost.ownBytes === undefined ? [] : [bound(`memory of its own at rest, ${cost.what}`, own, 70, 'MB')]),
    ];
  });
}

/** Only the longest queue has enough hand-overs for a 95th percentile; the shorter ones warm the process up. */
function handOverBounds(runs: readonly SyncRun[]): Bound[] {
  const run = runs.at(-1);
  if (!run) return [];
  const ratio = spreadOf(run.handOversMs).p95 / spreadOf(run.baselineMs).p95;
  return [timed('slot free → next DataVolume, p95', ratio, 10, '× GET + PUT + POST')];
}

/** What is found of each part, and a half: a write more for each image breaks it. */
const mostWrites: Readonly<Record<Part, number>> = {
  'to Succeeded': 9.4,
  'after Succeeded': 2.5,
  progress: 0.5,
  Events: 1.5,
  refused: 0.5,
};

const costBounds = (run: SyncRun): Bound[] => [
  ...(Object.keys(mostWrites) as Part[]).map((part) => {
    const found = writesPerImage(writeCosts(run), part);
    return bound(`writes ${part}, ${run.images} queued`, found, mostWrites[part], 'an image');
  }),
  bound(`reads, ${run.images} queued`, readsPerImage(run), 34, 'an image'),
];

/** A half of one more; of what is many nearly a third, for a faster or a busier machine merges fewer changes, or more. */
const withSlack = (found: number) => found + Math.max(0.5, 0.3 * found);

/** Against the committed table; what the table does not know may not occur. */
function lifeBounds(life: Life, table = lifeTables[life.what]): Bound[] {
  const mostOf = (figure: Figure | undefined): number => {
    if (figure === undefined) return 0;
    if (typeof figure === 'number') return withSlack(figure);
    if ('most' in figure) return withSlack(figure.most);
    return withSlack((life.writes.get(figure.beside) ?? 0) / life.objects + figure.more);
  };
  const each = (what: string, count: number, figure: Figure | undefined): Bound => ({
    ...bound(what, count / life.objects, mostOf(figure), 'an object'),
    life: life.what,
  });
  const varying = new Set(
    Object.values(table.deliveries).flatMap((rows) =>
      Object.entries(rows).flatMap(([what, figure]) => (typeof figure === 'number' ? [] : [what])),
    ),
  );
  const steady = (counts: ReadonlyMap<string, number>) =>
    sumOf(new Map([...counts].filter(([what]) => !varying.has(what))));
  const [from, by] = [flat(table.deliveries, (trigger, what) => `${what} → ${trigger}`), flat(table.writes, joined)];
  return [
    each('events', steady(life.events), table.events),
    each('hops through a filter', steady(life.hops), table.hops),
    each('deliveries repeated', life.repeated, table.repeated),
    each('reads', life.reads, table.reads),
    ...[...life.deliveries].map(([what, count]) => each(what, count, from.get(what))),
    ...[...life.writes].map(([what, count]) => each(what, count, by.get(what))),
  ];
}

const joined = (first: string, second: string) => `${first} ${second}`;

const flat = (rows: Readonly<Record<string, Readonly<Record<string, Figure>>>>, keyOf: typeof joined) =>
  new Map(
    Object.entries(rows).flatMap(([outer, inner]) =>
      Object.entries(inner).map(([key, figure]) => [keyOf(outer, key), figure] as const),
    ),
  );

function sweepBounds(reconciles: readonly ReconcileCost[]): Bound[] {
  const sweeps = reconciles.filter(({ batch, reads, writes }) => batch === nothingToDo && reads + writes > 0);
  return namesIn(sweeps).map((name) => {
    const calls = sweeps.filter((cost) => cost.function === name).map(({ reads, writes }) => reads + writes);
    return bound(`sweep with nothing to do, ${name}`, Math.max(...calls), 3, 'calls');
  });
}

/** The audit apart, which pages through everything there is. */
function growthBounds(reconciles: readonly ReconcileCost[]): Bound[] {
  return namesIn(reconciles).map((name) => {
    const own = reconciles.filter((cost) => cost.function === name && cost.batch !== audit);
    const batches = new Set(own.map(({ batch }) => batch));
    const grown = [...batches].map((batch) => {
      const reads = own.filter((cost) => cost.batch === batch).map((cost) => cost.reads);
      return (reads.at(-1) ?? Number.NaN) - (reads[0] ?? Number.NaN);
    });
    return bound(`reads a reconcile that finished images add, ${name}`, Math.max(...grown), 0, 'reads');
  });
}

const bytesBound = ({ what, sent, needed, retryLimit, flowBytes }: FailedBytes): Bound =>
  bound(`bytes sent / needed, ${what}`, sent / needed, retryLimit + 1 + flowBytes / needed, '×');

const namesIn = (reconciles: readonly ReconcileCost[]) =>
  [...new Set(reconciles.filter(({ reads, writes }) => reads + writes > 0).map((cost) => cost.function))].sort();
