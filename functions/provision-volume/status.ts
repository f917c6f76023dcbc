import type { Action } from '../../shared/actions.ts';
import { Volume, type VolumePhase } from '../../shared/kinds/kupenstack/volume.ts';
import type { CinderVolume } from '../../shared/kinds/openstack/volume.ts';
import { reportStatus, type StatusReport } from '../../shared/kubernetes/status.ts';
import { cloudReady, describeRefused, isFinalRefusal } from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import { sentence } from '../../shared/sentence.ts';
import type { Observed } from './observed.ts';

/** What the status reports of the volume in OpenStack, where this reconcile found out nothing about it. */
export const statusBefore = ({ status }: Volume) => ({
  id: status?.id,
  filled: status?.filled,
  size: status?.size,
  bootable: status?.bootable,
  server: status?.server,
  attempts: status?.attempts,
  imageLeft: status?.imageLeft,
  failed: status?.failed,
  failure: status?.failure,
  nextAttemptAt: status?.nextAttemptAt,
});

/** What Cinder reports about it. */
export const factsOf = (own: CinderVolume | undefined) => ({
  id: own?.id,
  size: own && `${own.size}Gi`,
  bootable: own && own.bootable === 'true',
  server: own?.attachments[0]?.server_id,
});

/** A volume that is not there yet, or cannot be. */
export const busy = (
  volume: Volume,
  phase: VolumePhase,
): Pick<StatusReport, 'phase' | 'isReady' | 'conditions' | 'fields'> => ({
  phase,
  isReady: false,
  conditions: [cloudReady],
  fields: { ...statusBefore(volume), ready: false },
});

/** By Cinder's own words for the states of a volume; those that are missing here are Unknown. */
const phases: Readonly<Record<string, VolumePhase>> = {
  creating: 'Creating',
  downloading: 'Creating',
  available: 'Available',
  reserved: 'InUse',
  attaching: 'InUse',
  detaching: 'InUse',
  'in-use': 'InUse',
  extending: 'Available',
  error_extending: 'Failed',
  deleting: 'Terminating',
};

/** The state of the volume as Cinder reports it. Failed attempts are forgotten once it exists. */
export function existing(volume: Volume, own: CinderVolume): StatusReport {
  const phase = phases[own.status] ?? 'Unknown';
  const isReady = phase === 'Available' || phase === 'InUse';
  const gone = isReady ? { attempts: undefined, failed: undefined, failure: undefined, nextAttemptAt: undefined } : {};
  return {
    phase,
    isReady,
    reason: phase,
    message: isReady ? 'The volume exists.' : `The volume is ${own.status}.`,
    conditions: [cloudReady],
    fields: {
      ...statusBefore(volume),
      ...gone,
      ...factsOf(own),
      // Said once and for all: that it is not available any more takes nothing out of it.
      filled: isReady || volume.status?.filled === own.id ? own.id : undefined,
      ready: isReady,
    },
  };
}

export const updateStatus = ({ volume, nowMs }: Observed, report: StatusReport): Action[] =>
  reportStatus({ resource: Volume }, volume, report, nowMs);

export const downloading = (volume: Volume): StatusReport => ({
  ...busy(volume, 'Downloading'),
  reason: 'Downloading',
  message: 'Glance downloads the image.',
});

export const refusedReport = (volume: Volume, refused: Cause): StatusReport => ({
  ...busy(volume, isFinalRefusal(refused) ? 'Failed' : 'Pending'),
  reason: refused.reason,
  message: describeRefused('volume', refused),
});

export const broken = (volume: Volume, own: CinderVolume): StatusReport => ({
  ...existing(volume, own),
  phase: 'Failed',
  reason: 'VolumeError',
  message: `Cinder reports status ${own.status} for a volume that may contain data: nothing is deleted. An OpenStack admin can find out why, and set its state: openstack volume set --state available ${own.id}.`,
});

export const growing: Cause = { reason: 'Growing', message: 'Cinder enlarges the volume.' };

export const notGrown = ({ reason, message }: Cause): Cause => ({
  reason,
  message: `Cinder does not enlarge the volume: ${sentence(message)}`,
});

/** An image that could not be deleted is looked for again while this is reported. */
export const withGarbage = (report: StatusReport, isLeft: boolean): StatusReport => ({
  ...report,
  fields: { ...report.fields, imageLeft: isLeft ? true : undefined },
});
