import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import { storeKeys } from '../simulation/store-writer.ts';
import { type Booking, type Content, hourMs, troubles } from './bookings.ts';
import type { Seen, Week } from './simulate-week.ts';

const minuteMs = 60_000;

/** An end or a stop comes with the next sweep at the latest, and takes a while. */
const mostDelayMs = 5 * minuteMs;

/** What the week came to. */
export interface Verdict {
  violations: string[];
  figures: Figures;
}

interface Figures {
  labs: number;
  booked: number;
  /** Whose images were usable at their start. */
  onTime: number;
  late: number;
  /** The late ones by what had delayed them: booked too late, a pause, slow downloads, or nothing of these. */
  lateBecause: Readonly<Record<'bookedLate' | 'paused' | 'slow' | 'other', number>>;
  /** Of the late ones, by how many minutes: the median and the most. */
  lateMinutes: readonly [median: number, most: number];
  /** How long before their start users knew of the late ones, in minutes: the least. */
  warnedMinutes: number;
  /** Those that were reported late, and were not. */
  falseAlarms: number;
  /** How long images were usable before the first start that they were for, in minutes: the median and the most. */
  aheadMinutes: readonly [median: number, most: number];
  contents: number;
  downloads: number;
  contentBytes: number;
  downloadedBytes: number;
  mostAtOnce: number;
  /** How long after its end the last of a lab was gone, in minutes: the most. */
  overtimeMinutes: number;
  hibernations: number;
  left: number;
}

type Conditions = { type: string; status: string }[] | undefined;

/** Judges the week by what users see of it, and by none of the functions' own rules. */
export function judge(
  { labs, contents }: { labs: readonly Booking[]; contents: readonly Content[] },
  { seen, left }: Week,
  concurrency: number,
): Verdict {
  const of = (resource: string) => seen.filter((one) => one.resource === resource);
  const usable = usableTimes(of(storeKeys.images));
  const workspaces = Map.groupBy(of(storeKeys.workspaces), ({ object }) => object.metadata.name);
  const machines = Map.groupBy(of(storeKeys.kubeVirtMachines), ({ object }) => object.metadata.namespace ?? '');
  const statesOf = ({ name }: Booking) => workspaces.get(name) ?? [];
  const starts = labs.flatMap((lab) => startOf(lab, statesOf(lab), usable) ?? []);
  const late = starts.filter(({ lateMs }) => lateMs > 0);
  const pods = of(storeKeys.pods).filter(({ object }) => object.metadata.name.startsWith('importer-'));
  const downloads = pods.filter(({ type }) => type === 'ADDED').map(({ object }) => contentIn(object, contents));
  const bytesOf = new Map(contents.map(({ name, bytes }) => [name, bytes]));
  const sum = (list: readonly string[]) => list.reduce((all, name) => all + (bytesOf.get(name) ?? 0), 0);
  const contentBytes = sum(contents.map(({ name }) => name));
  const downloadedBytes = sum(downloads);
  const mostAtOnce = most(pods);
  const ahead = contents.map(({ name }) => {
    const first = labs.flatMap(({ images, startsMs }) => (images.includes(name) && startsMs ? [startsMs] : []));
    return Math.min(...first) - (usable.get(name) ?? Number.NaN);
  });
  const lateBecause = { bookedLate: 0, paused: 0, slow: 0, other: 0 };
  for (const { lab, startsMs } of late) lateBecause[because(lab, startsMs)]++;
  const untold = late.filter(({ warnedMs }) => warnedMs === undefined);
  return {
    violations: [
      ...left.map((one) => `${one} was left over`),
      ...labs.flatMap((lab) => lifeViolations(lab, statesOf(lab))),
      ...labs.flatMap((lab) => sleepViolations(lab, machines.get(`ws-${lab.name}`) ?? [])),
      ...untold.map(({ lab, lateMs }) => `${lab.name} was ${minutes(lateMs)} minutes late, and no one was told before`),
      ...(downloadedBytes === contentBytes
        ? []
        : [`${downloadedBytes} bytes were downloaded of ${contentBytes} bytes of distinct contents`]),
      ...(mostAtOnce > concurrency ? [`${mostAtOnce} downloads ran at once, of at most ${concurrency}`] : []),
    ],
    figures: {
      labs: labs.length,
      booked: starts.length,
      onTime: starts.length - late.length,
      late: late.length,
      lateBecause,
      lateMinutes: spread(late.map(({ lateMs }) => lateMs)),
      warnedMinutes: minutes(Math.min(...late.map(({ warnedMs = 0 }) => warnedMs))),
      falseAlarms: starts.filter(({ lateMs, warnedMs }) => lateMs <= 0 && warnedMs !== undefined).length,
      aheadMinutes: spread(ahead),
      contents: contents.length,
      downloads: downloads.length,
      contentBytes,
      downloadedBytes,
      mostAtOnce,
      overtimeMinutes: minutes(Math.max(...labs.map((lab) => goneMs(statesOf(lab)) - lab.endsMs))),
      hibernations: labs.reduce((count, { sleeps }) => count + sleeps.length, 0),
      left: left.length,
    },
  };
}

/** The start of a booked lab: by how much its images were late, and how long before users were told and not told otherwise. */
function startOf(lab: Booking, states: readonly Seen[], usable: ReadonlyMap<string, number>) {
  const { startsMs, images } = lab;
  if (startsMs === undefined) return undefined;
  const before = states.filter(({ atMs }) => atMs < startsMs);
  const last = before.at(-1);
  const [warning] = before.slice(before.findLastIndex(({ object }) => !isSaidLate(object)) + 1);
  const lateMs = Math.max(...images.map((image) => usable.get(image) ?? Number.POSITIVE_INFINITY)) - startsMs;
  return { lab, startsMs, lateMs, warnedMs: last && warning ? startsMs - warning.atMs : undefined };
}

const goneMs = (states: readonly Seen[]) =>
  states.find(({ type }) => type === 'DELETED')?.atMs ?? Number.POSITIVE_INFINITY;

/** It is Ready once, not before its start, and gone at its end. */
function lifeViolations({ name, startsMs = 0, endsMs }: Booking, states: readonly Seen[]): string[] {
  const ready = states.find(({ object }) => phaseOf(object) === 'Ready');
  const delayMs = goneMs(states) - endsMs;
  return [
    ...(ready ? [] : [`${name} was never Ready`]),
    ...(ready && ready.atMs < startsMs ? [`${name} was Ready before its start`] : []),
    ...(delayMs >= 0 && delayMs <= mostDelayMs
      ? []
      : [`${name} was to be gone at ${hours(endsMs)}, and was ${minutes(delayMs)} minutes later`]),
  ];
}

/** Its machines are halted while it is to sleep, and run before and after. */
const sleepViolations = ({ name, sleeps }: Booking, machines: readonly Seen[]): string[] =>
  sleeps
    .filter(
      ([fromMs, toMs]) =>
        !everyMachine(machines, fromMs - 1, 'Always') ||
        !everyMachine(machines, fromMs + mostDelayMs, 'Halted') ||
        !everyMachine(machines, toMs - 1, 'Halted') ||
        !everyMachine(machines, toMs + mostDelayMs, 'Always'),
    )
    .map(([fromMs, toMs]) => `${name} did not sleep from ${hours(fromMs)} to ${hours(toMs)}`);

/** What happened in the hours before that start. */
function because({ createdMs }: Booking, startsMs: number): keyof Figures['lateBecause'] {
  const meets = ([fromMs, toMs]: readonly [number, number]) => fromMs < startsMs && startsMs < toMs + 3 * hourMs;
  if (createdMs > startsMs - 15 * minuteMs) return 'bookedLate';
  if (meets(troubles.paused)) return 'paused';
  return meets(troubles.slow) ? 'slow' : 'other';
}

const minutes = (ms: number) => Math.round(ms / 6000) / 10;
const hours = (ms: number) => `hour ${Math.round(ms / 36_000) / 100}`;

/** The median and the most, in minutes. */
function spread(list: readonly number[]): readonly [number, number] {
  const sorted = [...list].sort((a, b) => a - b);
  return [minutes(sorted[Math.floor(sorted.length / 2)] ?? 0), minutes(sorted.at(-1) ?? 0)];
}

const phaseOf = ({ status }: ApiObject) => (status as { phase?: string } | undefined)?.phase;

const isSaidLate = ({ status }: ApiObject) =>
  (status as { conditions?: Conditions } | undefined)?.conditions?.some(
    ({ type, status: is }) => type === 'WillBeLate' && is === 'True',
  ) ?? false;

/** When each image was usable for the first time, by name. */
function usableTimes(changes: readonly Seen[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { atMs, object } of changes)
    if (phaseOf(object) === 'Succeeded' && !times.has(object.metadata.name)) times.set(object.metadata.name, atMs);
  return times;
}

/** How each machine of a namespace was to run at that time. */
function everyMachine(changes: readonly Seen[], atMs: number, runStrategy: string): boolean {
  const last = new Map(changes.filter((one) => one.atMs <= atMs).map(({ object }) => [object.metadata.name, object]));
  const found = [...last.values()].map(({ spec }) => (spec as { runStrategy?: string }).runStrategy);
  return found.length > 0 && found.every((one) => one === runStrategy);
}

/** The content that an importer loads, by the name of its DataVolume. */
const contentIn = ({ metadata }: ApiObject, contents: readonly Content[]) =>
  contents.find(({ name }) => metadata.name.startsWith(`importer-${name}-`))?.name ?? metadata.name;

/** The most importers that ran at the same time. */
function most(pods: readonly Seen[]): number {
  let found = 0;
  const running = new Set<string>();
  for (const { type, object } of pods) {
    const isRunning = type !== 'DELETED' && phaseOf(object) === 'Running';
    if (isRunning) running.add(object.metadata.uid);
    else running.delete(object.metadata.uid);
    found = Math.max(found, running.size);
  }
  return found;
}
