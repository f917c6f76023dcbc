import type { WorkspaceCondition } from '../../../shared/kinds/pelotech/workspace.ts';
import { isNotSo, isSo, type NewCondition } from '../../../shared/kubernetes/status.ts';
import { formatTimeOfDay } from '../../../shared/kubernetes/time.ts';
import { lifetimeOf } from '../../../shared/workspaces/lifetime.ts';
import type { Gate } from '../gate.ts';
import type { WantedImages } from '../images/plan.ts';
import type { Observed, Own } from '../observed.ts';
import { isSkipped } from '../skipped.ts';
import { formatComponent, isDone, isWell, type Stage, waiting } from '../stage.ts';
import { leadOf, leadWithoutForecastMs, usableAtMs } from './forecast.ts';

/** A workspace that is to start later: its images first, the rest at its start. */
export interface Schedule {
  startsAtMs: number;
  /** When its missing images are requested. */
  imagesAtMs: number;
  isRequested: boolean;
  /** When all of its images may be usable: undefined if nothing tells, infinite if never. */
  usableAtMs: number | undefined;
  /** Why nothing starts. */
  stopped: string | undefined;
}

/** To this the time of the request is rounded down, so that a forecast that moves a little changes nothing. */
const roundMs = 300_000;

/** Undefined for a workspace without a start to come, or of which more than its images exists. */
export function scheduleOf(observed: Observed, own: Own, wanted: WantedImages): Schedule | undefined {
  const { workspace, policy, queue, nowMs } = observed;
  if (!isToStart(workspace, nowMs) || own.namespaces.length > 0) return undefined;
  const { startsAtMs } = lifetimeOf(workspace);
  const { forecast, stopped, booked = [] } = queue ?? {};
  const needed = [...wanted.values()].filter(({ ref }) => isNeeded(observed, ref.name));
  const missing = needed.filter(({ image }) => image === undefined).map(({ ref }) => ref.name);
  const request = { startsAtMs, name: workspace.metadata.name, missing };
  const lead = forecast && leadOf(request, booked, { forecast, policy, nowMs });
  const imagesAtMs = Math.floor((startsAtMs - (lead?.leadMs ?? leadWithoutForecastMs)) / roundMs) * roundMs;
  const times = [
    ...needed.flatMap(({ image }) => (image ? [usableAtMs(image, forecast, nowMs)] : [])),
    ...(missing.length > 0 ? [lead && nowMs + lead.takesMs] : []),
  ];
  return {
    startsAtMs,
    imagesAtMs,
    isRequested: missing.length === 0 || imagesAtMs <= nowMs,
    usableAtMs: lastOf(times),
    stopped,
  };
}

/** The last of these times, if all of them are known; one that never comes is the last. */
function lastOf(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  const last = Math.max(0, ...known);
  return known.length === times.length || last === Number.POSITIVE_INFINITY ? last : undefined;
}

/** Its start is to come. */
export const isToStart = (workspace: Observed['workspace'], nowMs: number) =>
  workspace.spec.schedule?.startAt !== undefined && lifetimeOf(workspace).startsAtMs > nowMs;

/** A machine that is made has it. */
const isNeeded = ({ workspace, policy }: Observed, name: string) =>
  (workspace.spec.vms ?? []).some((vm) => vm.backingVMDiskImage === name && !isSkipped(vm, policy));

/** Before its start nothing is made but its images, and these not before their time. */
export function scheduleGates(schedule: Schedule | undefined, nowMs: number): { images?: Gate; rest?: Gate } {
  if (!schedule) return {};
  const { startsAtMs, imagesAtMs, isRequested } = schedule;
  const until = (message: string): Gate => ({ allow: 'nothing', because: waiting('Scheduled', message) });
  return {
    ...(isRequested ? {} : { images: until(`It is requested at ${formatTimeOfDay(imagesAtMs, nowMs)}.`) }),
    rest: until(`It is made at ${formatTimeOfDay(startsAtMs, nowMs)}.`),
  };
}

/** The status of a workspace before its start: that it will be late, else what it waits for. */
export function scheduled(
  schedule: Schedule,
  { images, lateness: told }: { images: Stage; lateness: readonly NewCondition[] },
  nowMs: number,
) {
  const { startsAtMs, imagesAtMs, isRequested } = schedule;
  const late = told.find(({ status }) => status === 'True');
  if (late) return { phase: 'Scheduled', reason: late.reason, message: late.message } as const;
  const rest = `the rest is made at ${formatTimeOfDay(startsAtMs, nowMs)}`;
  const open = images.components.find((one) => !isWell(one));
  const first = isRequested
    ? `${open ? `${formatComponent(open)} When its images are ready` : 'Its images are ready'}, ${rest}.`
    : `Its images are requested at ${formatTimeOfDay(imagesAtMs, nowMs)}, ${rest}.`;
  return { phase: 'Scheduled', reason: 'Scheduled', message: first } as const;
}

/** When the workspace is to be looked at next. */
export const nextOfSchedule = ({ startsAtMs, imagesAtMs, isRequested }: Schedule) =>
  isRequested ? [startsAtMs] : [imagesAtMs, startsAtMs];

/** To this the time that is expected is rounded up. */
const expectedMs = 600_000;

/** Whether the images will be late; nothing if nothing tells. */
export function lateness(
  workspace: Observed['workspace'],
  schedule: Schedule | undefined,
  { images, hasBegun, nowMs }: { images: Stage; hasBegun: boolean; nowMs: number },
): NewCondition<WorkspaceCondition>[] {
  const open = images.components.find((one) => !isWell(one));
  const cause = open ? ` ${formatComponent(open)}` : '';
  if (!schedule) {
    const isWaiting = !hasBegun && !isDone(images) && workspace.status?.readyAt === undefined;
    if (!workspace.spec.schedule?.startAt || !isWaiting) return [];
    return [isSo('WillBeLate', 'Late', `Its start was due, and its images are not ready.${cause}`)];
  }
  const { startsAtMs, isRequested, stopped, usableAtMs: atMs } = schedule;
  const start = formatTimeOfDay(startsAtMs, nowMs);
  if (open && isRequested && stopped) {
    return [isSo('WillBeLate', 'WillBeLate', `Its images are not expected before its start at ${start}: ${stopped}.`)];
  }
  if (atMs === undefined) return [];
  if (atMs <= startsAtMs) return [isNotSo('WillBeLate', 'OnTime', 'Its images are expected before its start.')];
  const expected =
    atMs === Number.POSITIVE_INFINITY
      ? 'are not expected before'
      : `are expected at about ${formatTimeOfDay(Math.ceil(atMs / expectedMs) * expectedMs, nowMs)}, after`;
  return [isSo('WillBeLate', 'WillBeLate', `Its images ${expected} its start at ${start}.${cause}`)];
}
