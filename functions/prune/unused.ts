import type { Action } from '../../shared/actions.ts';
import { dueAtMs, isDue, keepAnnotation } from '../../shared/images/pruning.ts';
import { recordEvent, traceOf } from '../../shared/images/status.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { formatDuration } from '../../shared/kubernetes/duration.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { isValid, type Policy } from '../../shared/policy.ts';
import { isMadeForWorkspaces } from '../../shared/workspaces/images.ts';

/** Since when nobody used an image that was deleted for it: what tells that deletion from one that somebody asked for. */
const prunedAsUnused = 'pelotech.ot/pruned-as-unreferenced-since';

/** What made an image go: the policy's rule, or somebody's word. */
export const ruleOf = (image: VMDiskImage) => {
  const { metadata, status } = image;
  const since = metadata.annotations?.[prunedAsUnused];
  if (since === undefined || since !== status?.unreferencedSince) return 'Deleted';
  return isMadeForWorkspaces(image) ? 'LastReference' : 'WhenUnreferenced';
};

/** The policy asks for images that nobody uses, and the image is one by what its status says. */
export const mayBeUnused = (image: VMDiskImage, policy: Policy, nowMs: number) =>
  policy.values.prune !== 'Never' &&
  // Where machines may name images decides which of them count.
  isValid(policy, 'prune', 'pruneAfter', 'imageNamespaces') &&
  isDue(image, policy, nowMs);

/** Deletes an image that no machine uses, only as it was when that was found out; under DryRun it says so and no more. */
export function unused(image: VMDiskImage, policy: Policy, nowMs: number): Action[] {
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
    { do: 'delete', resource: VMDiskImage, of: image, unchanged: true, trace: traceOf(image) },
    recordEvent(image, false, 'Pruned', `${why}: deleted. ${howToKeep} next time.`, due),
  ];
}

/** Says on the image that it is deleted for having been unused since then, where that does not stand there yet. */
export function markUnused(image: VMDiskImage): Action[] {
  const since = image.status?.unreferencedSince ?? '';
  if (image.metadata.annotations?.[prunedAsUnused] === since) return [];
  const metadata = { annotations: { [prunedAsUnused]: since } };
  return [{ do: 'patchMetadata', resource: VMDiskImage, of: image, metadata, trace: traceOf(image) }];
}
