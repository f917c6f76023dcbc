import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectMeta } from '../../../shared/kinds/resource.ts';
import type { Condition } from '../../../shared/kinds/schema.ts';
import type { Invariant, Step } from './follow.ts';
import { conditionOf, takenDown, transitions } from './plain-rules.ts';
import { usualSkewMs } from './s7-backoff.ts';
import { isExternal } from './writers.ts';

/**
 * S9, phases: a phase changes only by a declared transition and, if the writer is known, only by the writer of that transition.
 * observedGeneration and revision never fall, nor do attempt and attempts within a revision, except by one when an attempt ends
 * that never started. No lastTransitionTime goes back by more than the clock skew, except over a time written after the reconcile began, which an apply does not see. Phase and conditions never contradict each other; Ready may stay True for the
 * previous snapshot. A wiped status starts again, and what users write is not judged.
 */
export const s9Phases: Invariant = {
  number: 'S9',
  rule: 'phases change by declared transitions, and counters never fall',
  judge: (_, { skewMs = usualSkewMs }) => {
    /** When the time of each condition of each machine was written. */
    const moved = new Map<string, number>();
    /** Images whose status a user wrote last, for example from a backup: it may never have been true. */
    const byHand = new Set<string>();
    return {
      image: ({ object: { metadata, status }, before: previous, change, isGone }) => {
        if (isGone || !status?.phase || status === previous?.status) return undefined;
        const wasByHand = byHand.delete(metadata.uid);
        if (isExternal(change)) return void byHand.add(metadata.uid);
        const { name } = metadata;
        const before = previous?.status?.phase ? previous.status : undefined;
        const grown = wasByHand ? undefined : before;
        const message =
          contradictionAfter(before, status) ??
          strayed(before?.phase ?? '', status.phase, change.by) ??
          (grown &&
            (fallen(believable(grown, metadata), status) ?? goneBack(grown.conditions, status.conditions, skewMs)));
        return message && `${name}: ${message}`;
      },
      machine: ({ object: { metadata, status }, before, isGone, change, revision }: Step<VirtualMachine>) => {
        if (isGone || status === before?.status) return undefined;
        const key = ({ type }: Condition) => `${metadata.uid} ${type}`;
        const { since = Number.POSITIVE_INFINITY } = change;
        const seen = (status?.conditions ?? []).filter((condition) => (moved.get(key(condition)) ?? 0) <= since);
        for (const condition of status?.conditions ?? []) {
          const was = conditionOf(before?.status?.conditions, condition.type);
          if (was?.lastTransitionTime !== condition.lastTransitionTime) moved.set(key(condition), revision);
        }
        if (!status?.phase || !before?.status?.phase) return undefined;
        const message =
          falls('observedGeneration', believable(before.status, metadata), status) ??
          goneBack(before.status.conditions, seen, skewMs);
        return message && `${metadata.name}: ${message}`;
      },
    };
  },
};

/** A restored status may have an observedGeneration above the generation of the object: it was never true here. */
const believable = <S extends { observedGeneration?: number | undefined }>(
  status: S,
  { generation = 0 }: ObjectMeta,
): S => ((status.observedGeneration ?? 0) > generation ? { ...status, observedGeneration: generation } : status);

function strayed(from: string, to: string, by: string | undefined): string | undefined {
  if (from === to) return undefined;
  const writers = transitions.get(`${from || 'new'} > ${to}`);
  if (!writers) return `no transition leads from "${from}" to ${to}`;
  return by === undefined || writers.includes(by)
    ? undefined
    : `the transition from "${from}" to ${to} belongs to ${writers.join(', ')}, not ${by}`;
}

function fallen(before: VMDiskImageStatus, status: VMDiskImageStatus): string | undefined {
  const found = falls('observedGeneration', before, status) ?? falls('revision', before, status);
  if (found || before.revision !== status.revision) return found;
  const isUnstarted = before.phase === 'Syncing' && (status.phase === 'Retrying' || status.phase === 'Failed');
  const [was = 0, is = 0] = [before.attempts, status.attempts];
  if (is < was - (isUnstarted ? 1 : 0)) return `attempts fell from ${was} to ${is}`;
  return falls('attempt', before, status);
}

function falls<K extends string>(field: K, before: { [F in K]?: number | undefined }, after: typeof before) {
  const [was = 0, is = 0] = [before[field], after[field]];
  return is < was ? `${field} fell from ${was} to ${is}` : undefined;
}

function goneBack(
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
  skewMs: number,
): string | undefined {
  if (before === after) return undefined;
  for (const { type, lastTransitionTime: is } of after ?? []) {
    const was = conditionOf(before, type)?.lastTransitionTime;
    if (was !== undefined && was !== is && Date.parse(is) < Date.parse(was) - skewMs)
      return `lastTransitionTime of ${type} went back from ${was} to ${is}`;
  }
  return undefined;
}

/** A function that writes beside what a user left contradicts nothing. */
function contradictionAfter(before: VMDiskImageStatus | undefined, status: VMDiskImageStatus): string | undefined {
  const message = contradiction(status);
  return message && before && contradiction(before) === message ? undefined : message;
}

function contradiction({ phase, conditions, snapshot }: VMDiskImageStatus): string | undefined {
  const ready = conditionOf(conditions, 'Ready');
  const isLost = conditionOf(conditions, 'SnapshotLost')?.status === 'True';
  if (ready?.status === 'True' && isLost) return 'Ready and SnapshotLost at once';
  if (ready?.status === 'True' && !snapshot) return 'Ready without a snapshot';
  if (phase === 'Succeeded' && ready?.status !== 'True' && !isLost && ready?.reason !== takenDown)
    return 'Succeeded and not Ready';
  return undefined;
}
