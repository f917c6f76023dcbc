import type { Action } from '../../../shared/actions.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { recordEvent } from '../../../shared/kubernetes/events.ts';
import { type Downloads, isActive, isStuck, keptBy, stuckAfterMs } from './occupancy.ts';

/** Warnings at what frees a slot or keeps it for longer than it should; `imageOf` a holder is the image as it is after this reconcile. */
export function warningsOf(
  before: readonly Holder[],
  kept: readonly Holder[],
  imageOf: (holder: Holder) => VMDiskImage | undefined,
  downloads: Downloads,
): Action[] {
  const { nowMs, pods, dataVolumes } = downloads;
  const isStuckOf = ({ uid }: Holder, one: Pod | DataVolume) =>
    one.metadata.labels?.[imageUidLabel] === uid && isStuck(one, nowMs);
  const freed = before.filter((holder) => !kept.includes(holder));
  return [
    ...freed.flatMap((holder) => pods.filter((pod) => isStuckOf(holder, pod) && isActive(pod)).map(stuckWarning)),
    ...kept.flatMap((holder) =>
      obsoletePods(holder, imageOf(holder), downloads).map((pod) => obsoleteWarning(pod, holder)),
    ),
    ...kept.flatMap((holder) =>
      dataVolumes.filter((one) => isStuckOf(holder, one)).map((one) => terminatingWarning(one, holder)),
    ),
  ];
}

/** Pods that keep the slot of this holder although its attempt ended long ago or its image does not exist. */
function obsoletePods(holder: Holder, image: VMDiskImage | undefined, downloads: Downloads): Pod[] {
  if (keptBy(holder, image, downloads) === 'status') return [];
  const isOld = (since: string | undefined) => downloads.nowMs - Date.parse(since ?? '') > stuckAfterMs;
  if (image && !isOld(image.status?.history?.at(-1)?.time)) return [];
  return downloads.pods.filter(
    ({ metadata, ...pod }) =>
      metadata.labels?.[imageUidLabel] === holder.uid &&
      metadata.deletionTimestamp === undefined &&
      isActive({ metadata, ...pod }) &&
      isOld(metadata.creationTimestamp),
  );
}

function stuckWarning(pod: Pod): Action {
  const message =
    'The importer has been Terminating for over 10 minutes; its slot is given to another image. Look at its node.';
  return recordEvent(pod, true, 'SlotFreed', message, pod.metadata.uid);
}

function obsoleteWarning(pod: Pod, { image }: Holder): Action {
  const message = `Expected no importer for VMDiskImage ${image}, whose attempt has been over for 10 minutes, found this one running: it keeps its slot until it ends. Delete the claim that it fills, and check why CDI has not.`;
  return recordEvent(pod, true, 'SlotHeld', message, pod.metadata.uid);
}

function terminatingWarning(volume: DataVolume, { image }: Holder): Action {
  const { uid, deletionTimestamp, finalizers } = volume.metadata;
  const held = finalizers?.join(', ') || 'none';
  const message = `The DataVolume has been Terminating since ${deletionTimestamp} (finalizers: ${held}); until it is deleted, the slot of VMDiskImage ${image} is taken. Check the logs of CDI.`;
  return recordEvent(volume, true, 'SlotHeld', message, uid);
}
