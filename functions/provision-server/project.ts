import * as z from 'zod';
import { distinct } from '../../shared/distinct.ts';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { Flavor, hasSize, listFlavors } from '../../shared/kinds/openstack/flavor.ts';
import { KeyPair, keyPairName, listKeyPairs, showKeyPair } from '../../shared/kinds/openstack/key-pair.ts';
import { listNetworks, listPorts, Network, Port } from '../../shared/kinds/openstack/network.ts';
import {
  type ListFilter,
  type OpenStackRequest,
  type UidOrName,
  uidTag,
} from '../../shared/kinds/openstack/request.ts';
import {
  InstanceAction,
  listInstanceActions,
  listServers,
  Server,
  showServer,
} from '../../shared/kinds/openstack/server.ts';
import { CinderVolume, listVolumes, showVolume } from '../../shared/kinds/openstack/volume.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import { mapConcurrently } from '../../shared/runtime/concurrency.ts';
import type { Cloud } from '../../shared/runtime/openstack/clouds.ts';
import { type NarrowLists, requestsAtOnce } from '../../shared/runtime/openstack/narrow-lists.ts';
import { OpenStackError } from '../../shared/runtime/openstack/open-stack-error.ts';
import type { Found, MachineWithSiblings } from './observed.ts';
import { networksIn, uidOrName, volumesIn } from './references.ts';
import { sizeOf } from './size.ts';

/** What a project has of some of its machines. */
export interface ProjectContent {
  flavors: readonly Flavor[];
  servers: readonly Server[];
  of(machine: MachineWithSiblings): Omit<Found, 'unusedFlavors'>;
}

/**
 * Reads what a project has of these machines. Beside the lists: one more request for each server that has changed since its restarts
 * were counted, for each disk that it is to let go, and for the key pair of a machine that comes or goes.
 */
export async function readProject(
  cloud: Cloud,
  all: readonly MachineWithSiblings[],
  lists: NarrowLists,
): Promise<ProjectContent> {
  const uids = all.map(({ machine }) => machine.metadata.uid);
  const [listed, ports, networks, volumesNamed, flavors] = await Promise.all([
    lists.some(uids, (some) => cloud.list(listServers({ uids: some }), 'servers', Server)),
    lists.some(uids, (some) => cloud.list(listPorts(cloud.project, { uids: some }), 'ports', Port)),
    networksBy(
      cloud,
      all.flatMap(({ machine, networks }) => networksIn(machine).map((ref) => uidOrName(ref, networks))),
      lists,
    ),
    lists.each(
      all.flatMap(({ machine, volumes }) => volumesIn(machine).map((ref) => uidOrName(ref, volumes))),
      (by) => cloud.list(listVolumes(by), 'volumes', CinderVolume),
    ),
    cloud.list(listFlavors(), 'flavors', Flavor),
  ]);
  const listedIds = new Set(listed.map(({ id }) => id));
  const unlisted = await Promise.all(all.map(({ machine }) => unlistedOf(cloud, machine, listedIds)));
  const existing = [...listed, ...unlisted.flat()].filter(({ status }) => !gone.has(status));
  const servers = await Promise.all(existing.map((server) => withFault(cloud, server)));
  // By their machine: each machine's search of all of them would be a crowd's square.
  const tagged = servers.flatMap((server) => server.tags.map((tag) => ({ tag, server })));
  const byTag = Map.groupBy(tagged, ({ tag }) => tag);
  const serversOf = ({ metadata }: KupenStackMachine) =>
    (byTag.get(uidTag(metadata.uid)) ?? []).map(({ server }) => server);
  const [actions, attached, keyPairNames] = await Promise.all([
    Promise.all(
      all.map(async ({ machine }) => {
        const [server] = serversOf(machine);
        return [machine.metadata.uid, server && (await actionsOf(cloud, machine, server))] as const;
      }),
    ),
    otherAttachedVolumes(
      cloud,
      volumesNamed,
      all.flatMap(({ machine }) => serversOf(machine)),
    ),
    keyPairsOf(
      cloud,
      all.map(({ machine }) => machine).filter((machine) => mayHaveKeyPair(machine, serversOf(machine))),
      lists,
    ),
  ]);
  const portsByTag = Map.groupBy(ports, ({ description }) => description);
  const actionsByUid = new Map(actions);
  const [findNetworks, findVolumes] = [finderIn(networks), finderIn([...volumesNamed, ...attached])];
  return {
    flavors,
    servers,
    of: ({ machine, ...siblings }) => {
      const { uid } = machine.metadata;
      const serversHere = serversOf(machine);
      return {
        servers: serversHere,
        ports: portsByTag.get(uidTag(uid)) ?? [],
        networks: findNetworks(networksIn(machine), siblings.networks.map(idOf)),
        volumes: findVolumes(volumesIn(machine), [...siblings.volumes.map(idOf), ...serversHere.flatMap(idsAttached)]),
        flavors,
        hasKeyPair: keyPairNames.has(keyPairName(uid)),
        actions: actionsByUid.get(uid),
      };
    },
  };
}

async function networksBy(cloud: Cloud, all: readonly UidOrName[], { some }: NarrowLists): Promise<Network[]> {
  const listed = (filter: ListFilter) => cloud.list(listNetworks(cloud.project, filter), 'networks', Network);
  const [byUid, byName] = await Promise.all([
    some(
      all.map(({ uid }) => uid).filter((one) => one !== undefined),
      (uids) => listed({ uids }),
    ),
    some(
      all.map(({ name }) => name).filter((one) => one !== undefined),
      (names) => listed({ names }),
    ),
  ]);
  return [...byUid, ...byName];
}

const idOf = ({ status }: { status?: { id?: string | undefined } | undefined }) => status?.id;
const idsAttached = (server: Server) => server['os-extended-volumes:volumes_attached'].map(({ id }) => id);

/** The volumes that servers have, and that no machine names any more. */
async function otherAttachedVolumes(cloud: Cloud, known: readonly CinderVolume[], servers: readonly Server[]) {
  const others = new Set(servers.flatMap(idsAttached));
  for (const { id } of known) others.delete(id);
  const found = await mapConcurrently([...others], requestsAtOnce, (id) => findOne(cloud, showVolume(id), ShownVolume));
  return found.flatMap((shown) => shown?.volume ?? []);
}

const ShownVolume = z.object({ volume: CinderVolume });

/** A key pair is read only before a server is created, and at deletion. */
const mayHaveKeyPair = ({ metadata, spec }: KupenStackMachine, servers: readonly Server[]) =>
  metadata.deletionTimestamp !== undefined || (spec.publicKey !== undefined && servers.length === 0);

/** The names of the key pairs of these machines, or of more. */
async function keyPairsOf(
  cloud: Cloud,
  machines: readonly KupenStackMachine[],
  { each }: NarrowLists,
): Promise<ReadonlySet<string>> {
  const found = await each(
    machines.map(({ metadata }) => metadata.uid),
    async (uid) => {
      if (uid === undefined) return cloud.list(listKeyPairs(), 'keypairs', KeyPair);
      const shown = await findOne(cloud, showKeyPair(uid), KeyPair);
      return shown ? [shown] : [];
    },
  );
  return new Set(found.map(({ keypair }) => keypair.name));
}

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
  // 400: the value is no id.
  const shown = await findOne(cloud, showServer(id), ShownServer, [404, 400]);
  return shown ? [shown.server] : [];
}

/** A server in ERROR with Nova's word of why; as it was if it went between the two reads. */
async function withFault(cloud: Cloud, server: Server): Promise<Server> {
  if (server.status !== 'ERROR' || server.fault?.message) return server;
  return (await findOne(cloud, showServer(server.id), ShownServer))?.server ?? server;
}

const ShownServer = z.object({ server: Server });

/**
 * A server changes with each task; one that has not has been started no more often than it was counted. Of one that has another
 * size than it is to have, the actions tell whether a resize was given up. Undefined, too, if it went between the two reads.
 */
async function actionsOf(cloud: Cloud, machine: KupenStackMachine, server: Server) {
  const { status } = machine;
  if (server['OS-EXT-STS:task_state'] !== null) return undefined;
  const isCounted = status?.id === server.id && status.countedAt === server.updated;
  if (isCounted && hasSize(server.flavor, sizeOf(machine))) return undefined;
  return (await findOne(cloud, listInstanceActions(server.id), Actions))?.instanceActions;
}

const Actions = z.object({ instanceActions: z.array(InstanceAction) });

/** The answer; undefined if there is no such thing. */
async function findOne<T>(
  cloud: Cloud,
  request: OpenStackRequest,
  answer: z.ZodType<T>,
  missing: readonly number[] = [404],
): Promise<T | undefined> {
  try {
    return answer.parse(await cloud.send(request));
  } catch (error) {
    if (error instanceof OpenStackError && missing.includes(error.status)) return undefined;
    throw error;
  }
}
