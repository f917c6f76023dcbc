import type { Cloud } from '../cloud.ts';
import { type Answer, type Asked, done } from '../route.ts';
import { release } from '../volume/handle.ts';
import { unbindPort } from './ports.ts';
import { mustBeUnlocked } from './refusals.ts';
import type { Server } from './state.ts';
import { change, note } from './work.ts';

/** May be repeated until the server is deleted. A server without a host is deleted immediately. */
export function deleteServer(cloud: Cloud, server: Server, asked: Asked): Answer {
  mustBeUnlocked(server, asked);
  if (server.taskState === 'deleting' || server.vmState === 'deleted') return done();
  note(cloud, server.id, 'delete', asked);
  const { id, host, work, before } = server;
  // A resize that waits for its confirmation gets it first, and no task is shown meanwhile.
  const confirmed = before && { vmState: before.vmState, before: undefined, taskState: null };
  change(cloud, id, { taskState: 'deleting', work: work + 1, ...confirmed });
  // Nova itself deletes a server that has no host, or whose host is down.
  if (host === null || !cloud.host.isUp) {
    releaseAll(cloud, id);
    cloud.compute.servers.delete(id);
    return done();
  }
  cloud.clock.after(cloud.times.deleteServer, () => {
    releaseAll(cloud, id);
    change(cloud, id, { vmState: 'deleted', taskState: null, powerState: 0 });
    cloud.clock.after(cloud.times.deleteServer / 3, () => cloud.compute.servers.delete(id));
  });
  return done();
}

function releaseAll(cloud: Cloud, id: string) {
  const { volumes, ports } = cloud.compute.servers.get(id) ?? { volumes: [], ports: [] };
  for (const port of ports) unbindPort(cloud, port);
  for (const { volumeId, deleteOnTermination } of volumes) {
    release(cloud, volumeId, id);
    if (deleteOnTermination) cloud.volume.volumes.delete(volumeId);
  }
}
