import { hasSize } from '../../shared/kinds/openstack/flavor.ts';
import { createKeyPair, keyPairName } from '../../shared/kinds/openstack/key-pair.ts';
import { createPort, deletePort, type Network } from '../../shared/kinds/openstack/network.ts';
import type { OpenStackRequest } from '../../shared/kinds/openstack/request.ts';
import {
  attachPort,
  attachVolume,
  confirmResize,
  createServer,
  detachPort,
  detachVolume,
  type InstanceAction,
  resizeServer,
  type Server,
  startServer,
  stopServer,
} from '../../shared/kinds/openstack/server.ts';
import type { CinderVolume } from '../../shared/kinds/openstack/volume.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { refusalOf } from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import type { Found, Observed } from './observed.ts';
import { hasVolume, isFound, networksOf, type Resolved, volumesOf } from './resolve.ts';
import { flavorFor, sizeOf } from './size.ts';
import { isIdle } from './state.ts';

/** What is to be asked of OpenStack now, or why nothing can be. */
type Next = { requests: readonly OpenStackRequest[] } | { refused: Cause };

const portName = (machine: string, network: string) => `${machine}-${network}`;

/** The first that is bootable, in the order of the spec. */
export const bootDiskIn = (volumes: readonly Resolved<CinderVolume>[]) =>
  volumes.filter(isFound).find(({ found }) => found.bootable === 'true');

/** Flavor, key pair and ports; once they exist, the server. */
export function toCreate({ machine, refusals, ...observed }: Observed, found: Found): Next {
  const { uid, name } = machine.metadata;
  const flavor = flavorFor(machine, found.flavors, refusals);
  if ('refused' in flavor) return flavor;
  const networks = networksOf({ machine, refusals, ...observed }, found).filter(isFound);
  const ports = networks.map((network) => ({ network, port: portOn(found, network.found) }));
  const key = machine.spec.publicKey;
  const before = [
    ...('missing' in flavor ? [flavor.missing] : []),
    ...(key !== undefined && !found.hasKeyPair ? [createKeyPair(uid, key)] : []),
    ...ports
      .filter(({ port }) => port === undefined)
      .map(({ network }) => createPort(uid, portName(name, network.name), network.found.id)),
  ];
  if (before.length > 0 || !('flavor' in flavor)) return { requests: before };
  const volumes = volumesOf({ machine, refusals, ...observed }, found).filter(isFound);
  const boot = bootDiskIn(volumes);
  const inOrder = [...volumes].sort((a, b) => Number(b === boot) - Number(a === boot));
  return {
    requests: [
      createServer({
        uid,
        name,
        flavor: flavor.flavor.id,
        keyPair: key === undefined ? undefined : keyPairName(uid),
        ports: ports.map(({ port }) => port?.id).filter((id) => id !== undefined),
        volumes: inOrder.map((volume) => volume.found.id),
      }),
    ],
  };
}

const portOn = ({ ports }: Found, network: Network) => ports.find(({ network_id }) => network_id === network.id);

/**
 * What brings an existing server to its spec: size first, then disks and networks, then running or not. A refusal in this reconcile does not
 * block the others; all refusals are reported together.
 */
export function toChange(
  observed: Observed,
  found: Found,
  server: Server,
): { requests: readonly OpenStackRequest[]; refused?: Cause } {
  const { machine, refusals } = observed;
  if (server.status === 'VERIFY_RESIZE' && server['OS-EXT-STS:task_state'] === null)
    return { requests: [confirmResize(server.id)] };
  if (!isIdle(server)) return { requests: [] };
  const size = toResize(observed, found, server);
  const attachments = [...diskRequests(observed, found, server), ...portRequests(observed, found, server)];
  const steps = ['refused' in size ? [] : size.requests, attachments, powerRequests(machine.spec.running, server)];
  const isOpen = (request: OpenStackRequest) => refusalOf(refusals, machine, request) === undefined;
  const next = steps.find((requests) => requests.some(isOpen));
  if (next) return { requests: next };
  return { requests: steps.flat(), ...('refused' in size ? size : {}) };
}

function toResize(observed: Observed, found: Found, server: Server): Next {
  if (hasSize(server.flavor, sizeOf(observed.machine))) return { requests: [] };
  const givenUp = resizeGivenUp(observed, found);
  if (givenUp) return { refused: givenUp };
  const flavor = flavorFor(observed.machine, found.flavors, observed.refusals);
  if ('refused' in flavor) return flavor;
  return { requests: ['missing' in flavor ? flavor.missing : resizeServer(server.id, flavor.flavor.id)] };
}

/**
 * Nova takes a resize that no host has room for, and gives it up without a word but in the server's actions (nova 26). It is asked
 * again a while after that, however long Nova took, and at once where the spec is another by now.
 */
function resizeGivenUp({ machine, nowMs, policy }: Observed, { actions = [] }: Found): Cause | undefined {
  const resizes = actions.filter(({ action }) => action === 'resize');
  const inUtc = (time: string | null | undefined) => (time ?? '').replace(/Z?$/, 'Z');
  const beganAt = ({ start_time }: InstanceAction) => inUtc(start_time);
  const last = resizes.toSorted((a, b) => beganAt(a).localeCompare(beganAt(b))).at(-1);
  const isChanged = machine.status?.observedGeneration !== machine.metadata.generation;
  if (!last?.message || isChanged) return undefined;
  const againMs = Date.parse(inUtc(last.updated_at ?? last.start_time)) + policy.values.retryBackoffDuration;
  if (!(againMs > nowMs)) return undefined;
  const { vcpus, ram } = sizeOf(machine);
  const message = `Nova accepted the resize to ${vcpus} vcpus and ${ram} MiB memory, and gave it up: no host may have room for it. It is retried at ${toTime(againMs)}; another size is tried at once.`;
  return { reason: 'ResizeFailed', message };
}

function powerRequests(isToRun: boolean, { id, status }: Server): OpenStackRequest[] {
  const isOn = status === 'ACTIVE';
  if (isOn === isToRun) return [];
  return [isOn ? stopServer(id) : startServer(id)];
}

/** A disk that is being attached or detached is left to that. */
function diskRequests(observed: Observed, found: Found, server: Server): OpenStackRequest[] {
  const wanted = volumesOf(observed, found);
  const isWanted = (id: string) => wanted.some((one) => isFound(one) && one.found.id === id);
  const attach = wanted
    .filter(isFound)
    .filter((one) => one.found.status === 'available' && !hasVolume(server, one.found))
    .map((one) => attachVolume(server.id, one.found.id));
  // A name that resolves to nothing now may be that of a disk of the server, but not of a disk that another server has.
  if (wanted.some((one) => !isFound(one) && one.reason !== 'VolumeInUse')) return attach;
  const detach = found.volumes
    .filter((volume) => hasVolume(server, volume) && !isWanted(volume.id))
    .filter((volume) => volume.status === 'in-use' && !isRoot(server, volume))
    .map((volume) => detachVolume(server.id, volume.id));
  return [...detach, ...attach];
}

/** Nova lets no root disk go (nova 26: 400). */
export const isRoot = (server: Server, volume: CinderVolume) => {
  const device = volume.attachments.find(({ server_id }) => server_id === server.id)?.device ?? '';
  const root = server['OS-EXT-SRV-ATTR:root_device_name'];
  return root ? device === root : /^\/dev\/(v|s|xv|h)da$/.test(device);
};

/** One port for each network: of a second one, which a late answer may have left, the server gets nothing. */
function portRequests(observed: Observed, found: Found, server: Server): OpenStackRequest[] {
  const { uid, name } = observed.machine.metadata;
  const wanted = networksOf(observed, found);
  const ports = wanted.filter(isFound).map((one) => ({ ...one, port: portOf(server, found, one.found) }));
  const missing = ports
    .filter(({ port }) => port === undefined)
    .map((one) => createPort(uid, portName(name, one.name), one.found.id));
  const kept = ports.flatMap(({ port }) => port ?? []);
  const loose = kept.filter(({ device_id }) => device_id === '').map((port) => attachPort(server.id, port.id));
  if (wanted.some((one) => !isFound(one))) return [...missing, ...loose];
  const obsolete = found.ports
    .filter((port) => !kept.includes(port))
    .map((port) => (port.device_id === server.id ? detachPort(server.id, port.id) : deletePort(port.id)));
  return [...obsolete, ...missing, ...loose];
}

/** The server's own, or else any. */
const portOf = (server: Server, found: Found, network: Network) =>
  found.ports.find(({ network_id, device_id }) => network_id === network.id && device_id === server.id) ??
  portOn(found, network);
