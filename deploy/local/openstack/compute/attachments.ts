import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { attach, isFree, release, reserve, setStatus } from '../volume/handle.ts';
import { notReservable } from '../volume/refusals.ts';
import { mustBeUnlocked } from './refusals.ts';
import { mustBeAllowed } from './server-actions.ts';
import { freeDevice } from './server-machine.ts';
import type { Server, ServerVolume } from './state.ts';
import { change, note, whenHostIsUp } from './work.ts';

const NewAttachment = z.object({
  volumeAttachment: z.object({
    volumeId: z.guid(),
    device: z.string().nullish(),
    tag: z.string().nullish(),
    delete_on_termination: z.boolean().default(false),
  }),
});
const from = ['active', 'stopped', 'paused', 'resized'] as const;

/** Volumes of a server: `found` gives the server that the path names. */
export function attachmentRoutes(cloud: Cloud, found: (asked: Asked) => Server): Route[] {
  const path = '/servers/:id/os-volume_attachments';
  const attachment = (asked: Asked) => {
    const { volume = '' } = asked.params;
    const known = found(asked).volumes.find(({ volumeId }) => volumeId === volume);
    if (!known) throw new Refusal(404, `Instance ${asked.params.id} is not attached to volume ${volume}`);
    return known;
  };
  return [
    route(`GET ${path}`, 'listVolumeAttachments', (asked) => {
      const server = found(asked);
      return ok({ volumeAttachments: server.volumes.map((each) => shown(cloud, server, each, asked)) });
    }),
    route(`POST ${path}`, 'attachVolume', (asked) => attachVolume(cloud, found(asked), asked)),
    route(`GET ${path}/:volume`, 'showVolumeAttachment', (asked) =>
      ok({ volumeAttachment: shown(cloud, found(asked), attachment(asked), asked) }),
    ),
    route(`DELETE ${path}/:volume`, 'detachVolume', (asked) => {
      const server = found(asked);
      if (!cloud.volume.volumes.has(asked.params.volume ?? ''))
        throw new Refusal(404, `Volume ${asked.params.volume} could not be found.`);
      return detachVolume(cloud, server, attachment(asked), asked);
    }),
  ];
}

function attachVolume(cloud: Cloud, server: Server, asked: Asked) {
  const { volumeId, tag, delete_on_termination } = bodyAs(NewAttachment, asked.body).volumeAttachment;
  const volume = cloud.volume.volumes.get(volumeId);
  if (!volume || (!asked.caller.isAdmin && volume.projectId !== asked.caller.projectId))
    throw new Refusal(404, `Volume ${volumeId} could not be found.`);
  mustBeUnlocked(server, asked);
  mustBeAllowed(server, { name: 'attach_volume', from });
  if (server.volumes.some((each) => each.volumeId === volumeId))
    throw new Refusal(400, `Invalid volume: volume ${volumeId} is already attached to instances: ${server.id}`);
  if (!isFree(volume)) throw notReservable(cloud, volume);
  reserve(cloud, volumeId, server.id);
  const device = freeDevice(server.volumes.map((each) => each.device));
  const attachment: ServerVolume = {
    volumeId,
    device,
    isRoot: false,
    deleteOnTermination: delete_on_termination,
    tag: tag ?? null,
  };
  change(cloud, server.id, { volumes: [...server.volumes, attachment] });
  note(cloud, server.id, 'attach_volume', asked);
  // First Nova calls the host, then the host attaches the volume.
  cloud.clock.after(cloud.times.attach / 2, () =>
    whenHostIsUp(cloud, () => {
      if (!has(cloud, server.id, volumeId)) return;
      setStatus(cloud, volumeId, 'attaching');
      cloud.clock.after(
        cloud.times.attach / 2,
        () => has(cloud, server.id, volumeId) && attach(cloud, volumeId, server.id, device),
      );
    }),
  );
  return ok({ volumeAttachment: shown(cloud, server, attachment, asked) });
}

const has = ({ compute }: Cloud, id: string, volume: string) =>
  compute.servers.get(id)?.volumes.some(({ volumeId }) => volumeId === volume) ?? false;

function detachVolume(cloud: Cloud, server: Server, { volumeId, isRoot }: ServerVolume, asked: Asked) {
  mustBeUnlocked(server, asked);
  if (isRoot) throw new Refusal(400, 'Cannot detach a root device volume');
  const volume = cloud.volume.volumes.get(volumeId);
  mustBeAllowed(server, { name: 'detach_volume', from: [...from, 'suspended'] });
  if (volume?.status !== 'in-use')
    throw new Refusal(
      409,
      `Invalid volume: Invalid volume: Volume ${volumeId} status must be in-use to detach, but current status is ${volume?.status}.`,
    );
  setStatus(cloud, volumeId, 'detaching');
  note(cloud, server.id, 'detach_volume', asked);
  cloud.clock.after(cloud.times.detach, () =>
    whenHostIsUp(cloud, () => {
      const { volumes } = cloud.compute.servers.get(server.id) ?? { volumes: [] };
      change(cloud, server.id, { volumes: volumes.filter((each) => each.volumeId !== volumeId) });
      release(cloud, volumeId, server.id);
    }),
  );
  return done(202);
}

function shown(
  cloud: Cloud,
  server: Server,
  { volumeId, device, tag, deleteOnTermination }: ServerVolume,
  { minor }: Asked,
) {
  const made = cloud.volume.volumes.get(volumeId)?.attachments.find(({ serverId }) => serverId === server.id);
  return {
    ...(minor < 89 && { id: volumeId }),
    volumeId,
    serverId: server.id,
    device,
    ...(minor >= 70 && { tag }),
    ...(minor >= 79 && { delete_on_termination: deleteOnTermination }),
    ...(minor >= 89 && { attachment_id: made?.id ?? null, bdm_uuid: made?.id ?? null }),
  };
}
