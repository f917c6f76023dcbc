import { toTime } from '../../../../shared/kubernetes/time.ts';
import { type Cloud, microsOf } from '../cloud.ts';
import type { Asked } from '../route.ts';
import { statusOf } from './server-machine.ts';
import type { Flavor, Server } from './state.ts';

/** A server as Nova shows it; which fields there are depends on the microversion and on who asks. */
export function shownServer(cloud: Cloud, server: Server, { caller, minor }: Asked) {
  const { isAdmin } = caller;
  return {
    id: server.id,
    name: server.name,
    status: statusOf(server),
    tenant_id: server.projectId,
    user_id: server.userId,
    metadata: server.metadata,
    hostId: server.host === null ? '' : hostIdOf(server),
    image: '',
    flavor:
      minor >= 47
        ? embedded(server.flavor, minor)
        : { id: server.flavor.id, links: [linksOf(cloud, 'flavors', server.flavor.id)[1]] },
    created: toTime(server.createdMs),
    updated: toTime(server.updatedMs),
    addresses: addressesOf(cloud, server),
    accessIPv4: '',
    accessIPv6: '',
    links: linksOf(cloud, 'servers', server.id),
    'OS-DCF:diskConfig': 'MANUAL',
    ...(progressing.has(statusOf(server)) && { progress: 0 }),
    'OS-EXT-AZ:availability_zone': server.host === null ? '' : 'nova',
    config_drive: '',
    key_name: server.keyName,
    'OS-SRV-USG:launched_at': server.launchedMs === undefined ? null : microsOf(server.launchedMs),
    'OS-SRV-USG:terminated_at': null,
    ...(server.ports.length > 0 && { security_groups: server.ports.map(() => ({ name: 'default' })) }),
    'OS-EXT-STS:task_state': server.taskState,
    'OS-EXT-STS:vm_state': server.vmState,
    'OS-EXT-STS:power_state': server.powerState,
    'os-extended-volumes:volumes_attached': server.volumes.map(({ volumeId, deleteOnTermination }) => ({
      id: volumeId,
      ...(minor >= 3 && { delete_on_termination: deleteOnTermination }),
    })),
    ...(server.fault &&
      server.vmState === 'error' && {
        fault: { ...server.fault, created: toTime(server.fault.created), ...(isAdmin && { details: 'Traceback' }) },
      }),
    ...(isAdmin && forAdministrators(cloud, server, minor)),
    ...newerFields(server, minor),
  };
}

const progressing = new Set(['ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING']);

/** Which host it is, where it has the name, and what Nova calls the server there. */
const forAdministrators = (cloud: Cloud, server: Server, minor: number) => ({
  'OS-EXT-SRV-ATTR:host': server.host,
  'OS-EXT-SRV-ATTR:instance_name': `instance-${server.id.slice(0, 8)}`,
  'OS-EXT-SRV-ATTR:hypervisor_hostname': server.host,
  ...(minor >= 3 && {
    'OS-EXT-SRV-ATTR:reservation_id': `r-${server.id.slice(0, 8)}`,
    'OS-EXT-SRV-ATTR:launch_index': 0,
    'OS-EXT-SRV-ATTR:hostname': hostNameOf(server.name),
    'OS-EXT-SRV-ATTR:kernel_id': '',
    'OS-EXT-SRV-ATTR:ramdisk_id': '',
    'OS-EXT-SRV-ATTR:root_device_name': server.volumes.find(({ isRoot }) => isRoot)?.device ?? null,
    'OS-EXT-SRV-ATTR:user_data': null,
  }),
  ...(minor >= 16 && { host_status: hostStatus(cloud, server) }),
});

const hostStatus = ({ host }: Cloud, server: Server) => {
  if (server.host === null) return '';
  return host.isUp ? 'UP' : 'DOWN';
};

const newerFields = (server: Server, minor: number) => ({
  ...(minor >= 9 && { locked: server.isLocked }),
  ...(minor >= 19 && { description: server.description }),
  ...(minor >= 26 && { tags: server.tags.toSorted() }),
  ...(minor >= 63 && { trusted_image_certificates: null }),
  ...(minor >= 71 && { server_groups: [] }),
  ...(minor >= 73 && { locked_reason: server.lockedReason }),
});

const embedded = ({ vcpus, ram, disk, ephemeral, swap, name, extraSpecs }: Flavor, minor: number) => ({
  ...{ vcpus, ram, disk, ephemeral },
  swap: swap === 0 && minor < 75 ? 0 : swap,
  original_name: name,
  extra_specs: extraSpecs,
});

/** By the name of the network, which two networks may have. */
function addressesOf({ network }: Cloud, server: Server) {
  const entries = server.ports.flatMap(({ portId }) => {
    const port = network.ports.get(portId);
    const name = network.networks.get(port?.network_id ?? '')?.name ?? '';
    return (port?.fixed_ips ?? []).map(({ ip_address }) => ({
      name,
      address: {
        version: ip_address.includes(':') ? 6 : 4,
        addr: ip_address,
        'OS-EXT-IPS:type': 'fixed',
        'OS-EXT-IPS-MAC:mac_addr': port?.mac_address ?? '',
      },
    }));
  });
  const names = [...new Set(entries.map(({ name }) => name))];
  return Object.fromEntries(
    names.map((name) => [name, entries.filter((each) => each.name === name).map(({ address }) => address)]),
  );
}

/** Where Nova has a thing. */
export const linksOf = ({ url }: Cloud, kind: string, id: string) => [
  { rel: 'self', href: `${url}/compute/v2.1/${kind}/${id}` },
  { rel: 'bookmark', href: `${url}/compute/${kind}/${id}` },
];

const hostNameOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .slice(0, 63);

/** The same for all servers of a project on a host, and tells a member no more than that. */
const hostIdOf = ({ projectId, host }: Server) => `${projectId}${host}`.padEnd(56, '0').slice(0, 56);
