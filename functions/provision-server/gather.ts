import * as z from 'zod';
import { distinct } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf } from '../../shared/function.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { Flavor, hasSize, isOurs, listFlavors } from '../../shared/kinds/openstack/flavor.ts';
import { KeyPair, keyPairName, listKeyPairs } from '../../shared/kinds/openstack/key-pair.ts';
import { listNetworks, listPorts, Network, Port } from '../../shared/kinds/openstack/network.ts';
import { uidTag } from '../../shared/kinds/openstack/request.ts';
import {
  InstanceAction,
  listInstanceActions,
  listServers,
  listServersWith,
  Server,
  showServer,
} from '../../shared/kinds/openstack/server.ts';
import { CinderVolume, listVolumes } from '../../shared/kinds/openstack/volume.ts';
import {
  type KubernetesObject,
  keyOf,
  type ObjectReference,
  type Resource,
  referenceOf,
} from '../../shared/kinds/resource.ts';
import { getNamed } from '../../shared/runtime/get-named.ts';
import { listTrimmed } from '../../shared/runtime/list-trimmed.ts';
import { onClouds } from '../../shared/runtime/openstack/by-namespace.ts';
import type { Cloud } from '../../shared/runtime/openstack/clouds.ts';
import { OpenStackError } from '../../shared/runtime/openstack/open-stack-error.ts';
import type { Found, Observed } from './observed.ts';
import { sizeOf } from './size.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { kube, nowMs, refusals } = context;
  const machines = await concerned(context, batch);
  const [networksOf, volumesOf] = await Promise.all([
    siblings(kube, batch, VirtualNetwork, machines, networksIn),
    siblings(kube, batch, Volume, machines, volumesIn),
  ]);
  return onClouds(
    context,
    machines,
    (cloud, group) => readProject(context, cloud, group),
    (machine, cloud, policy) => {
      const common = { nowMs, policy, refusals, machine, networks: networksOf(machine), volumes: volumesOf(machine) };
      return { ...common, cloud: 'fault' in cloud ? cloud : cloud.of(common) };
    },
  );
}

const networksIn = ({ metadata: { namespace }, spec }: KupenStackMachine): ObjectReference[] =>
  (spec.virtualNetworks ?? []).map((name) => ({ namespace, name }));
const volumesIn = ({ metadata: { namespace }, spec }: KupenStackMachine): ObjectReference[] =>
  spec.diskAttachments.map(({ name }) => ({ namespace, name }));

/** What machines name in their namespaces. A sweep and an audit look at all machines: then a list of each namespace costs less. */
async function siblings<T extends KubernetesObject>(
  kube: Context['kube'],
  { sweep, audited }: Batch,
  resource: Resource<T>,
  machines: readonly KupenStackMachine[],
  refsIn: typeof networksIn,
): Promise<(machine: KupenStackMachine) => T[]> {
  const namespaces = [...new Set(machines.map(({ metadata }) => metadata.namespace ?? ''))];
  const found =
    sweep || audited
      ? (await Promise.all(namespaces.map((namespace) => kube.list(resource, { namespace })))).flat()
      : await getNamed(kube, resource, distinct(machines.flatMap(refsIn), keyOf));
  const byName = new Map(found.map((one) => [keyOf(one.metadata), one]));
  return (machine) =>
    refsIn(machine)
      .map((ref) => byName.get(keyOf(ref)))
      .filter((one) => one !== undefined);
}

/**
 * Those that events name, and those on a network or a volume that changed; all at a sweep: OpenStack reports nothing that happens
 * behind our back.
 */
async function concerned(context: Context, batch: Batch): Promise<KupenStackMachine[]> {
  const { kube } = context;
  if (batch.sweep) return listTrimmed(kube, KupenStackMachine);
  const named = subjectsOf(batch, KupenStackMachine);
  const networks = new Set(subjectsOf(batch, VirtualNetwork).map(keyOf));
  const volumes = new Set(subjectsOf(batch, Volume).map(keyOf));
  const namesOne = (machine: KupenStackMachine) =>
    networksIn(machine).some((ref) => networks.has(keyOf(ref))) ||
    volumesIn(machine).some((ref) => volumes.has(keyOf(ref)));
  const using = networks.size + volumes.size > 0 ? (await allMachines(context)).filter(namesOne) : [];
  return getNamed(kube, KupenStackMachine, distinct([...named, ...using.map(referenceOf)], keyOf));
}

/**
 * No field selector finds the machines that name a network or a volume, for none selects by a list. A machine that the cache lacks, or has
 * with an older spec, has an event of its own.
 */
const allMachines = async ({ kube, cached }: Context): Promise<readonly KupenStackMachine[]> =>
  (await cached?.(KupenStackMachine)) ?? kube.list(KupenStackMachine);

/**
 * What a project has, read once for all of its machines that are looked at: six lists, however many they are, and one more request
 * for each server that has changed since its restarts were counted.
 */
async function readProject(context: Context, cloud: Cloud, machines: readonly KupenStackMachine[]) {
  // One machine alone is looked up by its tag; of many, all servers cost less.
  const uid = machines.length === 1 ? machines[0]?.metadata.uid : undefined;
  const [listed, ports, networks, volumes, flavors, keyPairs] = await Promise.all([
    cloud.list(listServers(uid), 'servers', Server),
    cloud.list(listPorts(cloud.project), 'ports', Port),
    cloud.list(listNetworks(cloud.project), 'networks', Network),
    cloud.list(listVolumes(), 'volumes', CinderVolume),
    cloud.list(listFlavors(), 'flavors', Flavor),
    cloud.list(listKeyPairs(), 'keypairs', KeyPair),
  ]);
  const listedIds = new Set(listed.map(({ id }) => id));
  const unlisted = await Promise.all(machines.map((machine) => unlistedOf(cloud, machine, listedIds)));
  const existing = [...listed, ...unlisted.flat()].filter(({ status }) => !gone.has(status));
  const servers = await Promise.all(existing.map((server) => withFault(cloud, server)));
  // By their machine: each machine's search of all of them would be a crowd's square.
  const tagged = servers.flatMap((server) => server.tags.map((tag) => ({ tag, server })));
  const byTag = Map.groupBy(tagged, ({ tag }) => tag);
  const serversOf = ({ metadata }: KupenStackMachine) =>
    (byTag.get(uidTag(metadata.uid)) ?? []).map(({ server }) => server);
  const portsByTag = Map.groupBy(ports, ({ description }) => description);
  const keyPairNames = new Set(keyPairs.map(({ keypair }) => keypair.name));
  const unusedFlavors = await unusedFlavorsOf(context, cloud, { flavors, servers, machines });
  const actions = new Map(
    await Promise.all(
      machines.map(async (machine) => {
        const [server] = serversOf(machine);
        return [machine.metadata.uid, server && (await actionsOf(cloud, machine, server))] as const;
      }),
    ),
  );
  const [first] = machines;
  const [findNetworks, findVolumes] = [finderIn(networks), finderIn(volumes)];
  return {
    of: ({ machine, ...siblings }: Pick<Observed, 'machine' | 'networks' | 'volumes'>): Found => {
      const serversHere = serversOf(machine);
      const attached = serversHere.flatMap((server) => server['os-extended-volumes:volumes_attached']);
      return {
        servers: serversHere,
        ports: portsByTag.get(uidTag(machine.metadata.uid)) ?? [],
        networks: findNetworks(networksIn(machine), siblings.networks.map(idOf)),
        volumes: findVolumes(volumesIn(machine), [...siblings.volumes.map(idOf), ...attached.map(({ id }) => id)]),
        flavors,
        hasKeyPair: keyPairNames.has(keyPairName(machine.metadata.uid)),
        actions: actions.get(machine.metadata.uid),
        unusedFlavors: machine === first ? unusedFlavors : [],
      };
    },
  };
}

const idOf = ({ status }: VirtualNetwork | Volume) => status?.id;

/** Finds what has one of these names or ids. */
function finderIn<T extends { id: string; name: string | null }>(all: readonly T[]) {
  const [byName, byId] = [Map.groupBy(all, ({ name }) => name), Map.groupBy(all, ({ id }) => id)];
  return (named: readonly ObjectReference[], ids: readonly (string | undefined)[]): T[] =>
    distinct(
      [...named.flatMap(({ name }) => byName.get(name) ?? []), ...ids.flatMap((id) => byId.get(id ?? '') ?? [])],
      ({ id }) => id,
    );
}

/** Nova still shows such a server, but it needs no flavor. */
const gone: ReadonlySet<string> = new Set(['DELETED', 'SOFT_DELETED']);

/** A list by tag omits servers of an unreachable cell, so only a 404 for the server itself shows that it was deleted. */
async function unlistedOf(
  cloud: Cloud,
  { status }: KupenStackMachine,
  listedIds: ReadonlySet<string>,
): Promise<Server[]> {
  const { id } = status ?? {};
  if (id === undefined || listedIds.has(id)) return [];
  try {
    return [Shown.parse(await cloud.send(showServer(id))).server];
  } catch (error) {
    // 400: the value is no id.
    if (error instanceof OpenStackError && (error.status === 404 || error.status === 400)) return [];
    throw error;
  }
}

/** A server in ERROR with Nova's word of why. */
async function withFault(cloud: Cloud, server: Server): Promise<Server> {
  if (server.status !== 'ERROR' || server.fault?.message) return server;
  try {
    return Shown.parse(await cloud.send(showServer(server.id))).server;
  } catch (error) {
    // It went between the two reads.
    if (error instanceof OpenStackError && error.status === 404) return server;
    throw error;
  }
}

const Shown = z.looseObject({ server: Server });

/**
 * A server changes with each task; one that has not has been started no more often than it was counted. Of one that has another
 * size than it is to have, the actions tell whether a resize was given up.
 */
async function actionsOf(cloud: Cloud, machine: KupenStackMachine, server: Server) {
  const { status } = machine;
  if (server['OS-EXT-STS:task_state'] !== null) return undefined;
  const isCounted = status?.id === server.id && status.countedAt === server.updated;
  if (isCounted && hasSize(server.flavor, sizeOf(machine))) return undefined;
  try {
    return Actions.parse(await cloud.send(listInstanceActions(server.id))).instanceActions;
  } catch (error) {
    // It went between the two reads: the next look tells.
    if (error instanceof OpenStackError && error.status === 404) return undefined;
    throw error;
  }
}

const Actions = z.looseObject({ instanceActions: z.array(InstanceAction) });

/**
 * Flavors of ours of a size that no machine anywhere wants, a machine that goes wants none, and that no server has: a server whose
 * resize was given up has the one of before, and so may one that another cluster made.
 */
async function unusedFlavorsOf(
  context: Context,
  cloud: Cloud,
  { flavors, servers, machines }: { flavors: Flavor[]; servers: Server[]; machines: readonly KupenStackMachine[] },
) {
  const wants = (all: readonly KupenStackMachine[], flavor: Flavor) =>
    all.some((machine) => machine.metadata.deletionTimestamp === undefined && hasSize(flavor, sizeOf(machine)));
  const has = (flavor: Flavor) => servers.some((server) => hasSize(server.flavor, flavor));
  const doubtful = flavors.filter((flavor) => isOurs(flavor) && !wants(machines, flavor) && !has(flavor));
  if (doubtful.length === 0) return [];
  const known = await allMachines(context);
  const left = doubtful.filter((flavor) => !wants(known, flavor));
  const inUse = await Promise.all(left.map((flavor) => isInUse(cloud, flavor)));
  let unused = left.filter((_, index) => !inUse[index]);
  if (unused.length === 0) return [];
  // What is deleted is not decided by a cache: an account that may make no flavors would not get it back.
  for await (const { items } of context.kube.pages(KupenStackMachine))
    unused = unused.filter((flavor) => !wants(items, flavor));
  return unused;
}

/** An account that may not ask is no administrator, and does not delete flavors either. */
async function isInUse(cloud: Cloud, { id }: Flavor): Promise<boolean> {
  try {
    return (await cloud.send(listServersWith(id)).then(Some.parse)).servers.length > 0;
  } catch (error) {
    if (error instanceof OpenStackError && error.status === 403) return true;
    throw error;
  }
}

const Some = z.looseObject({ servers: z.array(z.unknown()) });
