import * as z from 'zod';
import { distinct } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf } from '../../shared/function.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { type Flavor, hasSize, isOurs } from '../../shared/kinds/openstack/flavor.ts';
import { listServersWith } from '../../shared/kinds/openstack/server.ts';
import { type KubernetesObject, keyOf, type Resource, referenceOf } from '../../shared/kinds/resource.ts';
import { getNamed } from '../../shared/runtime/get-named.ts';
import { listTrimmed } from '../../shared/runtime/list-trimmed.ts';
import { onClouds } from '../../shared/runtime/openstack/by-namespace.ts';
import type { Cloud } from '../../shared/runtime/openstack/clouds.ts';
import { type NarrowLists, narrowLists } from '../../shared/runtime/openstack/narrow-lists.ts';
import { OpenStackError } from '../../shared/runtime/openstack/open-stack-error.ts';
import type { MachineWithSiblings, Observed } from './observed.ts';
import { type ProjectContent, readProject } from './project.ts';
import { networksIn, volumesIn } from './references.ts';
import { sizeOf } from './size.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { kube, nowMs, refusals } = context;
  const lists = narrowLists(batch);
  const machines = await concerned(context, batch);
  const [networksOf, volumesOf] = await Promise.all([
    siblings(kube, lists, VirtualNetwork, machines, networksIn),
    siblings(kube, lists, Volume, machines, volumesIn),
  ]);
  const withSiblings = (machine: KupenStackMachine): MachineWithSiblings => ({
    machine,
    networks: networksOf(machine),
    volumes: volumesOf(machine),
  });
  return onClouds(
    context,
    machines,
    async (cloud, group) => {
      const project = await readProject(cloud, group.map(withSiblings), lists);
      return { project, unusedFlavors: await unusedFlavorsOf(context, cloud, project, group), first: group[0] };
    },
    (machine, cloud, policy) => {
      const common = { nowMs, policy, refusals, ...withSiblings(machine) };
      if ('fault' in cloud) return { ...common, cloud };
      const unusedFlavors = machine === cloud.first ? cloud.unusedFlavors : [];
      return { ...common, cloud: { ...cloud.project.of(common), unusedFlavors } };
    },
  );
}

/** What machines name in their namespaces. A sweep and an audit look at all machines: then a list of each namespace costs less. */
async function siblings<T extends KubernetesObject>(
  kube: Context['kube'],
  { isWhole }: NarrowLists,
  resource: Resource<T>,
  machines: readonly KupenStackMachine[],
  refsIn: typeof networksIn,
): Promise<(machine: KupenStackMachine) => T[]> {
  const namespaces = [...new Set(machines.map(({ metadata }) => metadata.namespace ?? ''))];
  const found = isWhole
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
 * Flavors of ours of a size that no machine anywhere wants, a machine that goes wants none, and that no server has: a server whose
 * resize was given up has the one of before, and so may one that another cluster made.
 */
async function unusedFlavorsOf(
  context: Context,
  cloud: Cloud,
  { flavors, servers }: ProjectContent,
  machines: readonly KupenStackMachine[],
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
