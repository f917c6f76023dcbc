import type { Attachment, Volume, VolumeStatus } from './state.ts';

/** A volume with another status; pure, as all here. */
export const withStatus = (volume: Volume, status: VolumeStatus, nowMs: number): Volume => ({
  ...volume,
  status,
  updatedMs: nowMs,
});

/** Reserved for a server that has not attached it yet; it stays so as long as that server exists, even if it failed to boot. */
export const reserved = (volume: Volume, attachment: Attachment, nowMs: number): Volume => ({
  ...withStatus(volume, 'reserved', nowMs),
  attachments: [...volume.attachments, attachment],
});

/** Attached to the server as that device, unless the server has detached it meanwhile. */
export const attached = (volume: Volume, serverId: string, device: string, nowMs: number): Volume =>
  volume.attachments.some((each) => each.serverId === serverId)
    ? {
        ...withStatus(volume, 'in-use', nowMs),
        attachments: volume.attachments.map((each) =>
          each.serverId === serverId ? { ...each, device, attachedMs: nowMs, isConnected: true } : each,
        ),
      }
    : volume;

/** The server has it no more; another may still. */
export function released(volume: Volume, serverId: string, nowMs: number): Volume {
  if (!volume.attachments.some((each) => each.serverId === serverId)) return volume;
  const attachments = volume.attachments.filter((each) => each.serverId !== serverId);
  const status = attachments.some(({ isConnected }) => isConnected)
    ? 'in-use'
    : attachments.length > 0
      ? 'reserved'
      : 'available';
  return { ...withStatus(volume, status, nowMs), attachments };
}

/** Whether a server may take it. */
export const isFree = ({ status, multiattach }: Volume) =>
  status === 'available' || (multiattach && status === 'in-use');
