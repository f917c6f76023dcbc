import type { Action } from '../../shared/actions.ts';
import { dueAtMs, isDue, keepAnnotation, workspaceImageDueAtMs } from '../../shared/images/pruning.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { formatDuration } from '../../shared/kubernetes/duration.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { isValid, type Policy } from '../../shared/policy.ts';
import { isMadeForWorkspaces } from '../../shared/workspaces/images.ts';

/** The time since when a pruned image was unused. It distinguishes pruning from a deletion by a user. */
const prunedAsUnused = 'pelotech.ot/pruned-as-unreferenced-since';

/** Why an image was deleted: the rule of the policy, or a user. */
export const ruleOf = (image: VMDiskImage) => {
  const { metadata, status } = image;
  const since = metadata.annotations?.[prunedAsUnused];
  if (since === undefined || since !== status?.unreferencedSince) return 'Deleted';
  return isMadeForWorkspaces(image) ? 'LastReference' : 'WhenUnreferenced';
};

/** The policy asks to prune unused images, and the image is unused according to its status. */
export const mayBeUnused = (image: VMDiskImage, policy: Policy, nowMs: number) =>
  policy.values.prune !== 'Never' &&
  // Where machines may name images decides which of them count.
  isValid(policy, 'prune', 'pruneAfter', 'imageNamespaces') &&
  isDue(image, policy, nowMs);

/** Deletes an image that no machine uses, only as it was observed; with DryRun it only reports it. */
export function pruneUnused(image: VMDiskImage, policy: Policy, nowMs: number): Action[] {
  if (!mayBeUnused(image, policy, nowMs)) return [];
  const since = image.status?.unreferencedSince ?? '';
  const why = `No machine has used the image since ${since}, longer than the policy's pruneAfter (${formatDuration(policy.values.pruneAfter)})`;
  const due = toTime(dueAtMs(image, policy) ?? 0);
  const howToKeep = `To keep it set annotation ${keepAnnotation}`;
  if (policy.values.prune === 'DryRun') {
    const message = `${why}: with prune WhenUnreferenced it would be deleted. ${howToKeep}.`;
    return [recordEvent(image, false, 'WouldBePruned', message, due)];
  }
  return [
    ...markUnused(image),
    { do: 'delete', resource: VMDiskImage, of: image, unchanged: true },
    recordEvent(image, false, 'Pruned', `${why}: deleted. ${howToKeep} next time.`, due),
  ];
}

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

/** Records on the image since when it was unused, unless it is recorded already. */
function markUnused(image: VMDiskImage): Action[] {
  const since = image.status?.unreferencedSince ?? '';
  if (image.metadata.annotations?.[prunedAsUnused] === since) return [];
  const metadata = { annotations: { [prunedAsUnused]: since } };
  return [{ do: 'patchMetadata', resource: VMDiskImage, of: image, metadata }];
}
