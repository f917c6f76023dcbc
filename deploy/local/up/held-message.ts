import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';

/** The message of a deleted image about the machines that use it; undefined without any. */
export function heldMessage({ metadata, status }: VMDiskImage): string | undefined {
  const held = conditionOf(status?.conditions, 'DeletionHeld');
  return metadata.deletionTimestamp && held?.status === 'True' ? held.message : undefined;
}
