import type { Action } from '../../shared/actions.ts';
import { workspaceImageDueAtMs } from '../../shared/images/pruning.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { isValid, type Policy } from '../../shared/policy.ts';
import { markUnused } from './unused.ts';

/** The image is to be deleted, whether the policy asks to prune or not. */
export const isWorkspaceImageDue = (image: VMDiskImage, policy: Policy, nowMs: number) =>
  (workspaceImageDueAtMs(image, policy) ?? Number.POSITIVE_INFINITY) <= nowMs &&
  // Where machines and workspaces may name images decides which of them count.
  isValid(policy, 'workspaceImagesKeptFor', 'imageNamespaces');

/** Deletes an image that was made for a workspace and that nothing uses any more, only as it was when that was found out. */
export function pruneWorkspaceImage(image: VMDiskImage): Action[] {
  const since = image.status?.unreferencedSince ?? '';
  const message = `The image was made for a workspace, and nothing has used it since ${since}: deleted. To keep such images longer, raise the policy's workspaceImagesKeptFor; to keep one, set annotation pelotech.ot/keep.`;
  return [
    ...markUnused(image),
    { do: 'delete', resource: VMDiskImage, of: image, unchanged: true },
    recordEvent(image, false, 'Pruned', message, since),
  ];
}
