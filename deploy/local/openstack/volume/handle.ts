import type { Cloud } from '../cloud.ts';
import type { Volume, VolumeStatus } from './state.ts';

/** Whether a server may take it. */
export const isFree = ({ status, multiattach }: Volume) =>
  status === 'available' || (multiattach && status === 'in-use');

/** Gives a volume another status, and what else changes with that. */
export function setStatus(cloud: Cloud, id: string, status: VolumeStatus, also: Partial<Volume> = {}): void {
  const volume = cloud.volume.volumes.get(id);
  if (volume) cloud.volume.volumes.set(id, { ...volume, status, updatedMs: cloud.clock.now(), ...also });
}

/** A server's claim, before it has the volume; false where another has it. It stays as long as that server, even if that failed to boot. */
export function reserve(cloud: Cloud, id: string, serverId: string): boolean {
  const volume = cloud.volume.volumes.get(id);
  if (!volume || !isFree(volume)) return false;
  const attachment = { id: cloud.ids.uuid(), serverId, device: '', attachedMs: 0, isConnected: false };
  setStatus(cloud, id, 'reserved', { attachments: [...volume.attachments, attachment] });
  return true;
}

/** Attached to the server as that device, unless the server has detached it meanwhile. */
export function attach(cloud: Cloud, id: string, serverId: string, device: string): void {
  const { attachments = [] } = cloud.volume.volumes.get(id) ?? {};
  if (!attachments.some((each) => each.serverId === serverId)) return;
  const connected = { device, attachedMs: cloud.clock.now(), isConnected: true };
  setStatus(cloud, id, 'in-use', {
    attachments: attachments.map((each) => (each.serverId === serverId ? { ...each, ...connected } : each)),
  });
}

/** The server has it no more; another may still. */
export function release(cloud: Cloud, id: string, serverId: string): void {
  const { attachments: before = [] } = cloud.volume.volumes.get(id) ?? {};
  const attachments = before.filter((each) => each.serverId !== serverId);
  if (attachments.length === before.length) return;
  const isInUse = attachments.some(({ isConnected }) => isConnected);
  const isReserved = attachments.length > 0;
  setStatus(cloud, id, isInUse ? 'in-use' : isReserved ? 'reserved' : 'available', { attachments });
}
