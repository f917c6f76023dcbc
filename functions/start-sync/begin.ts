import type { Action } from '../../shared/actions.ts';
import type { Holder } from '../../shared/images/slots.ts';
import { transition } from '../../shared/images/status.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { dataVolumeName } from '../../shared/kubernetes/names.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { lasted } from '../../shared/lasted.ts';
import { traceOfImage } from '../../shared/traces.ts';
import { dataVolumeFor } from './data-volume.ts';
import type { Gathered } from './observed.ts';
import { isActiveAttempt } from './occupancy.ts';

/** What a holder of a slot still needs: the status Syncing, and the DataVolume that downloads. */
export function begin(
  holder: Holder,
  image: VMDiskImage | undefined,
  { dataVolumes, nowMs }: Pick<Gathered, 'dataVolumes' | 'nowMs'>,
): Action[] {
  if (!image || !isActiveAttempt(holder, image)) return [];
  const { phase, attempts = 0, dataVolume, queuedAt = '' } = image.status ?? {};
  const name = dataVolumeName(image.metadata, holder.revision, holder.attempt);
  const isMade =
    dataVolume !== undefined ||
    dataVolumes.some(({ metadata }) => metadata.name === name && metadata.labels?.[imageUidLabel] === holder.uid);
  if (phase === 'Syncing' && isMade) return [];
  const trace = traceOfImage(image, holder.revision);
  const create: Action = {
    do: 'create',
    resource: DataVolume,
    object: dataVolumeFor(image, holder.revision, holder.attempt),
    owner: holder.uid,
    trace,
  };
  // A no-op status write, so that a concurrent transition makes it conflict.
  if (phase === 'Syncing') return [{ do: 'patchStatus', resource: VMDiskImage, of: image, status: { phase } }, create];
  const begun = transition(image, {
    to: 'Syncing',
    reason: 'SyncStarted',
    message: `Waiting for the importer, attempt ${attempts + 1}.`,
    nowMs,
    fields: {
      attempt: holder.attempt,
      attempts: attempts + 1,
      startedAt: toTime(nowMs),
      progress: null,
      progressAt: null,
      dataVolume: null,
      importer: null,
    },
  });
  return [...begun, lasted({ metric: 'ot.image.queue.wait.duration', since: queuedAt, nowMs, trace }), create];
}
