import type { Action } from '../../../shared/actions.ts';
import { dataVolumeName } from '../../../shared/images/children.ts';
import { bytesOfAttempt } from '../../../shared/images/egress.ts';
import { inspectionOf } from '../../../shared/images/inspection.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import { patchStatus, transition } from '../../../shared/images/status.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { formatDuration } from '../../../shared/kubernetes/duration.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { lasted } from '../../../shared/lasted.ts';
import type { Policy } from '../../../shared/policy.ts';
import { traceOfImage } from '../../../shared/traces.ts';
import type { Gathered } from '../observed.ts';
import { notQueued } from '../queue/place.ts';
import { dataVolumeFor } from './data-volume.ts';
import { asBegun, type Donor, donorFor } from './donors.ts';
import { isActiveAttempt } from './occupancy.ts';

/** What a holder of a slot still needs: the status Syncing, and the DataVolume that downloads. */
export function begin(
  holder: Holder,
  image: VMDiskImage | undefined,
  { dataVolumes, nowMs, policy, donors }: Pick<Gathered, 'dataVolumes' | 'nowMs' | 'policy' | 'donors'>,
): Action[] {
  if (!image || !isActiveAttempt(holder, image)) return [];
  const { phase, attempts = 0, egressBytes = 0, dataVolume, queuedAt = '' } = image.status ?? {};
  const name = dataVolumeName(image.metadata, holder.revision, holder.attempt);
  const isMade =
    dataVolume !== undefined ||
    dataVolumes.some(({ metadata }) => metadata.name === name && metadata.labels?.[imageUidLabel] === holder.uid);
  if (phase === 'Syncing' && isMade) return [];
  const trace = traceOfImage(image, holder.revision);
  const sharedFrom = phase === 'Syncing' ? (image.status?.sharedFrom ?? null) : (donorFor(image, donors) ?? null);
  const create: Action = {
    do: 'create',
    resource: DataVolume,
    object: dataVolumeFor(image, holder.revision, holder.attempt, sharedFrom),
    owner: holder.uid,
    trace,
  };
  // A no-op status write, so that a concurrent transition makes it conflict.
  if (phase === 'Syncing') return [patchStatus(image, { phase }), create];
  const bytes = bytesOfAttempt(asBegun(image, donors));
  const begun = transition(image, {
    to: 'Syncing',
    reason: 'SyncStarted',
    message: sharedFrom ? cloning(sharedFrom) : waiting(attempts + 1, image, policy),
    nowMs,
    bytes,
    fields: {
      ...notQueued,
      attempt: holder.attempt,
      attempts: attempts + 1,
      sharedFrom,
      startedAt: toTime(nowMs),
      progress: null,
      progressAt: null,
      dataVolume: null,
      importer: null,
      egressBytes: egressBytes + bytes,
    },
  });
  return [...begun, lasted({ metric: 'ot.image.queue.wait.duration', since: queuedAt, nowMs, trace }), create];
}

const cloning = ({ image }: Donor) =>
  `Being cloned from the snapshot of VMDiskImage ${image}, which has the same content; nothing is downloaded.`;

function waiting(attempts: number, image: VMDiskImage, { values: { inspectTimeout } }: Policy): string {
  const isUninspected = inspectTimeout > 0 && [undefined, 'SourceUnreachable'].includes(inspectionOf(image)?.reason);
  const within = `within ${formatDuration(inspectTimeout)} (inspectTimeout)`;
  return `Waiting for the importer, attempt ${attempts}.${isUninspected ? ` Its source was not inspected ${within}.` : ''}`;
}
