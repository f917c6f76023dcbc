import type { Action } from '../../shared/actions.ts';
import { publish } from '../../shared/images/status.ts';
import { isUnsettled } from '../../shared/images/unsettled.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { toTime } from '../../shared/kubernetes/time.ts';

/** The images that events name and that are unsettled. */
export interface Unsettled {
  nowMs: number;
  unsettled: readonly VMDiskImage[];
}

/** None if all are settled, as most are. */
export function unsettledIn(images: Iterable<VMDiskImage | undefined>, nowMs: number): Unsettled[] {
  const unsettled = [...images].filter((image) => image !== undefined).filter(isUnsettled);
  return unsettled.length > 0 ? [{ nowMs, unsettled }] : [];
}

/** Notifies follow-sync, which receives no change of an image: it would have to read each, and this function has read it already. */
export const publishUnsettled = ({ unsettled, nowMs }: Unsettled): Action[] =>
  unsettled.map((image) => ({
    ...publish(image, 'unsettled', image.status?.revision ?? 0, toTime(nowMs), {}),
    about: image,
  }));
