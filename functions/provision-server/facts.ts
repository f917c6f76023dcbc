import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { Server } from '../../shared/kinds/openstack/server.ts';
import type { Found, Observed } from './observed.ts';
import { isFound, networksOf } from './resolve.ts';

/** What the status keeps of a machine whose server this look tells nothing of. */
export const statusBefore = ({ status }: KupenStackMachine) => ({
  id: status?.id,
  node: status?.node,
  ip: status?.ip,
  restartCount: status?.restartCount ?? 0,
  countedAt: status?.countedAt,
  formerRestarts: status?.formerRestarts,
  failedSince: status?.failedSince,
  attempts: status?.attempts,
  failed: status?.failed,
  failure: status?.failure,
  nextAttemptAt: status?.nextAttemptAt,
  readyAt: status?.readyAt,
});

/** The same without a server: its counters continue with the next server. */
export const withoutServer = (machine: KupenStackMachine) => ({
  ...statusBefore(machine),
  id: undefined,
  node: undefined,
  ip: undefined,
  countedAt: undefined,
  failedSince: undefined,
  formerRestarts: formerOf(machine, undefined),
});

const formerOf = ({ status }: KupenStackMachine, server: Server | undefined) =>
  status?.id !== undefined && status.id !== server?.id ? status.restartCount : status?.formerRestarts;

/** What Nova and Neutron tell of a server. */
export function factsOf(observed: Observed, found: Found, server: Server) {
  const { machine, nowMs } = observed;
  const former = formerOf(machine, server);
  const restarts = found.actions?.filter(({ action }) => action === 'start' || action === 'reboot').length;
  return {
    ...statusBefore(machine),
    id: server.id,
    node: server['OS-EXT-SRV-ATTR:host'] ?? undefined,
    ip: addressesOf(observed, found, server),
    formerRestarts: former,
    ...(restarts === undefined ? {} : { restartCount: (former ?? 0) + restarts, countedAt: countedAt(server, nowMs) }),
  };
}

/**
 * Nova tells the second only: what was asked of a server that has just changed may have been followed by more within the same
 * second, and is counted once more later.
 */
const countedAt = ({ updated }: Server, nowMs: number) => (nowMs - Date.parse(updated) > 10_000 ? updated : undefined);

/** In the order of the spec: Nova's own map of addresses has none, and names in it need not be unique. */
function addressesOf(observed: Observed, found: Found, server: Server): string | undefined {
  const entries = networksOf(observed, found)
    .filter(isFound)
    .flatMap(({ name, found: network }) => {
      const port = found.ports.find(
        ({ network_id, device_id }) => network_id === network.id && device_id === server.id,
      );
      const addresses = port?.fixed_ips.map(({ ip_address }) => ip_address) ?? [];
      return addresses.length > 0 ? [`${name}(${addresses.join(', ')})`] : [];
    });
  return entries.length > 0 ? entries.join(', ') : undefined;
}
