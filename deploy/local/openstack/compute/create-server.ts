import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import type { Asked } from '../route.ts';
import { isFree, reserve } from '../volume/handle.ts';
import { notReservable } from '../volume/refusals.ts';
import { boot } from './boot.ts';
import { mayUse } from './flavors.ts';
import { type BlockDevice, NewServer, type WantedNetwork } from './new-server.ts';
import { freeDevice } from './server-machine.ts';
import type { Flavor, Server, ServerVolume } from './state.ts';
import { note } from './work.ts';

/** Begins a server; it has its id at once and is asked about later. Refuses with 400 what it cannot be made of. */
export function createServer(cloud: Cloud, asked: Asked): Server {
  const wanted = bodyAs(NewServer, asked.body).server;
  const { caller, minor } = asked;
  if (minor >= 37 && wanted.networks === undefined)
    throw new Refusal(400, "Invalid input for field/attribute server. Value: {}. 'networks' is a required property");
  if (minor < 52 && wanted.tags.length > 0)
    throw new Refusal(
      400,
      "Invalid input for field/attribute server. Additional properties are not allowed ('tags' was unexpected)",
    );
  const flavor = usableFlavor(cloud, asked, wanted.flavorRef);
  const key = wanted.key_name ?? null;
  if (key !== null && !cloud.compute.keyPairs.get(caller.userId)?.has(key))
    throw new Refusal(400, 'Invalid key_name provided.');
  const networks = Array.isArray(wanted.networks) ? wanted.networks : [];
  checkNetworks(cloud, asked, networks);
  const volumes = checkDevices(cloud, asked, wanted.block_device_mapping_v2, wanted.imageRef ?? '');
  checkMetadata(cloud, caller.projectId, wanted.metadata);
  checkQuota(cloud, caller.projectId, { instances: 1, cores: flavor.vcpus, ram: flavor.ram });
  const nowMs = cloud.clock.now();
  const server: Server = {
    id: cloud.ids.uuid(),
    name: wanted.name,
    description: wanted.description ?? null,
    projectId: caller.projectId,
    userId: caller.userId,
    vmState: 'building',
    taskState: 'scheduling',
    powerState: 0,
    createdMs: nowMs,
    updatedMs: nowMs,
    launchedMs: undefined,
    host: null,
    flavor,
    before: undefined,
    keyName: key,
    metadata: wanted.metadata,
    tags: [...new Set(wanted.tags)],
    isLocked: false,
    lockedReason: null,
    fault: undefined,
    volumes,
    ports: [],
    actions: [],
    work: 0,
  };
  for (const { volumeId } of volumes) reserve(cloud, volumeId, server.id);
  cloud.compute.servers.set(server.id, server);
  note(cloud, server.id, 'create', asked);
  boot(cloud, server.id, networks, caller);
  return server;
}

/** The flavor of that id as far as the caller may use it. */
export function usableFlavor({ compute }: Cloud, { caller }: Asked, id: string): Flavor {
  const flavor = compute.flavors.get(id);
  if (!flavor || !mayUse(flavor, caller)) throw new Refusal(400, `Flavor ${id} could not be found.`);
  return flavor;
}

function checkNetworks(cloud: Cloud, { caller }: Asked, wanted: readonly WantedNetwork[]) {
  const { ports, networks, subnets } = cloud.network;
  for (const { port: portId, uuid = '' } of wanted) {
    if (portId) {
      const port = ports.get(portId);
      if (!port || (!caller.isAdmin && port.project_id !== caller.projectId))
        throw new Refusal(400, `Port id ${portId} could not be found.`);
      if (port.device_id) throw new Refusal(409, `Port ${portId} is still in use.`);
      if (port.fixed_ips.length === 0) throw new Refusal(400, `Port ${portId} requires a FixedIP in order to be used.`);
      continue;
    }
    const network = networks.get(uuid);
    const isSeen = network && (caller.isAdmin || network.shared || network.project_id === caller.projectId);
    if (!isSeen) throw new Refusal(400, `Network ${uuid} could not be found.`);
    if (![...subnets.values()].some(({ network_id }) => network_id === uuid))
      throw new Refusal(400, `Network ${uuid} requires a subnet in order to boot instances on.`);
  }
}

function checkDevices(cloud: Cloud, { caller }: Asked, devices: readonly BlockDevice[], image: string): ServerVolume[] {
  const roots = devices.filter(({ boot_index }) => boot_index === 0);
  if (roots.length > 1 || (devices.length > 0 && roots.length === 0 && !image))
    throw new Refusal(
      400,
      'Block Device Mapping is Invalid: Boot sequence for the instance and image/block device mapping combination is not valid.',
    );
  if (devices.length === 0 && !image) throw new Refusal(400, 'Missing imageRef attribute');
  const volumes: ServerVolume[] = [];
  for (const { uuid, boot_index, delete_on_termination, tag } of devices) {
    const volume = cloud.volume.volumes.get(uuid ?? '');
    if (!volume || (!caller.isAdmin && volume.projectId !== caller.projectId))
      throw new Refusal(400, `Block Device Mapping is Invalid: failed to get volume ${uuid}.`);
    if (boot_index === 0 && !volume.bootable) throw new Refusal(400, `Block Device ${uuid} is not bootable.`);
    if (!isFree(volume)) throw notReservable(cloud, volume);
    const device = freeDevice(volumes.map((each) => each.device));
    volumes.push({
      volumeId: volume.id,
      device,
      isRoot: boot_index === 0,
      deleteOnTermination: delete_on_termination,
      tag: tag ?? null,
    });
  }
  return volumes;
}

/** What a project uses of its quotas. */
export function usageOf({ compute }: Cloud, project: string) {
  const own = [...compute.servers.values()].filter(({ projectId }) => projectId === project);
  return {
    instances: own.length,
    cores: own.reduce((sum, { flavor }) => sum + flavor.vcpus, 0),
    ram: own.reduce((sum, { flavor }) => sum + flavor.ram, 0),
  };
}

/** Refuses with 403 what a project has no quota for (nova 26). */
export function checkQuota(
  cloud: Cloud,
  project: string,
  more: { instances: number; cores: number; ram: number },
): void {
  const used = usageOf(cloud, project);
  const { quotas } = cloud.compute;
  const over = (['cores', 'instances', 'ram'] as const).filter(
    (name) => more[name] > 0 && quotas.isOver(project, name, used[name], more[name]),
  );
  if (over.length === 0) return;
  const numbersOf = (numbers: Readonly<Record<string, number>>) => over.map((name) => String(numbers[name])).join(', ');
  throw new Refusal(
    403,
    `Quota exceeded for ${over.join(', ')}: Requested ${numbersOf(more)}, but already used ${numbersOf(used)} of ${numbersOf(quotas.of(project))} ${over.join(', ')}`,
  );
}

/** Refuses with 403 more metadata than a project may have of a server. */
function checkMetadata(
  { compute: { quotas } }: Cloud,
  project: string,
  metadata: Readonly<Record<string, string>>,
): void {
  if (quotas.isOver(project, 'metadata_items', 0, Object.keys(metadata).length))
    throw new Refusal(403, `Maximum number of metadata items exceeds ${quotas.of(project).metadata_items}`);
}
