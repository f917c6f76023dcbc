import type { ServerPhase } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { Server } from '../../shared/kinds/openstack/server.ts';
import type { Cause } from '../../shared/reasons/reason.ts';

/** Nova's names of states without a running task. */
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

/** The state of a server. PAUSED, SUSPENDED, RESCUE and the like are set by users, and Unknown here. */
export function phaseOf(server: Server): ServerPhase {
  const task = server['OS-EXT-STS:task_state'] ?? '';
  const byTask = tasks.find(([pattern]) => pattern.test(task))?.[1];
  return byTask ?? under[server.status] ?? settled[server.status] ?? 'Unknown';
}

/** Nova accepts requests only while no task of the server runs: 409 otherwise. */
export const isIdle = (server: Server) =>
  server['OS-EXT-STS:task_state'] === null && (server.status === 'ACTIVE' || server.status === 'SHUTOFF');

/** A running task that ends without a request. */
export const isBusy = (server: Server) =>
  server['OS-EXT-STS:task_state'] !== null || server.status in under || phaseOf(server) === 'Terminating';

/** Its first boot went wrong: it never ran. */
export const neverRan = (server: Server) => server.status === 'ERROR' && server['OS-SRV-USG:launched_at'] === null;

/** Why a server does not run although it should, and the policy key that says how long that may last. */
export interface Trouble extends Cause {
  limit: 'serverRecoverAfter' | 'unreachableHostRecoverAfter';
}

/** It is on a host that is down or unknown, or in ERROR. The host comes first: Nova cannot stop what may still run there. */
export function troubleOf(server: Server): Trouble | undefined {
  if (isHostUnreachable(server)) {
    const host = server['OS-EXT-SRV-ATTR:host'] ?? 'of the server';
    const limit = 'unreachableHostRecoverAfter';
    return server.host_status === 'DOWN'
      ? { reason: 'HostDown', message: `Host ${host} is down`, limit }
      : { reason: 'HostUnknown', message: `Nova does not know whether host ${host} is up`, limit };
  }
  if (server.status !== 'ERROR') return undefined;
  const words = server.fault?.message;
  const message = words ? `The server is in ERROR: ${words}` : 'The server is in ERROR';
  return { reason: 'ServerError', message, limit: 'serverRecoverAfter' };
}

export const isHostUnreachable = ({ host_status: status }: Server) => status === 'DOWN' || status === 'UNKNOWN';
