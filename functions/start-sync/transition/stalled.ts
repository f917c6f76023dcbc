import type { Action } from '../../../shared/actions.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf, withProgress } from '../../../shared/kubernetes/conditions.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { repeated } from '../../../shared/reasons/reason.ts';

/** Whether the image came to its end, or lost its snapshot, before releases said so in the condition Stalled. */
export const lacksStalled = ({ metadata, status }: VMDiskImage) => {
  const { phase, conditions } = status ?? {};
  const isLost = conditionOf(conditions, 'SnapshotLost')?.status === 'True';
  const isStalled = phase === 'Failed' || (phase === 'Succeeded' && isLost);
  return isStalled && !metadata.deletionTimestamp && !conditionOf(conditions, 'Stalled');
};

/** Says so with the words of Ready: only transitions write it otherwise. */
export function correctStalled(image: VMDiskImage, { nowMs }: { nowMs: number }): Action[] {
  const { conditions = [], message = '' } = image.status ?? {};
  const ready = conditionOf(conditions, 'Ready');
  if (!ready || !lacksStalled(image)) return [];
  const cause = { reason: repeated(ready.reason), message, observedGeneration: image.metadata.generation };
  const status = { conditions: withProgress(conditions, 'Stalled', cause, toTime(nowMs)) };
  return [{ do: 'patchStatus', resource: VMDiskImage, of: image, status }];
}
