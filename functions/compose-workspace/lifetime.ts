import type { Action, Publish } from '../../shared/actions.ts';
import {
  awakeSince,
  extendCommand,
  extension,
  Workspace,
  type WorkspaceCondition,
  wakeCommand,
} from '../../shared/kinds/pelotech/workspace.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { formatDuration, parseDurationMs } from '../../shared/kubernetes/duration.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { digestOf } from '../../shared/kubernetes/names.ts';
import { isSo, type NewCondition } from '../../shared/kubernetes/status.ts';
import { formatTimeOfDay, toTime } from '../../shared/kubernetes/time.ts';
import { isHibernated, isOver, type Lifetime, lifetimeOf, warningMs } from '../../shared/workspaces/lifetime.ts';

/** The workspace is deleted, unless it was extended since it was observed. */
export function expire(workspace: Workspace, nowMs: number): Action[] {
  const { expiresAtMs } = lifetimeOf(workspace);
  if (expiresAtMs === undefined || !isOver(expiresAtMs, nowMs) || endsBeforeCreation(workspace)) return [];
  const message = `Its time was over at ${toTime(expiresAtMs)}; it is deleted with everything in it.`;
  return [
    { do: 'delete', resource: Workspace, of: workspace, unchanged: true },
    recordEvent(workspace, false, 'Expired', message, toTime(expiresAtMs)),
  ];
}

/** A mistyped year, or a manifest of last week that is applied again, would be deleted at once, and applied again. */
const endsBeforeCreation = (workspace: Workspace) =>
  (lifetimeOf(workspace).expiresAtMs ?? Number.POSITIVE_INFINITY) <= Date.parse(workspace.metadata.creationTimestamp);

export const lifetimeFaults = (workspace: Workspace): string[] =>
  endsBeforeCreation(workspace)
    ? [
        `schedule.endAt: expected a time after ${workspace.metadata.creationTimestamp}, when the workspace was created, found ${workspace.spec.schedule?.endAt}.`,
      ]
    : [];

/** What the status says of the times; at the others something is due as well. */
export function lifetimeFields(workspace: Workspace, nowMs: number, others: readonly number[]) {
  const { hibernatesAtMs, expiresAtMs } = lifetimeOf(workspace);
  const hibernatesMs = isHibernated(workspace, nowMs) ? undefined : hibernatesAtMs;
  const times = [hibernatesMs, expiresAtMs].filter((ms) => ms !== undefined);
  const next = [...times.flatMap((ms) => [ms - warningMs, ms]), ...others].filter((ms) => ms > nowMs);
  return {
    hibernatesAt: timeOf(hibernatesMs),
    expiresAt: timeOf(expiresAtMs),
    nextAt: next.length > 0 ? toTime(Math.ceil(Math.min(...next) / 1000) * 1000) : undefined,
  };
}

const timeOf = (ms: number | undefined) => (ms === undefined ? undefined : toTime(ms));

/** The next sweep after that time reconciles the workspace; within the hour this process does so in time, if it still runs. */
export function requeueInTime(workspace: Workspace, nextAt: string | undefined, nowMs: number): Action[] {
  const afterMs = Date.parse(nextAt ?? '') - nowMs;
  return afterMs <= warningMs ? [{ do: 'requeueAfter', about: workspace, afterMs }] : [];
}

function twoHoursMore({ metadata: { name, annotations } }: Workspace): string {
  const addedMs = parseDurationMs(annotations?.[extension] ?? '') ?? 0;
  return extendCommand(name, formatDuration(addedMs + 2 * 3_600_000));
}

/** The ends that users are warned of an hour ahead. */
const ends = [
  {
    type: 'HibernatesSoon',
    fact: 'hibernating',
    at: ({ hibernatesAtMs }: Lifetime) => hibernatesAtMs,
    reportedAt: ({ status }: Workspace) => status?.hibernatesAt,
    describe: ({ metadata }: Workspace, at: string) =>
      `Its machines and containers are stopped at ${at}; disks stay. To prevent it: ${wakeCommand(metadata.name)}`,
  },
  {
    type: 'ExpiresSoon',
    fact: 'expiring',
    at: ({ expiresAtMs }: Lifetime) => expiresAtMs,
    reportedAt: ({ status }: Workspace) => status?.expiresAt,
    describe: (workspace: Workspace, at: string) =>
      `It is deleted at ${at}, with everything in it. For two hours more: ${twoHoursMore(workspace)}`,
  },
] as const;

/** All that users are warned of; a late start as soon as it is known. `reportedAt` is the time that the status says. */
const warnings = [
  {
    type: 'WillBeLate',
    fact: 'late',
    at: ({ startsAtMs }: Lifetime) => startsAtMs,
    reportedAt: (workspace: Workspace) => timeOf(lifetimeOf(workspace).startsAtMs),
  },
  ...ends,
] as const;

/** The conditions that warn. */
export const warningTypes: readonly string[] = warnings.map(({ type }) => type);

/** Those of the ends that are near. */
export function warningConditions(workspace: Workspace, nowMs: number): NewCondition<WorkspaceCondition>[] {
  const lifetime = lifetimeOf(workspace);
  const isHibernating = isHibernated(workspace, nowMs);
  return ends.flatMap(({ type, at, describe }) => {
    const atMs = at(lifetime);
    if (atMs === undefined || nowMs < atMs - warningMs || (type === 'HibernatesSoon' && isHibernating)) return [];
    // Rounded down, unlike a time that is waited for; and the same from the warning on, as each message is a write.
    const when = formatTimeOfDay(atMs - (atMs % 60_000), atMs - warningMs);
    return [isSo(type, type, describe(workspace, when))];
  });
}

/** Once for each time that is warned of: an Event for people, and a domain event. */
export function warn(workspace: Workspace, conditions: readonly NewCondition[], nowMs: number): Action[] {
  const lifetime = lifetimeOf(workspace);
  return warnings.flatMap(({ type, fact, at, reportedAt }) => {
    const condition = conditions.find((one) => one.type === type);
    const before = conditionOf(workspace.status?.conditions, type);
    const atTime = timeOf(at(lifetime));
    if (condition?.status !== 'True' || !atTime || (before?.status === 'True' && reportedAt(workspace) === atTime))
      return [];
    const time = before?.status === 'True' ? before.lastTransitionTime : toTime(nowMs);
    return [
      recordEvent(workspace, true, condition.reason, condition.message, atTime),
      publish(workspace, { fact, at: atTime, time, reason: condition.reason, message: condition.message }),
    ];
  });
}

/** The domain events of the warnings, rebuilt from the status. */
export const warningFacts = (workspace: Workspace): Publish[] =>
  warnings.flatMap(({ type, fact, reportedAt }) => {
    const condition = conditionOf(workspace.status?.conditions, type);
    const at = reportedAt(workspace);
    if (condition?.status !== 'True' || at === undefined) return [];
    const { reason, message, lastTransitionTime: time } = condition;
    return [publish(workspace, { fact, at, time, reason, message })];
  });

function publish(
  workspace: Workspace,
  { fact, ...facts }: { fact: string; at: string; time: string; reason: string; message: string },
): Publish {
  const { uid, name, generation } = workspace.metadata;
  return {
    do: 'publish',
    type: `ot.pelotech.workspace.${fact}.v1`,
    id: digestOf([uid, fact, facts.at]),
    subject: name,
    data: { name, uid, generation, ...facts },
    about: workspace,
  };
}

/** Annotations of people that do not parse, once each. */
export const annotationFaults = (workspace: Workspace): Action[] =>
  [
    {
      key: extension,
      isValid: (text: string) => parseDurationMs(text) !== undefined,
      form: 'a duration such as 2h30m',
    },
    {
      key: awakeSince,
      isValid: (text: string) => !Number.isNaN(Date.parse(text)),
      form: 'a time such as 2026-01-31T08:00:00Z',
    },
  ].flatMap(({ key, isValid, form }) => {
    const text = workspace.metadata.annotations?.[key];
    if (text === undefined || isValid(text)) return [];
    const message = `Annotation ${key}: expected ${form}, found ${JSON.stringify(text.slice(0, 64))}; it is ignored.`;
    return [recordEvent(workspace, true, 'AnnotationInvalid', message, digestOf([key, text]))];
  });
