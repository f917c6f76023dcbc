import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, Step } from './follow.ts';
import {
  formatMachine,
  formatWorkspace,
  isMadeForWorkspaces,
  isPrunedAsUnused,
  prunableFromMs,
} from './plain-rules.ts';
import { policiesOf } from './reconcile.ts';
import { usualSkewMs } from './s7-backoff.ts';
import { usersFoundBy, waitingFoundBy } from './using.ts';
import { isFunction } from './writers.ts';

/**
 * S12, prune: prune deletes an image only if no machine used it and no workspace waited for it when its reconcile began, and if
 * it was unused for pruneAfter, or workspaceImagesKeptFor, (by any policy that the reconcile may have read, minus the clock skew). The request has the uid
 * and resourceVersion as preconditions, if requests were recorded. If the writer is unknown, the annotation that prune sets
 * before a deletion identifies it.
 */
export const s12Prune: Invariant = {
  number: 'S12',
  rule: 'prune deletes only images that were unused for pruneAfter, with preconditions',
  judge: () => ({
    image: (step) => {
      const { before, change } = step;
      if (!before) return undefined;
      const isDeleted = isDeleting(step) && isFunction(change.by) && change.by !== 'prune';
      if (isDeleted) return `${before.metadata.name} was deleted by ${change.by}, which must not prune`;
      if (!isPruned(step, before)) return undefined;
      const why = wrongly(step, before, change.deletion);
      return why && `${before.metadata.name} was pruned ${why}`;
    },
  }),
};

const isDeleting = ({ object, before, isGone }: Step<VMDiskImage>) =>
  before?.metadata.deletionTimestamp === undefined && (isGone || object.metadata.deletionTimestamp !== undefined);

function isPruned(step: Step<VMDiskImage>, before: VMDiskImage): boolean {
  const { change } = step;
  return isDeleting(step) && (change.by === undefined ? isPrunedAsUnused(before) : change.by === 'prune');
}

function wrongly(step: Step, image: VMDiskImage, deletion: Step['change']['deletion']): string | undefined {
  if (deletion && !(deletion.uid && deletion.resourceVersion))
    return 'without the preconditions uid and resourceVersion';
  const user = usersFoundBy(step, image)[0];
  if (user) return `while ${formatMachine(user)} uses it`;
  const waiting = waitingFoundBy(step, image)[0];
  if (waiting) return `while ${formatWorkspace(waiting)} waits for it`;
  const policies = policiesOf(step).filter(
    ({ values }) => values.prune === 'WhenUnreferenced' || isMadeForWorkspaces(image),
  );
  if (policies.length === 0) return 'by no policy';
  const dueMs = Math.min(...policies.map((policy) => prunableFromMs(image, policy)));
  const { skewMs = usualSkewMs } = step.history;
  return dueMs - skewMs <= step.change.atMs ? undefined : 'before it was due';
}
