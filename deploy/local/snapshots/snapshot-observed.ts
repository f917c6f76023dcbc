import type { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Claim } from '../controller/kinds.ts';
import { eventsFrom, statusOf, type Write } from '../controller/write.ts';
import { VolumeSnapshot, type VolumeSnapshotContent, type VolumeSnapshotStatus } from './kinds.ts';

/** What the snapshot controller looks at before it writes about a VolumeSnapshot. */
export interface ObservedSnapshot {
  snapshot: VolumeSnapshot;
  content: VolumeSnapshotContent | undefined;
  claim: Claim | undefined;
  /** The class its spec names. */
  snapshotClass: VolumeSnapshotClass | undefined;
  /** The default classes of the driver that the claim's volume is of. */
  defaultClasses: VolumeSnapshotClass[];
  /** Another snapshot of the claim is still being taken. */
  isClaimNeeded: boolean;
  /** A claim of the namespace is just being restored from it. */
  isBeingRestored: boolean;
  nowMs: number;
}

/** What comes next, and whether it is an error that is going to be tried again. */
export interface SnapshotStep {
  writes: Write[];
  failure?: string;
}

/** An Event about a snapshot. */
export const says = eventsFrom('snapshot-controller');

/** Says the error in the status; with `readyToUse: false` in `also` the snapshot is no longer, or not yet, to be used. */
export function failing(
  snapshot: VolumeSnapshot,
  reason: string,
  message: string,
  nowMs: number,
  also: VolumeSnapshotStatus,
): SnapshotStep {
  const error = { message, time: toTime(nowMs) };
  const isNew = snapshot.status?.error?.message !== message;
  const status = statusOf(VolumeSnapshot, snapshot, { ...also, error });
  return { writes: isNew ? [status, says(snapshot, 'Warning', reason, message)] : [status], failure: message };
}

/** Why no snapshot can be taken of a claim; undefined where one can. */
export function unbound(claim: Claim | undefined, name = ''): string | undefined {
  if (!claim) return `failed to retrieve PVC ${name} from the lister: "persistentvolumeclaim \\"${name}\\" not found"`;
  return claim.status?.phase === 'Bound'
    ? undefined
    : `the PVC ${claim.metadata.name} is not yet bound to a PV, will not attempt to take a snapshot`;
}
