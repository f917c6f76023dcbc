import type { Action, Facts, Publish } from '../actions.ts';
import { type KubernetesObject, keyOf, type Resource } from '../kinds/resource.ts';
import type { Condition } from '../kinds/schema.ts';
import type { Reason } from '../reasons/reason.ts';
import { traceOf } from '../traces.ts';
import { conditionOf, withCondition, withProgress } from './conditions.ts';
import { recordEvent, redactMessage } from './events.ts';
import { digestOf } from './names.ts';
import { changesOf } from './status-changes.ts';
import { toTime } from './time.ts';

/** A condition as it should be; since when it is so is found out by comparing. */
export interface NewCondition<Type extends string = string> {
  type: Type;
  status: Condition['status'];
  /** One word, the same in condition, Event and status. */
  reason: Reason;
  message: string;
}

export const isSo = <Type extends string>(type: Type, reason: Reason, message: string): NewCondition<Type> => ({
  type,
  status: 'True',
  reason,
  message,
});
export const isNotSo = <Type extends string>(type: Type, reason: Reason, message: string): NewCondition<Type> => ({
  type,
  status: 'False',
  reason,
  message,
});

/** The state of an object, as one look at everything says. */
export interface StatusReport<Phase extends string = string, Type extends string = string> {
  phase: Phase;
  isReady: boolean;
  /** It is not Ready, and nothing is on its way: it waits for a time or for a user. */
  isSettled?: boolean;
  reason: Reason;
  message: string;
  /** All conditions but Ready, which sums up, and those of other writers. */
  conditions: readonly NewCondition<Type>[];
  /** The other fields of the status; undefined where there is nothing to say. */
  fields: Readonly<Record<string, unknown>>;
}

/** An object whose status sums up in a phase and Ready. */
export type Reported = KubernetesObject & {
  status?:
    | {
        phase?: string | undefined;
        message?: string | undefined;
        conditions?: Condition[] | undefined;
        readyAt?: string | undefined;
        lastPhaseTransitionTime?: string | undefined;
      }
    | undefined;
};

/** What is reported of a kind beside its status and the Events. */
export interface Reporting<T extends Reported> {
  resource: Resource<T>;
  /** A condition that another function writes. */
  foreign?: string;
  /**
   * The kind has `readyAt` and `lastPhaseTransitionTime` in its status, and domain events that others may wire their own Triggers
   * to: `ot.pelotech.<published>.ready.v1` and `….failed.v1`.
   */
  published?: string;
  /** What is measured once, when it is Ready for the first time, with its conditions as they are then. */
  measured?(object: T, conditions: readonly Condition[], nowMs: number): Action[];
}

/**
 * Writes the state of an object if its status differs. That it has become Ready or Failed, or is Failed for another reason, is also
 * reported: with a Kubernetes Event and, of a kind that has them, a domain event.
 */
export function reportStatus<T extends Reported>(
  { resource, foreign, published, measured }: Reporting<T>,
  object: T,
  report: StatusReport,
  nowMs: number,
): Action[] {
  const { phase, isReady, reason, fields } = report;
  const before: NonNullable<Reported['status']> = object.status ?? {};
  const now = toTime(nowMs);
  const message = redactMessage(report.message);
  const observedGeneration = object.metadata.generation;
  const conditions = conditionsOf(object, report, foreign, now);
  const ready = conditionOf(before.conditions, 'Ready');
  const isNews =
    phase === 'Failed' ? before.phase !== 'Failed' || ready?.reason !== reason : isReady && ready?.status !== 'True';
  const times = published && {
    readyAt: before.readyAt ?? (isReady ? now : undefined),
    lastPhaseTransitionTime: before.phase !== phase || isNews ? now : before.lastPhaseTransitionTime,
  };
  // Server-side apply of another's condition may leave ours in another order, which says nothing.
  const found = { ...before, conditions: [...(before.conditions ?? [])].sort((a, b) => a.type.localeCompare(b.type)) };
  const changed = changesOf(found, { ...fields, phase, message, conditions, observedGeneration, ...times });
  if (Object.keys(changed).length === 0) return [];
  return [
    { do: 'patchStatus', resource, of: object, status: changed },
    ...(isNews ? [recordEvent(object, phase === 'Failed', reason, message, `${observedGeneration}/${now}`)] : []),
    ...(isNews && published ? [publish(published, object, { phase, reason, message, time: now })] : []),
    ...(isReady && before.readyAt === undefined ? (measured?.(object, conditions, nowMs) ?? []) : []),
  ];
}

/** The wanted conditions, that of another writer, Ready, and what kstatus reads before it. */
function conditionsOf(
  { metadata, status }: Reported,
  { phase, isReady, isSettled, reason, message, conditions: wanted }: StatusReport,
  foreign: string | undefined,
  now: string,
): Condition[] {
  const { generation: observedGeneration } = metadata;
  const all = [...wanted, (isReady ? isSo : isNotSo)('Ready', reason, message)];
  const kept = new Set([foreign, 'Reconciling', 'Stalled', ...all.map(({ type }) => type)]);
  const others = (status?.conditions ?? []).filter(({ type }) => kept.has(type));
  const progress = isReady || isSettled ? undefined : phase === 'Failed' ? 'Stalled' : 'Reconciling';
  return all.reduce(
    (list, condition) => withCondition(list, { ...condition, observedGeneration }, now),
    withProgress(others, progress, { reason, message, observedGeneration }, now),
  );
}

/** The domain event of the present phase of an object, rebuilt from its status. */
export const factsOf = <T extends Reported>({ resource, published = '' }: Reporting<T>): Facts<T> => ({
  resource,
  of: (object) => {
    const { phase, message = '', conditions, lastPhaseTransitionTime: time } = object.status ?? {};
    if ((phase !== 'Ready' && phase !== 'Failed') || time === undefined) return [];
    return [
      publish(published, object, { phase, reason: conditionOf(conditions, 'Ready')?.reason ?? phase, message, time }),
    ];
  },
});

interface Fact {
  phase: string;
  reason: string;
  message: string;
  time: string;
}

/** Its id is made of what the status keeps. */
function publish(kind: string, object: Reported, { phase, reason, message, time }: Fact): Publish & Action {
  const { uid, namespace, name, generation } = object.metadata;
  const fact = phase === 'Ready' ? 'ready' : 'failed';
  const trace = traceOf(object);
  return {
    do: 'publish',
    type: `ot.pelotech.${kind}.${fact}.v1`,
    id: digestOf([uid, fact, phase === 'Failed' ? reason : '', time]),
    subject: keyOf(object.metadata),
    data: { ...(namespace && { namespace }), name, uid, generation, time, phase, reason, message },
    ...(trace && { trace }),
    about: object,
  };
}
