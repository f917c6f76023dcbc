import { type Look, lineOf, type Span, styled } from '../../deploy/terminal/paint.ts';
import { formatBytes, formatSeconds } from '../../deploy/terminal/quantities.ts';
import { tableLines } from '../../deploy/terminal/table.ts';
import type { Bound, Measured } from './bounds.ts';
import { lowerQuartileOf, medianOf } from './cold-start.ts';
import { type Life, lifeNames, sumOf } from './lives.ts';
import type { Machine } from './machine.ts';
import type { ReconcileCost } from './reconcile-costs.ts';
import { spreadOf } from './spread.ts';
import type { SyncRun } from './sync-run.ts';
import { type Part, readsPerImage, writeCosts, writesPerImage } from './write-costs.ts';

/** The result of one `npm run bench`. */
export interface BenchResult extends Measured {
  ok: boolean;
  tookMs: number;
  machine: Machine;
  bounds: readonly Bound[];
}

/** The figures, then the promises they are held to. */
export function report(result: BenchResult, look: Look): string[] {
  const { machine, runs, reconciles, bytes, starts, lives, bounds } = result;
  const [before, after] = machine.load.map((load) => load.toFixed(1));
  return [
    '',
    `Measured in ${formatSeconds(result.tookMs)} on ${machine.processors}, Node ${machine.node}, load ${before} before and ${after} after.`,
    ...section('Handing a slot on, held against the bare requests in between', handOvers(runs, look)),
    ...section('Writes for each image', writes(runs, look)),
    ...section('Reads of one reconcile, by the number of finished images', reads(reconciles, look)),
    ...section('Bytes of failing downloads', bytesTable(bytes, look)),
    ...section(
      'From the start of a process to its first answer, telemetry on; memory when it rests',
      startsTable(starts, look),
    ),
    ...section('Deliveries of an object', deliveriesTable(lives, look)),
    ...lives
      .filter(({ what }) => what === lifeNames[0])
      .flatMap((life) => section('What the events of an image lead to', outcomesTable(life, look))),
    ...lifeNames.flatMap((what) => {
      const own = bounds.filter(({ life }) => life === what);
      return own.length === 0 ? [] : section(`Promises: ${what}`, promises(own, look));
    }),
    ...section(
      'Promises',
      promises(
        bounds.filter(({ life }) => life === undefined),
        look,
      ),
    ),
    '',
    lineOf(
      [
        result.ok
          ? styled('green', 'All hold.')
          : styled('red', `${bounds.filter(({ holds }) => !holds).length} broken.`),
      ],
      look,
    ),
  ];
}

const section = (title: string, lines: string[]) => ['', title, ...lines.map((line) => `  ${line}`)];
const right = (title: string) => ({ title, align: 'right' }) as const;
const ms = (milliseconds: number) => `${milliseconds.toFixed(1)} ms`;

function handOvers(runs: readonly SyncRun[], look: Look) {
  const row = (what: string, { images }: SyncRun, samples: readonly number[]): Span[] => {
    const { count, p50, p95 } = spreadOf(samples);
    return [what, String(images), String(count), ms(p50), ms(p95)];
  };
  const rows = runs.flatMap((run) => [
    row('GET + PUT + POST, nothing else going on', run, run.quietBaselineMs),
    row('GET + PUT + POST, in between', run, run.baselineMs),
    row('slot free → next DataVolume', run, run.handOversMs),
  ]);
  return tableLines([{ title: 'WHAT' }, right('QUEUED'), right('SAMPLES'), right('P50'), right('P95')], rows, look);
}

const parts: readonly Part[] = ['to Succeeded', 'after Succeeded', 'progress', 'Events', 'refused'];

function writes(runs: readonly SyncRun[], look: Look) {
  const costs = runs.map(writeCosts);
  const rows = parts.flatMap((part) => {
    const kinds = new Map(
      costs
        .flat()
        .filter((cost) => cost.part === part)
        .map((cost) => [`${cost.function} ${cost.what}`, cost]),
    );
    const sums = costs.map((all) => writesPerImage(all, part).toFixed(2));
    const lines = [...kinds.values()].map(({ function: name, what }): Span[] => [
      '',
      name,
      what,
      ...costs.map((all) => {
        const found = all.find((cost) => cost.part === part && cost.function === name && cost.what === what);
        return (found?.perImage ?? 0).toFixed(2);
      }),
    ]);
    const strong = (text: string) => styled('bold', text);
    return [[strong(part), '', '', ...sums.map(strong)], ...lines];
  });
  const allReads: Span[] = ['reads', '', '', ...runs.map((run) => readsPerImage(run).toFixed(2))];
  const queues = runs.map(({ images }) => right(`${images} QUEUED`));
  return tableLines(
    [{ title: 'PART' }, { title: 'FUNCTION' }, { title: 'WHAT' }, ...queues],
    [...rows, allReads],
    look,
  );
}

function reads(reconciles: readonly ReconcileCost[], look: Look) {
  const finished = [...new Set(reconciles.map((cost) => cost.finished))].sort((a, b) => a - b);
  const kinds = new Map(
    reconciles.filter((cost) => cost.reads > 0).map((cost) => [`${cost.batch} ${cost.function}`, cost]),
  );
  const rows = [...kinds.values()].map(({ batch, function: name }): Span[] => [
    batch,
    name,
    ...finished.map((count) => {
      const found = reconciles.find(
        (cost) => cost.batch === batch && cost.function === name && cost.finished === count,
      );
      return found ? String(found.reads) : '-';
    }),
  ]);
  return tableLines(
    [{ title: 'WOKEN BY' }, { title: 'FUNCTION' }, ...finished.map((count) => right(String(count)))],
    rows,
    look,
  );
}

const bytesTable = (bytes: Measured['bytes'], look: Look) =>
  tableLines(
    [{ title: 'DOWNLOAD' }, right('ATTEMPTS'), right('NEEDED'), right('SENT'), right('SENT/NEEDED')],
    bytes.map(({ what, attempts, needed, sent }) => [
      what,
      String(attempts),
      formatBytes(needed),
      formatBytes(sent),
      (sent / needed).toFixed(2),
    ]),
    look,
  );

function startsTable(starts: Measured['starts'], look: Look) {
  const rows = starts.map(({ what, firstAnswerMs, residentBytes, ownBytes }) => [
    what,
    String(firstAnswerMs.length),
    ms(lowerQuartileOf(firstAnswerMs)),
    ms(medianOf(firstAnswerMs)),
    formatBytes(residentBytes),
    ownBytes === undefined ? '-' : formatBytes(ownBytes),
  ]);
  const columns = ['TIMES', 'QUARTILE', 'MEDIAN', 'RESIDENT', 'OF ITS OWN'];
  return tableLines([{ title: 'PROCESS' }, ...columns.map(right)], rows, look);
}

/** With those that vary from run to run, which the promises name apart. */
const deliveriesTable = (lives: readonly Life[], look: Look) =>
  tableLines(
    [{ title: 'WHEN' }, right('OBJECTS'), right('EVENTS'), right('DELIVERIES'), right('HOPS'), right('WRITES')],
    lives.map(({ what, objects, events, deliveries, hops, writes }) => [
      what,
      String(objects),
      ...[events, deliveries, hops, writes].map((counts) => (sumOf(counts) / objects).toFixed(1)),
    ]),
    look,
  );

function outcomesTable({ objects, outcomes }: Life, look: Look) {
  const perImage = (count: number) => (count / objects).toFixed(1);
  const rows = [...outcomes]
    .sort((a, b) => a.function.localeCompare(b.function) || b.served - a.served)
    .map(({ function: name, event, served, acted, reads }) => [
      name,
      event,
      perImage(acted),
      perImage(served - acted),
      perImage(sumOf(reads)),
      [...reads]
        .sort(([, a], [, b]) => b - a)
        .map(([read, count]) => `${read} ${perImage(count)}`)
        .join(', '),
    ]);
  const counts = ['TO ACTIONS', 'TO NOTHING', 'READS'];
  return tableLines([{ title: 'FUNCTION' }, { title: 'EVENT' }, ...counts.map(right), { title: '' }], rows, look);
}

const promises = (bounds: readonly Bound[], look: Look) =>
  tableLines(
    [{ title: 'PROMISE' }, right('FOUND'), right('AT MOST'), { title: 'OF' }, { title: '' }],
    bounds.map(({ what, found, most, unit, holds }) => [
      what,
      found.toFixed(2),
      most.toFixed(2),
      unit,
      holds ? styled('green', 'PASS') : styled('red', 'FAIL'),
    ]),
    look,
  );
