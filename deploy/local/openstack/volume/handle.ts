import type { Cloud } from '../cloud.ts';
import type { Volume, VolumeStatus } from './state.ts';
import { attached, isFree, released, reserved, withStatus } from './transitions.ts';

/** Writes the next state of a volume, if it still exists. */
export function change(cloud: Cloud, id: string, next: (volume: Volume) => Volume): void {
  const volume = cloud.volume.volumes.get(id);
  if (volume) cloud.volume.volumes.set(id, next(volume));
}

/** A server's claim, before it has the volume; false where another has it. */
export function reserve(cloud: Cloud, id: string, serverId: string): boolean {
  const volume = cloud.volume.volumes.get(id);
  if (!volume || !isFree(volume)) return false;
  const attachment = { id: cloud.ids.uuid(), serverId, device: '', attachedMs: 0, isConnected: false };
  change(cloud, id, (before) => reserved(before, attachment, cloud.clock.now()));
  return true;
}

/** Gives a volume another status. */
export const setStatus = (cloud: Cloud, id: string, status: VolumeStatus) =>
  change(cloud, id, (volume) => withStatus(volume, status, cloud.clock.now()));

export const attach = (cloud: Cloud, id: string, serverId: string, device: string) =>
  change(cloud, id, (volume) => attached(volume, serverId, device, cloud.clock.now()));

/** A server lets the volume go. */
export const release = (cloud: Cloud, id: string, serverId: string) =>
  change(cloud, id, (volume) => released(volume, serverId, cloud.clock.now()));
