import type { ClaimSpec, DataVolume } from '../controller/kinds.ts';
import { bytesOf } from '../controller/quantity.ts';
import type { VolumeSnapshot } from '../snapshots/kinds.ts';

interface CloneProblem {
  reason: 'CloneWithoutSource' | 'CloneValidationFailed';
  message: string;
}

/**
 * Why a DataVolume cannot be cloned from its snapshot as both are now, in CDI's words (CDI
 * pkg/controller/datavolume/snapshot-clone-controller.go). A snapshot that is merely not ready yet is none.
 */
export function cloneProblem(
  { spec }: DataVolume,
  snapshot: VolumeSnapshot | undefined,
  rendered: ClaimSpec,
): CloneProblem | undefined {
  if (!snapshot) {
    const message = `The source snapshot ${spec.source?.snapshot?.name} doesn't exist`;
    return { reason: 'CloneWithoutSource', message };
  }
  const cause = snapshotCause(snapshot) ?? sizeCause(snapshot.status?.restoreSize, requestOf(spec), rendered);
  if (cause === undefined) return undefined;
  return {
    reason: 'CloneValidationFailed',
    message: `The clone doesn't meet the validation requirements: ${cause}`,
  };
}

/** The size that a DataVolume asks for; a clone need not. */
export const requestOf = ({ pvc, storage }: DataVolume['spec']) => (pvc ?? storage)?.resources?.requests?.storage;

function snapshotCause({ metadata, spec, status }: VolumeSnapshot): string | undefined {
  if (!status) return 'no status on source snapshot yet';
  if (status.error) return `snapshot in error state with msg: ${status.error.message ?? 'no details'}`;
  if (!spec.volumeSnapshotClassName)
    return `snapshot ${metadata.name}/${metadata.namespace} does not have volume snap class populated, can't clone`;
  return undefined;
}

function sizeCause(restoreSize: string | undefined, requested: string | undefined, rendered: ClaimSpec) {
  if (restoreSize === undefined) return 'snapshot has no restore size';
  const source = bytesOf(restoreSize);
  if (requested === undefined)
    return source === 0 ? "size not specified by user/provisioner, can't tell how much needed for restore" : undefined;
  const target = bytesOf(rendered.resources?.requests?.storage ?? requested);
  return source > target
    ? `target resources requests storage size is smaller than the source ${target} < ${source}`
    : undefined;
}
