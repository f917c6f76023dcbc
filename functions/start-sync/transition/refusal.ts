import { downloadOf, missingLine } from '../../../shared/images/sources.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { isValid } from '../../../shared/policy.ts';
import type { Reason } from '../../../shared/reasons/reason.ts';
import type { Gathered } from '../observed.ts';
import { missingInput } from './inputs.ts';

/** Why the image must not sync, by the policy, its classes and its inputs; undefined also while that is not known. */
export function refusalOf(
  image: VMDiskImage,
  { policy, classes, inputs }: Pick<Gathered, 'policy' | 'classes' | 'inputs'>,
): { reason: Reason; message: string } | undefined {
  if (isValid(policy, 'allowedSources')) {
    const missing = missingLine(policy, downloadOf(image));
    if (missing) return { reason: 'SourceNotAllowed', message: `Source not allowed: ${missing.message}.` };
  }
  if (!classes) return undefined;
  const { spec } = image;
  const provisioner = classes.storage.get(spec.storageClass);
  const driver = classes.snapshot.get(spec.snapshotClass);
  if (provisioner === undefined)
    return missing('StorageClassMissing', 'StorageClass', spec.storageClass, classes.storage);
  if (driver === undefined) {
    return missing('SnapshotClassMissing', 'VolumeSnapshotClass', spec.snapshotClass, classes.snapshot);
  }
  if (provisioner === driver) return missingInput(image, inputs);
  return {
    reason: 'DriverMismatch',
    message: `Expected one driver for volume and snapshot, found ${provisioner} in StorageClass ${spec.storageClass} and ${driver} in VolumeSnapshotClass ${spec.snapshotClass}.`,
  };
}

const missing = (reason: Reason, kind: string, name: string, found: ReadonlyMap<string, string>) => ({
  reason,
  message: `Expected a ${kind} ${name}, found only ${[...found.keys()].sort().join(', ') || 'none'}. Name another in the spec, or create it.`,
});
