import { awakeSince, extension, hibernation, type Workspace } from '../kinds/pelotech/workspace.ts';
import { parseDurationMs } from '../kubernetes/duration.ts';

/** How long before a workspace expires or hibernates its users are warned. */
export const warningMs = 3_600_000;

/** When a workspace begins and ends, in milliseconds since 1970; undefined for what never comes. */
export interface Lifetime {
  /** `schedule.startAt`, else when it was created. */
  startsAtMs: number;
  hibernatesAtMs: number | undefined;
  expiresAtMs: number | undefined;
}

/** What follows from spec, annotations and `status.readyAt`: nothing else has to be kept, so no time is lost with a process or an event. */
export function lifetimeOf({ metadata, spec, status }: Workspace): Lifetime {
  const { annotations = {}, creationTimestamp } = metadata;
  const { schedule, expiresAfter, hibernateAfter } = spec;
  const startsAtMs = latest(Date.parse(creationTimestamp), timeMs(schedule?.startAt));
  const ends = [timeMs(schedule?.endAt), after(startsAtMs, expiresAfter)].filter((ms) => ms !== undefined);
  const awakeMs = timeMs(status?.readyAt) && latest(timeMs(status?.readyAt), timeMs(annotations[awakeSince]));
  return {
    startsAtMs,
    hibernatesAtMs: awakeMs === undefined ? undefined : after(awakeMs, hibernateAfter),
    expiresAtMs:
      ends.length > 0 ? inTime(Math.min(...ends) + (parseDurationMs(annotations[extension] ?? '') ?? 0)) : undefined,
  };
}

/** By hand, or because `hibernateAfter` is over. */
export const isHibernated = (workspace: Workspace, nowMs: number) =>
  workspace.metadata.annotations?.[hibernation] === 'true' || isOver(lifetimeOf(workspace).hibernatesAtMs, nowMs);

/** That time has come. */
export const isOver = (atMs: number | undefined, nowMs: number) => atMs !== undefined && atMs <= nowMs;

function timeMs(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : inTime(ms);
}

const latest = (...times: (number | undefined)[]) => Math.max(...times.map((ms) => ms ?? 0));

function after(ms: number, duration: string | undefined): number | undefined {
  const length = parseDurationMs(duration ?? '');
  return length === undefined ? undefined : inTime(ms + length);
}

/** What is later has no date that Kubernetes writes. */
const inTime = (ms: number) => Math.min(ms, Date.parse('9999-12-31T23:59:59Z'));
