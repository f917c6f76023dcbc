import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, Step } from './follow.ts';
import { policiesOf } from './pass.ts';
import {
  formatMachine,
  formatWorkspace,
  isMadeForWorkspaces,
  isPrunedAsUnused,
  prunableFromMs,
} from './plain-rules.ts';
import { usualSkewMs } from './s7-backoff.ts';
import { usersFoundBy, waitingFoundBy } from './using.ts';
import { isFunction } from './writers.ts';

/**
 * S12, prune: what prune deletes is used by no machine, and waited for by no workspace, that was there when its pass began, was unused for pruneAfter (by any
 * policy that the pass may have read, less the skew of the clocks), and the request insisted on uid and resourceVersion, where
 * that was recorded. Where it is not known who deleted an image, its annotation tells that prune was about to (DESIGN §10).
 */
export const s12Prune: Invariant = {
  number: 'S12',
  says: 'only what nobody has used for pruneAfter is pruned, as it was when that was found out',
  judge: () => ({
    image: (step) => {
      const { before, change } = step;
      if (!before) return undefined;
      const isDeleted = isDeleting(step) && isFunction(change.by) && change.by !== 'prune';
      if (isDeleted) return `${before.metadata.name} was deleted by ${change.by}, which prunes nothing`;
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
  if (deletion && !(deletion.uid && deletion.resourceVersion)) return 'without insisting on uid and resourceVersion';
  const user = usersFoundBy(step, image)[0];
  if (user) return `while ${formatMachine(user)} uses it`;
  const waiting = waitingFoundBy(step, image)[0];
  if (waiting) return `while ${formatWorkspace(waiting)} waits for it`;
  // It goes with its last reference, whatever the policy says (seed 003).
  if (isMadeForWorkspaces(image)) return undefined;
  const policies = policiesOf(step).filter(({ values }) => values.prune === 'WhenUnreferenced');
  if (policies.length === 0) return 'by no policy';
  const dueMs = Math.min(...policies.map((policy) => prunableFromMs(image, policy)));
  const { skewMs = usualSkewMs } = step.history;
  return dueMs - skewMs <= step.change.atMs ? undefined : 'before it was due';
}
