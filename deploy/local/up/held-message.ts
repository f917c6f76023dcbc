import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';

/** What an image that is being deleted says of who holds it; undefined where nobody does. */
export function heldMessage({ metadata, status }: VMDiskImage): string | undefined {
  const held = conditionOf(status?.conditions, 'DeletionHeld');
  return metadata.deletionTimestamp && held?.status === 'True' ? held.message : undefined;
}
