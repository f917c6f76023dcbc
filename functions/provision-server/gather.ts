import * as z from 'zod';
import { uniqueByName } from '../../shared/distinct.ts';
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
import { getNamed } from '../../shared/runtime/get-named.ts';
import { onClouds } from '../../shared/runtime/openstack/by-namespace.ts';
import type { Cloud } from '../../shared/runtime/openstack/clouds.ts';
import { OpenStackError } from '../../shared/runtime/openstack/open-stack-error.ts';
import type { Found, Observed } from './observed.ts';
import { sizeOf } from './size.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { kube, nowMs, refusals } = context;
  const machines = await concerned(context, batch);
  const siblings = new Map(
    await Promise.all(
      [...new Set(machines.map(({ metadata }) => metadata.namespace ?? ''))].map(async (namespace) => {
        const [networks, volumes] = await Promise.all([
          kube.list(VirtualNetwork, { namespace }),
          kube.list(Volume, { namespace }),
        ]);
        return [namespace, { networks, volumes }] as const;
      }),
    ),
  );
  return onClouds(
    context,
    machines,
    (cloud, group) => readProject(kube, cloud, group),
    (machine, cloud, policy) => {
      const { networks = [], volumes = [] } = siblings.get(machine.metadata.namespace ?? '') ?? {};
      const { spec } = machine;
      return {
        nowMs,
        policy,
        refusals,
        machine,
        networks: networks.filter(({ metadata }) => spec.virtualNetworks?.includes(metadata.name)),
        volumes: volumes.filter(({ metadata }) => spec.diskAttachments.some(({ name }) => name === metadata.name)),
        cloud: 'fault' in cloud ? cloud : cloud.of(machine),
      };
    },
  );
}

/**
 * Those that events name, and those on a network or a volume that changed; all at a sweep: OpenStack reports nothing that happens
 * behind our back.
 */
async function concerned({ kube }: Context, batch: Batch): Promise<KupenStackMachine[]> {
  if (batch.sweep || batch.audit) return kube.list(KupenStackMachine);
  const networks = subjectsOf(batch, VirtualNetwork);
  const volumes = subjectsOf(batch, Volume);
  const namespaces = [...new Set([...networks, ...volumes].map(({ namespace }) => namespace ?? ''))];
  const listed = await Promise.all(namespaces.map((namespace) => kube.list(KupenStackMachine, { namespace })));
  const using = listed
    .flat()
    .filter(
      ({ metadata: { namespace }, spec }) =>
        networks.some((one) => one.namespace === namespace && spec.virtualNetworks?.includes(one.name)) ||
        volumes.some(
          (one) => one.namespace === namespace && spec.diskAttachments.some(({ name }) => name === one.name),
        ),
    );
  return uniqueByName([...using, ...(await getNamed(kube, KupenStackMachine, subjectsOf(batch, KupenStackMachine)))]);
}

/**
 * What a project has, read once for all of its machines that are looked at: six lists, however many they are, and one more request
 * for each server that has changed since its restarts were counted.
 */
async function readProject(kube: Context['kube'], cloud: Cloud, machines: readonly KupenStackMachine[]) {
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
  const isServerOf = (machine: KupenStackMachine) => (server: Server) =>
    server.tags.includes(uidTag(machine.metadata.uid));
  const unlisted = await Promise.all(machines.map((machine) => unlistedOf(cloud, machine, listed)));
  const existing = [...listed, ...unlisted.flat()].filter(({ status }) => !gone.has(status));
  const servers = await Promise.all(existing.map((server) => withFault(cloud, server)));
  const unusedFlavors = await unusedFlavorsOf(kube, cloud, { flavors, servers, machines });
  const actions = new Map(
    await Promise.all(
      machines.map(async (machine) => {
        const [server] = servers.filter(isServerOf(machine));
        return [machine.metadata.uid, server && (await actionsOf(cloud, machine, server))] as const;
      }),
    ),
  );
  const [first] = machines;
  return {
    of: (machine: KupenStackMachine): Found => ({
      servers: servers.filter(isServerOf(machine)),
      ports: ports.filter(({ description }) => description === uidTag(machine.metadata.uid)),
      networks,
      volumes,
      flavors,
      hasKeyPair: keyPairs.some(({ keypair }) => keypair.name === keyPairName(machine.metadata.uid)),
      actions: actions.get(machine.metadata.uid),
      unusedFlavors: machine === first ? unusedFlavors : [],
    }),
  };
}

/** Nova still shows such a server, but it needs no flavor. */
const gone: ReadonlySet<string> = new Set(['DELETED', 'SOFT_DELETED']);

/** A list by tag omits servers of an unreachable cell, so only a 404 for the server itself shows that it was deleted. */
async function unlistedOf(cloud: Cloud, { status }: KupenStackMachine, listed: readonly Server[]): Promise<Server[]> {
  const { id } = status ?? {};
  if (id === undefined || listed.some((server) => server.id === id)) return [];
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
  kube: Context['kube'],
  cloud: Cloud,
  { flavors, servers, machines }: { flavors: Flavor[]; servers: Server[]; machines: readonly KupenStackMachine[] },
) {
  const wants = (all: readonly KupenStackMachine[], flavor: Flavor) =>
    all.some((machine) => machine.metadata.deletionTimestamp === undefined && hasSize(flavor, sizeOf(machine)));
  const has = (flavor: Flavor) => servers.some((server) => hasSize(server.flavor, flavor));
  const doubtful = flavors.filter((flavor) => isOurs(flavor) && !wants(machines, flavor) && !has(flavor));
  if (doubtful.length === 0) return [];
  const all = await kube.list(KupenStackMachine);
  const left = doubtful.filter((flavor) => !wants(all, flavor));
  const inUse = await Promise.all(left.map((flavor) => isInUse(cloud, flavor)));
  return left.filter((_, index) => !inUse[index]);
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
