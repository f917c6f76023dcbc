import { bareNode, lowerQuartileOf, type StartCost } from './cold-start.ts';
import type { FailedBytes } from './failed-bytes.ts';
import { deliveriesOf, type ImageEvents } from './image-events.ts';
import { audit, nothingToDo, type ReconcileCost } from './reconcile-costs.ts';
import { spreadOf } from './spread.ts';
import type { SyncRun } from './sync-run.ts';
import { readsPerImage, writeCosts, writesPerImage } from './write-costs.ts';

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
}

/** All that a run measured. */
export interface Measured {
  runs: readonly SyncRun[];
  reconciles: readonly ReconcileCost[];
  bytes: readonly FailedBytes[];
  starts: readonly StartCost[];
  events: ImageEvents;
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
export function boundsOf({ runs, reconciles, bytes, starts, events }: Measured): Bound[] {
  return [
    ...handOverBounds(runs),
    ...runs.flatMap(costBounds),
    ...eventBounds(events),
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

const costBounds = (run: SyncRun): Bound[] => [
  bound(`writes to Succeeded, ${run.images} queued`, writesPerImage(writeCosts(run), 'to Succeeded'), 9.4, 'an image'),
  bound(`reads, ${run.images} queued`, readsPerImage(run), 34, 'an image'),
];

/** About a tenth above what is found, for how often CDI reports progress is a matter of time. */
const eventBounds = ({ images, deliveries, events, hops }: ImageEvents): Bound[] => [
  bound('events', events / images, 39, 'an image'),
  bound('deliveries', deliveriesOf(deliveries) / images, 41, 'an image'),
  bound('hops through a filter', hops / images, 97, 'an image'),
];

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
