import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { Condition, VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectMeta } from '../../../shared/kinds/resource.ts';
import type { Invariant, Step } from './follow.ts';
import { conditionOf, takenDown, transitions } from './plain-rules.ts';
import { usualSkewMs } from './s7-backoff.ts';
import { isByHand } from './writers.ts';

/**
 * S9, phases: they change by the declared transitions only, each by its owner where it is known who wrote; observedGeneration
 * and revision never fall, within a revision neither do the attempts (but by the one that never started, as it ends);
 * no lastTransitionTime goes back by more than the skew of the clocks (but over one that a rival wrote since the pass began, of
 * whom an apply knows nothing: S9 holds of what each pass saw); phase and conditions never contradict. Ready may stay
 * True of the last snapshot (DESIGN §10). A status that was wiped begins anew, and what a hand writes into one is nobody's transition.
 */
export const s9Phases: Invariant = {
  number: 'S9',
  says: 'phases change by their transitions, and what only rises never falls',
  judge: (_, { skewMs = usualSkewMs }) => {
    /** When the time of each condition of each machine was written. */
    const moved = new Map<string, number>();
    /** Images whose status a user wrote last, for example from a backup: it may never have been true. */
    const byHand = new Set<string>();
    return {
      image: ({ object: { metadata, status }, before: previous, change, isGone }) => {
        if (isGone || !status?.phase || status === previous?.status) return undefined;
        const wasByHand = byHand.delete(metadata.uid);
        if (isByHand(change)) return void byHand.add(metadata.uid);
        const { name } = metadata;
        const before = previous?.status?.phase ? previous.status : undefined;
        const grown = wasByHand ? undefined : before;
        const says =
          contradictionAfter(before, status) ??
          strayed(before?.phase ?? '', status.phase, change.by) ??
          (grown &&
            (fallen(believable(grown, metadata), status) ?? goneBack(grown.conditions, status.conditions, skewMs)));
        return says && `${name}: ${says}`;
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
        const says =
          falls('observedGeneration', believable(before.status, metadata), status) ??
          goneBack(before.status.conditions, seen, skewMs);
        return says && `${metadata.name}: ${says}`;
      },
    };
  },
};

/** An observedGeneration above the object's own was never true: a restored status brings that of the object it was taken from. */
const believable = <S extends { observedGeneration?: number | undefined }>(
  status: S,
  { generation = 0 }: ObjectMeta,
): S => ((status.observedGeneration ?? 0) > generation ? { ...status, observedGeneration: generation } : status);

function strayed(from: string, to: string, by: string | undefined): string | undefined {
  if (from === to) return undefined;
  const writers = transitions.get(`${from || 'new'} > ${to}`);
  if (!writers) return `no transition leads from "${from}" to ${to}`;
  return by === undefined || writers.includes(by) ? undefined : `the transition from "${from}" to ${to} is not ${by}'s`;
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

/** Whoever writes beside what a hand left contradicts nothing. */
function contradictionAfter(before: VMDiskImageStatus | undefined, status: VMDiskImageStatus): string | undefined {
  const says = contradiction(status);
  return says && before && contradiction(before) === says ? undefined : says;
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
