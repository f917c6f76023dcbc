import type { Action } from '../../shared/actions.ts';
import { kupenstackFinalizer } from '../../shared/kinds/kupenstack/condition.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { deleteImage } from '../../shared/kinds/openstack/image.ts';
import { type OpenStackRequest, uidKey } from '../../shared/kinds/openstack/request.ts';
import { type CinderVolume, createVolume, deleteVolume, extendVolume } from '../../shared/kinds/openstack/volume.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../shared/kubernetes/finalizer.ts';
import { bytesOf } from '../../shared/kubernetes/quantity.ts';
import type { StatusReport } from '../../shared/kubernetes/status.ts';
import {
  callsFor,
  cloudReady,
  firstRefusal,
  notUnique,
  requeueAfterFault,
  requeueSoon,
  unreachable,
} from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import { failedAttempt, isSpent, reportAfter, waitsForNext } from './attempts.ts';
import type { Found, Observed } from './observed.ts';
import { type Source, sourceOf } from './source.ts';
import {
  broken,
  busy,
  downloading,
  existing,
  factsOf,
  growing,
  notGrown,
  refusedReport,
  statusBefore,
  updateStatus,
  withGarbage,
} from './status.ts';

/**
 * Creates a volume, filled from an image if its spec names one, and reports its status. Order: finalizer → image (where it is to be
 * downloaded) → volume → status; the image goes once the volume holds its content. A failed attempt is written down before what it
 * left is deleted. What was made is found by the uid in its metadata, whatever the status says.
 */
export function decide(observed: Observed): Action[] {
  const { volume, cloud } = observed;
  if (volume.metadata.deletionTimestamp) return finalize(observed);
  if ('fault' in cloud) {
    const report = unreachable(cloud.fault, volume.status?.id !== undefined, {
      ...statusBefore(volume),
      ready: false,
    });
    return [...updateStatus(observed, report), ...requeueAfterFault(cloud.fault, volume)];
  }
  if (!hasFinalizer(volume, kupenstackFinalizer))
    return [addFinalizer(Volume, volume, kupenstackFinalizer), { do: 'requeue', about: volume }];
  const found = ownOf(volume, cloud.volumes);
  const [own, second] = found;
  if (second) return updateStatus(observed, { ...busy(volume, 'Failed'), ...notUnique('volume', found) });
  return own ? follow(observed, cloud, own) : begin(observed, cloud);
}

const ownOf = ({ metadata }: Volume, volumes: readonly CinderVolume[]) =>
  volumes.filter((one) => one.metadata[uidKey] === metadata.uid);

/** GiB, as Cinder counts. */
const wantedSize = ({ spec }: Volume) => Math.max(1, Math.ceil((bytesOf(spec.size) ?? 0) / 2 ** 30));

function begin(observed: Observed, found: Found): Action[] {
  const { volume } = observed;
  const source = sourceOf(observed, found);
  if (source.is === 'failed') {
    const { image, message } = source;
    return failedAttempt(observed, image, 'DownloadFailed', message, [deleteImage(image.id)]);
  }
  if (isSpent(observed) || waitsForNext(observed)) return updateStatus(observed, reportAfter(volume));
  if (source.is === 'missing') {
    const { reason, message, isFinal } = source;
    return updateStatus(observed, { ...busy(volume, isFinal ? 'Failed' : 'Pending'), reason, message });
  }
  if (source.is === 'on its way') return look(observed, downloading(volume));
  const request = requestFor(volume, source);
  const calls = callsFor(volume, [request], observed.refusals);
  if (calls.length > 0) return calls;
  const refused = firstRefusal(observed.refusals, volume, [request]);
  return updateStatus(observed, refused ? refusedReport(volume, refused) : downloading(volume));
}

function requestFor(volume: Volume, source: Source & { is: 'empty' | 'ready' | 'asked for' }): OpenStackRequest {
  if (source.is === 'asked for') return source.request;
  const image = source.is === 'ready' ? source.image : undefined;
  return createVolume(volume.metadata.uid, { name: volume.metadata.name, size: wantedSize(volume), image });
}

function follow(observed: Observed, found: Found, own: CinderVolume): Action[] {
  const { volume, refusals } = observed;
  const isBroken = /^error/.test(own.status);
  if (isBroken && isFilled(volume, own)) return updateStatus(observed, broken(volume, own));
  if (isBroken && own.status !== 'error_extending' && own.status !== 'error_deleting') {
    return failedAttempt(observed, own, 'VolumeFailed', `Cinder could not make the volume (${own.status})`, [
      deleteVolume(own.id),
    ]);
  }
  // What an attempt left is being deleted, and the earlier report about it stays.
  if (own.status === 'deleting' && own.id === volume.status?.failed) return [requeueSoon(volume)];
  const isSettled = own.status === 'available' || own.status === 'in-use';
  const isSmall = own.size < wantedSize(volume);
  const grows = isSettled && isSmall ? [extendVolume(own.id, wantedSize(volume))] : [];
  // A machine may have it before anybody here has seen it available.
  const isSeparate = own.status !== 'creating' && own.status !== 'downloading';
  const garbage = isSeparate ? found.own.map(({ id }) => deleteImage(id)) : [];
  const requests = [...garbage, ...grows];
  const calls = callsFor(volume, requests, refusals);
  if (calls.length > 0) return calls;
  const refused = firstRefusal(refusals, volume, grows);
  const report = withGarbage(existing(volume, own), garbage.length > 0);
  if (refused) return look(observed, { ...report, isReady: false, ...notGrown(refused) }, isSettled);
  return look(observed, report.isReady && isSmall ? { ...report, isReady: false, ...growing } : report, isSettled);
}

/** The volume existed once and may contain data: an error that Cinder reports now is no failed attempt to create it. */
const isFilled = ({ status }: Volume, own: CinderVolume) =>
  status?.filled === own.id || (status?.ready === true && status.id === own.id);

/** Reports the state, and reconciles again soon while a task runs. */
function look(observed: Observed, report: StatusReport, isSettled = false): Action[] {
  const { volume } = observed;
  return [...updateStatus(observed, report), ...(isSettled ? [] : [requeueSoon(volume)])];
}

/** Deletes what was created; a volume that a server has stays until it is detached. */
function finalize(observed: Observed): Action[] {
  const { volume, cloud, refusals } = observed;
  if (!hasFinalizer(volume, kupenstackFinalizer)) return [];
  if ('fault' in cloud) {
    if (cloud.fault.reason === 'ProjectMissing') return [removeFinalizer(Volume, volume, kupenstackFinalizer)];
    const report = unreachable(cloud.fault, true, { ...statusBefore(volume), ready: false });
    return updateStatus(observed, { ...report, phase: 'Terminating' });
  }
  const own = ownOf(volume, cloud.volumes);
  if (own.length === 0 && cloud.own.length === 0) return [removeFinalizer(Volume, volume, kupenstackFinalizer)];
  const attached = own.find(({ attachments }) => attachments.length > 0);
  const requests = [
    ...own
      .filter(({ status, attachments }) => status !== 'deleting' && attachments.length === 0)
      .map(({ id }) => deleteVolume(id)),
    ...cloud.own.map(({ id }) => deleteImage(id)),
  ];
  const calls = callsFor(volume, requests, refusals);
  if (calls.length > 0) return calls;
  const refused = firstRefusal(refusals, volume, requests);
  const holder =
    attached && `Server ${attached.attachments[0]?.server_id} has the volume: it is deleted once it is detached.`;
  const why: Cause | undefined = holder ? { reason: 'InUse', message: holder } : refused;
  return [
    ...updateStatus(observed, {
      phase: 'Terminating',
      isReady: false,
      reason: why?.reason ?? 'Deleting',
      message: why?.message ?? 'It is being deleted.',
      conditions: [cloudReady, ...(why ? [{ type: 'DeletionHeld', status: 'True' as const, ...why }] : [])],
      fields: { ...factsOf(own[0]), ready: false },
    }),
    requeueSoon(volume),
  ];
}
