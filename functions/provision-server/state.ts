import type { ServerPhase } from '../../shared/resources/kupenstack/virtual-machine.ts';
import type { Server } from '../../shared/resources/openstack/server.ts';

/** Nova's own words for states in which nothing goes on. */
const settled: Readonly<Record<string, ServerPhase>> = {
  ACTIVE: 'Running',
  SHUTOFF: 'Stopped',
  ERROR: 'Failed',
  DELETED: 'Terminating',
  SOFT_DELETED: 'Terminating',
};

const under: Readonly<Record<string, ServerPhase>> = {
  BUILD: 'Creating',
  REBUILD: 'Creating',
  REBOOT: 'Restarting',
  HARD_REBOOT: 'Restarting',
  RESIZE: 'Resizing',
  VERIFY_RESIZE: 'Resizing',
  REVERT_RESIZE: 'Resizing',
  MIGRATING: 'Resizing',
};

const tasks: readonly [RegExp, ServerPhase][] = [
  [/^powering-off/, 'Stopping'],
  [/^powering-on/, 'Starting'],
  [/^reboot/, 'Restarting'],
  [/^resize/, 'Resizing'],
  [/^deleting|^soft-deleting/, 'Terminating'],
];

/** Where a server stands; PAUSED, SUSPENDED, RESCUE and the like are somebody's own doing and Unknown here. */
export function phaseOf(server: Server): ServerPhase {
  const task = server['OS-EXT-STS:task_state'] ?? '';
  const byTask = tasks.find(([pattern]) => pattern.test(task))?.[1];
  return byTask ?? under[server.status] ?? settled[server.status] ?? 'Unknown';
}

/** Nova takes requests only while nothing goes on with a server: 409 otherwise. */
export const isIdle = (server: Server) =>
  server['OS-EXT-STS:task_state'] === null && (server.status === 'ACTIVE' || server.status === 'SHUTOFF');

/** Something goes on that ends by itself. */
export const isBusy = (server: Server) =>
  server['OS-EXT-STS:task_state'] !== null || server.status in under || phaseOf(server) === 'Terminating';

/** Its first boot went wrong: it never ran. */
export const neverRan = (server: Server) => server.status === 'ERROR' && server['OS-SRV-USG:launched_at'] === null;

/** Why it does not run although it should: it is in ERROR, or the host that it is on is down. */
export function troubleOf(server: Server): { reason: string; message: string } | undefined {
  if (server.status === 'ERROR') {
    const words = server.fault?.message;
    return { reason: 'ServerError', message: words ? `The server is in ERROR: ${words}` : 'The server is in ERROR' };
  }
  if (server.host_status !== 'DOWN') return undefined;
  return { reason: 'HostDown', message: `Host ${server['OS-EXT-SRV-ATTR:host'] ?? 'of the server'} is down` };
}
