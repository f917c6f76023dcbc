import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { traceOf, transition } from '../../shared/rules/image-status.ts';
import { lasted } from '../../shared/rules/lasted.ts';
import { dataVolumeName } from '../../shared/rules/names.ts';
import type { Holder } from '../../shared/rules/slots.ts';
import { toTime } from '../../shared/rules/time.ts';
import { dataVolumeFor } from './data-volume.ts';
import { keptBy, type Seen } from './slot-holder.ts';

/** What a holder still needs: the status that says so, and the DataVolume that does it. */
export function begin(holder: Holder, { images, dataVolumes }: Seen, nowMs: number): Action[] {
  const image = images.get(holder.uid);
  if (!image || keptBy(holder, { nowMs, images, dataVolumes: [], pods: [] }) !== 'status') return [];
  const { phase, attempts = 0, dataVolume, queuedAt = '' } = image.status ?? {};
  const name = dataVolumeName(image.metadata, holder.revision, holder.attempt);
  const isMade =
    dataVolume !== undefined ||
    dataVolumes.some(({ metadata }) => metadata.name === name && metadata.labels?.[imageUidLabel] === holder.uid);
  if (phase === 'Syncing' && isMade) return [];
  const trace = traceOf(image, holder.revision);
  const create: Action = {
    do: 'create',
    resource: DataVolume,
    object: dataVolumeFor(image, holder.revision, holder.attempt),
    owner: holder.uid,
    trace,
  };
  // Writing the phase that stands there changes nothing, and is refused where somebody moved the image since.
  if (phase === 'Syncing')
    return [{ do: 'patchStatus', resource: VMDiskImage, of: image, status: { phase }, trace }, create];
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
  return [...begun, create, lasted({ metric: 'ot.image.queue.wait.duration', since: queuedAt, nowMs, trace })];
}
