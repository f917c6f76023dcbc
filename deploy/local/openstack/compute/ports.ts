import type { Cloud } from '../cloud.ts';
import { changed } from '../network/owned.ts';

/** Gives a port to a server on the host. */
export function bindPort(cloud: Cloud, portId: string, serverId: string): void {
  const port = cloud.network.ports.get(portId);
  if (port)
    cloud.network.ports.set(
      portId,
      changed(cloud, port, { device_id: serverId, device_owner: 'compute:nova', host: cloud.host.name }),
    );
}

/** Detaches a port from its server: a port that Nova created is deleted, any other becomes free. */
export function unbindPort(cloud: Cloud, { portId, isNovas }: { portId: string; isNovas: boolean }): void {
  const port = cloud.network.ports.get(portId);
  if (!port) return;
  if (isNovas) cloud.network.ports.delete(portId);
  else cloud.network.ports.set(portId, changed(cloud, port, { device_id: '', device_owner: '', host: '' }));
}
