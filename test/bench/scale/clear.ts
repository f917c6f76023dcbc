import { leaseRef } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { mapConcurrently } from '../../../shared/runtime/concurrency.ts';
import type { Kube, ListOptions } from '../../../shared/runtime/kube.ts';
import { credentialsName } from '../../../shared/runtime/openstack/clouds.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { until } from '../../stories/world.ts';
import { lab, places } from './crowd.ts';

/** 10,000 images and their snapshots, on two cores. */
const goneWithinMs = 600_000;

/** Deletes a crowd and what the functions made of it. None of them runs, so that their finalizers are removed here. */
export async function clear(kube: Kube): Promise<void> {
  for (const kind of [Workspace, VirtualMachine, VMDiskImage, KupenStackMachine, Volume, VirtualNetwork])
    await removeAll(kube, kind);
  await removeAll(kube, Secret, { fieldSelector: `metadata.name=${credentialsName}` });
  const namespaces = (await kube.list(Namespace)).filter(
    ({ metadata: { name } }) =>
      places.includes(name) || [namespaceOf(''), `${lab}-`].some((prefix) => name.startsWith(prefix)),
  );
  for (const { metadata } of namespaces) await kube.delete(Namespace, metadata);
  for (const { metadata } of namespaces)
    await until({ kube }, Namespace, metadata, (found) => found === undefined, goneWithinMs);
  await kube.delete(Lease, leaseRef);
}

async function removeAll(kube: Kube, kind: Resource, options?: ListOptions): Promise<void> {
  const remove = async ({ metadata }: KubernetesObject) => {
    if (metadata.finalizers?.length) await kube.patch(kind, metadata, { metadata: { finalizers: null } });
    await kube.delete(kind, metadata);
  };
  for await (const { items } of kube.pages(kind, options)) await mapConcurrently(items, 32, remove);
}
