import { type Action, requeueNamed } from '../../../shared/actions.ts';
import { nextLookMs } from '../../../shared/backoff.ts';
import { attemptEnd } from '../../../shared/images/attempt-end.ts';
import { afterwards, transition } from '../../../shared/images/status.ts';
import { diskImageFinalizer, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../../shared/kinds/resource.ts';
import { addFinalizer, hasFinalizer } from '../../../shared/kubernetes/finalizer.ts';
import type { Reason } from '../../../shared/reasons/reason.ts';
import type { Observed } from '../observed.ts';
import { acknowledge, rebuiltStatus, unknownPhase } from '../status.ts';
import { lacksInput } from './inputs.ts';
import { nextTransition } from './next-transition.ts';

/** An image, the transition that it takes in this reconcile, and the image after it. */
export interface Transitioned {
  image: VMDiskImage;
  next: VMDiskImage;
  actions: readonly Action[];
}

export function takeTransition(image: VMDiskImage, observed: Observed): Transitioned {
  const { nowMs, undecided } = observed;
  const unchanged: Transitioned = { image, next: image, actions: [] };
  if (undecided?.has(image.metadata.uid)) return unchanged;
  const first = nextTransition(image, observed);
  if (!first) {
    const others = [
      ...acknowledge(image),
      ...finalizer(image),
      ...unknownPhase(image),
      ...requeueLacking(image, nowMs),
    ];
    return image.status?.phase ? { ...unchanged, actions: others } : unchanged;
  }
  const actions = transition(image, { ...first, nowMs });
  const changed = afterwards(image, actions);
  // A newly queued image is checked before it may get a slot.
  const second = first.to === 'Queued' ? nextTransition(changed, observed) : undefined;
  const secondActions = second ? transition(changed, { ...second, nowMs }) : [];
  const next = afterwards(changed, secondActions);
  return {
    image,
    next,
    actions: [
      ...actions,
      // After the status: this write raises the resourceVersion, which decides who came first within a second.
      ...finalizer(image),
      ...secondActions,
      ...interrupted(image, first, observed),
      ...rebuiltStatus(image, first),
      ...requeueLacking(next, nowMs),
    ],
  };
}

/** The first audit after this finds it. */
const requeuedForMs = 600_000;

/** No event reports that a Secret was created: its image is looked at ever more seldom, later only by audits. */
function requeueLacking(image: VMDiskImage, nowMs: number): Action[] {
  const failedMs = nowMs - Date.parse(image.status?.history?.at(-1)?.time ?? '');
  if (!lacksInput(image) || !(failedMs < requeuedForMs)) return [];
  return [requeueNamed(VMDiskImage, referenceOf(image), nextLookMs(failedMs, 15_000))];
}

/** Records an attempt that start-sync ends: for a newer revision, or because its DataVolume was refused. */
function interrupted(
  image: VMDiskImage,
  { to, reason }: { to: string; reason: Reason },
  { nowMs, policy }: Observed,
): Action[] {
  if (image.status?.phase !== 'Syncing') return [];
  const result = to === 'Failed' ? 'failure' : 'superseded';
  return attemptEnd(image, { result, reason, nowMs, policy, isUnstarted: image.status.importer === undefined });
}

/** `kubectl replace` of a manifest removes it. */
export const lacksFinalizer = (image: VMDiskImage) => !hasFinalizer(image, diskImageFinalizer);

/** A finalizer cannot be added to an object that is being deleted. */
const finalizer = (image: VMDiskImage): Action[] =>
  lacksFinalizer(image) && !image.metadata.deletionTimestamp
    ? [addFinalizer(VMDiskImage, image, diskImageFinalizer)]
    : [];
