import { type Look, styled } from '../../../deploy/terminal/paint.ts';
import { formatBytes } from '../../../deploy/terminal/quantities.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import type { Machine } from '../machine.ts';
import { spreadOf } from '../spread.ts';
import type { DriverResult, DriverRun } from './driver.ts';
import type { PartMemory } from './memory.ts';
import type { Wake } from './wake.ts';

/** A run of the outside bench. */
export interface Driven {
  who: string;
  run: DriverRun;
  result: DriverResult;
  /** How many writes each function made, by the API server's audit log. */
  writes?: Readonly<Record<string, number>>;
  /** CPU seconds by part of the cluster, from before the first image to after the last. */
  cpu: Readonly<Record<string, number>>;
  /** How often the images' source was asked. */
  sourceRequests: number;
}

/** All that was measured on a real cluster. */
export interface ClusterResult {
  machine: Machine;
  wakes: readonly Wake[];
  memory: readonly PartMemory[];
  driven: readonly Driven[];
}

const right = (title: string) => ({ title, align: 'right' }) as const;
const ms = (value: number | undefined) => (value === undefined ? '-' : `${value.toFixed(0)} ms`);
const most = { wakeRatio: 1.3, memoryBytes: 70e6, handOverMs: 150, makespan: 2, cpuMs: 170 };

/** The figures as tables, and whether the promises hold. */
export function report(
  { machine, wakes, memory, driven }: ClusterResult,
  look: Look,
): { lines: string[]; ok: boolean } {
  const promises = [...wakePromises(wakes), ...memoryPromises(memory), ...driven.flatMap(drivenPromises)];
  const [before, after] = machine.load.map((load) => load.toFixed(1));
  const lines = [
    `Measured on ${machine.processors}, Node ${machine.node}, load ${before} before and ${after} after.`,
    ...section('From a request to the first answer of a function that sleeps', wakeTable(wakes, look)),
    ...section('Memory at rest, just installed (working set)', memoryTable(memory, look)),
    ...section('Images through slots, by the bench that knows no controller', drivenTable(driven, look)),
    ...section("Writes for each image, by the API server's audit log", writesTable(driven, look)),
    ...section('CPU for each image, in milliseconds, by part', cpuTable(driven, look)),
    ...section('Promises and aims', promiseTable(promises, look)),
  ];
  return { lines, ok: promises.every(({ holds, isAim }) => holds || isAim) };
}

const section = (title: string, lines: string[]) =>
  lines.length > 1 ? ['', title, ...lines.map((line) => `  ${line}`)] : [];

function wakeTable(wakes: readonly Wake[], look: Look) {
  const rows = wakes.map(({ what, firstAnswerMs }) => {
    const { count } = spreadOf(firstAnswerMs);
    return [
      what,
      `${count}`,
      ms(Math.min(...firstAnswerMs)),
      ms(medianOf(firstAnswerMs)),
      ms(Math.max(...firstAnswerMs)),
    ];
  });
  return tableLines([{ title: 'WHAT' }, right('TIMES'), right('MIN'), right('MEDIAN'), right('MAX')], rows, look);
}

const medianOf = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const memoryTable = (memory: readonly PartMemory[], look: Look) =>
  tableLines(
    [{ title: 'PART' }, right('CONTAINERS'), right('WORKING SET')],
    memory.map((each) => [each.part, `${each.containers}`, formatBytes(each.workingSetBytes)]),
    look,
  );

function drivenTable(driven: readonly Driven[], look: Look) {
  const rows = driven.map(({ who, run, result, sourceRequests }) => [
    who,
    `${run.images}`,
    `${run.slots}`,
    ms(run.importMs),
    result.makespanOverIdeal === null ? 'not done' : `${result.makespanOverIdeal} ×`,
    ms(result.handover.ms?.p50),
    ms(result.handover.ms?.p99),
    ms(result.createToFirstStatusMs?.p50),
    ms(result.createToFirstStatusMs?.p99),
    `${result.admission.maxInFlight}, ${(result.slotUse * 100).toFixed(0)} %`,
    `${result.admission.startsOverLimit}`,
    `${result.fifo.inversionsOver1sApart}`,
    `${result.api.writesPerImage}`,
    `${result.api.perImage}`,
    (sourceRequests / run.images).toFixed(1),
    `${result.machine.loadPeak.toFixed(1)}`,
  ]);
  const columns = [
    'IMAGES',
    'SLOTS',
    'DOWNLOAD',
    'MAKESPAN',
    'HAND-OVER P50',
    'P99',
    'FIRST STATUS P50',
    'P99',
    'SLOTS IN USE',
    'OVER LIMIT',
    'INVERSIONS',
    'WRITES',
    'REQUESTS',
    'TO THE SOURCE',
    'LOAD',
  ];
  return tableLines([{ title: 'WHO' }, ...columns.map(right)], rows, look);
}

function writesTable(driven: readonly Driven[], look: Look) {
  const rows = driven.flatMap(({ run, writes }) =>
    Object.entries(writes ?? {}).map(([account, count]) => [
      account,
      `${run.images}`,
      `${run.slots}`,
      (count / run.images).toFixed(2),
    ]),
  );
  return tableLines([{ title: 'WHO' }, right('IMAGES'), right('SLOTS'), right('WRITES AN IMAGE')], rows, look);
}

function cpuTable(driven: readonly Driven[], look: Look) {
  const parts = [...new Set(driven.flatMap(({ cpu }) => Object.keys(cpu)))];
  const perImage = ({ cpu, run }: Driven, part: string) => ((cpu[part] ?? 0) * 1000) / run.images;
  const most = (part: string) => Math.max(...driven.map((one) => perImage(one, part)));
  const rows = parts
    .sort((a, b) => most(b) - most(a))
    .map((part) => [part, ...driven.map((one) => perImage(one, part).toFixed(0))]);
  const sum = driven.map((one) => cpuMs(one).toFixed(0));
  const columns = driven.map(({ who, run }) => right(`${who} ${run.images}:${run.slots}:${run.importMs}`));
  return tableLines([{ title: 'PART' }, ...columns], [['all', ...sum], ...rows], look);
}

interface Promised {
  what: string;
  found: number;
  most: number;
  holds: boolean;
  /** Missing it is reported, and fails nothing: it depends more on the machine than on the code. */
  isAim: boolean;
}

const promised = (what: string, found: number, atMost: number, isAim = false): Promised => ({
  what,
  found,
  most: atMost,
  holds: found <= atMost,
  isAim,
});

function wakePromises(wakes: readonly Wake[]): Promised[] {
  const [empty, ours] = wakes.map(({ firstAnswerMs }) => medianOf(firstAnswerMs));
  return empty && ours ? [promised('waking a function, × an empty one', ours / empty, most.wakeRatio, true)] : [];
}

const memoryPromises = (memory: readonly PartMemory[]): Promised[] =>
  memory
    .filter(({ isFunction }) => isFunction)
    .map(({ part, containers, workingSetBytes }) =>
      promised(`memory of ${part}, MB`, workingSetBytes / containers / 1e6, most.memoryBytes / 1e6),
    );

const cpuMs = ({ cpu, run }: Driven) =>
  (Object.values(cpu).reduce((sum, seconds) => sum + seconds, 0) * 1000) / run.images;

function drivenPromises(driven: Driven): Promised[] {
  const { who, run, result } = driven;
  if (who.startsWith('floor')) return [];
  const of = `${run.images} images, ${run.slots} slots, ${run.importMs} ms`;
  return [
    promised(`${of}: makespan, × ideal`, result.makespanOverIdeal ?? Number.NaN, most.makespan, true),
    promised(`${of}: hand-over p50, ms`, result.handover.ms?.p50 ?? Number.NaN, most.handOverMs, true),
    promised(`${of}: CPU an image, ms`, cpuMs(driven), most.cpuMs, true),
    promised(`${of}: not done or failed`, result.outcome.of - result.outcome.done, 0),
    promised(`${of}: slots never in use`, run.slots - result.admission.maxInFlight, 0, true),
    promised(`${of}: started over the limit`, result.admission.startsOverLimit, 0),
    promised(`${of}: overtaken by more than a second`, result.fifo.inversionsOver1sApart, 0),
  ];
}

const promiseTable = (promises: readonly Promised[], look: Look) =>
  tableLines(
    [{ title: 'WHAT' }, right('FOUND'), right('AT MOST'), { title: '' }],
    promises.map(({ what, found, most: limit, holds, isAim }) => [
      what,
      found.toFixed(2),
      `${limit}`,
      holds ? styled('green', 'holds') : isAim ? styled('yellow', 'missed') : styled('red', 'broken'),
    ]),
    look,
  );
