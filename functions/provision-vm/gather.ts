import { distinct, uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, type Subject, subjectsOf, type Unreadable } from '../../shared/function.ts';
import { imagesTold } from '../../shared/images/facts.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { machineUidLabel, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import { mapConcurrently } from '../../shared/runtime/concurrency.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import { listServed } from '../../shared/runtime/list-served.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { isUnreadable, orUnreadable, partition, readable, unreadable } from '../../shared/runtime/unreadable.ts';
import { cloudInitName, machineNameOf, rootDiskName } from './children.ts';
import { imageStanding } from './image-ready.ts';
import { networksNeeded } from './missing-network.ts';
import { nicsOf, wasRefusedAddress } from './networks.ts';
import { isStale, nextBatch, type Waiting } from './next-batch.ts';
import { type Observed, passwordKey } from './observed.ts';

export async function gather(context: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { kube } = context;
  const named = await namedBy(kube, batch);
  const machines = await withWaiting(kube, batch, named.read);
  if (machines.read.length === 0) return [...named.unreadable, ...machines.unreadable];
  const [policy, images] = await Promise.all([readPolicy(kube), imagesOf(kube, machines.read)]);
  const found = partition(
    machines.read
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((machine): Waiting | Unreadable => {
        const image = images.get(keyOf(machine.spec.vmDiskImageRef));
        return isUnreadable(image) ? unreadable(machine.metadata, image.error) : { machine, image };
      }),
  );
  const isNamed = new Set(named.read.map(({ metadata }) => keyOf(metadata)));
  const waiting = found.read.filter((one) => isStale(one, policy));
  const others = found.read.filter((one) => isNamed.has(keyOf(one.machine.metadata)) && !waiting.includes(one));
  const observed = await observeAll(context, policy, [...others, ...nextBatch(waiting, policy)]);
  return [...named.unreadable, ...machines.unreadable, ...found.unreadable, ...observed];
}

type Reader = Context['kube'];

/** Machines, and what of them could not be read. */
interface Found {
  read: VirtualMachine[];
  unreadable: Unreadable[];
}

const isForAll = (batch: Batch) => batch.audit || subjectsOf(batch, ConfigMap).length > 0;

/** The machines that events are about, by name or by the name of a child; at an audit, and under another policy, all. */
async function namedBy(kube: Reader, batch: Batch): Promise<Found> {
  if (isForAll(batch)) return { read: await kube.list(VirtualMachine), unreadable: [] };
  const refs = distinct(
    batch.subjects.map(machineOf).filter((ref) => ref !== undefined),
    keyOf,
  );
  const found = await Promise.all(refs.map((ref) => orUnreadable(ref, kube.get(VirtualMachine, ref))));
  const gone = refs.filter((_, index) => found[index] === undefined);
  const [single, rivals] = [partition(found), await rivalsOf(kube, gone)];
  return {
    read: uniqueByName([...single.read.filter((machine) => machine !== undefined), ...rivals.read]),
    unreadable: [...single.unreadable, ...rivals.unreadable],
  };
}

/** A root disk has the name of its machine and a suffix, the KubeVirt objects have the very name. */
function machineOf({ kind, namespace, name }: Subject): ObjectReference | undefined {
  if (kind === ConfigMap.kind) return undefined;
  const machine = kind === DataVolume.kind ? machineNameOf(name) : name;
  return machine === undefined ? undefined : { namespace, name: machine };
}

/** Who may have waited for the address of a machine that is gone. */
async function rivalsOf(kube: Reader, gone: readonly ObjectReference[]): Promise<Found> {
  const byNamespace = Map.groupBy(gone, ({ namespace }) => namespace ?? '');
  const failed = [...byNamespace].map(([namespace, refs]) =>
    kube
      .list(VirtualMachine, { namespace, fieldSelector: 'status.phase=Failed' })
      .catch((error: unknown) => refs.map((ref) => unreadable(ref, error))),
  );
  return partition((await Promise.all(failed)).flat());
}

/** With those that wait for an image that changed, or that an earlier reconcile on the same image left for this one. */
async function withWaiting(kube: Reader, batch: Batch, named: readonly VirtualMachine[]): Promise<Found> {
  if (isForAll(batch)) return { read: [...named], unreadable: [] };
  const late = named.filter(({ status }) => status?.phase !== 'Ready');
  const refs = [...imagesTold(batch), ...late.map(({ spec }) => spec.vmDiskImageRef)];
  const waiting = partition(await machinesNaming(kube, distinct(refs, keyOf), 'status.phase!=Ready'));
  // The events of machines are redelivered, too: no event may tell of the image whose machines still wait.
  const askedBy = ({ unreadable: image, error }: Unreadable) =>
    late
      .filter(({ spec }) => keyOf(spec.vmDiskImageRef) === keyOf(image))
      .map(({ metadata }) => unreadable(metadata, error));
  return {
    read: uniqueByName([...named, ...waiting.read.flat()]),
    unreadable: [...waiting.unreadable, ...waiting.unreadable.flatMap(askedBy)],
  };
}

async function imagesOf(kube: Reader, machines: readonly VirtualMachine[]) {
  const refs = distinct(
    machines.map(({ spec }) => spec.vmDiskImageRef),
    keyOf,
  );
  const found = refs.map(async (ref) => [keyOf(ref), await orUnreadable(ref, kube.get(VMDiskImage, ref))] as const);
  return new Map(await Promise.all(found));
}

/** The existing children of each machine, with the passwords and neighbours that its decision needs. */
async function observeAll(
  { kube, nowMs, refusals }: Context,
  policy: Policy,
  found: readonly Waiting[],
): Promise<(Observed | Unreadable)[]> {
  const machines = found.filter((one) => mayHaveChildren(one, policy)).map(({ machine }) => machine);
  const [dataVolumes, kubeVirtMachines, instances, secrets, passwords, neighbours] = await Promise.all([
    childrenOf(kube, DataVolume, { machines, nameOf: rootDiskName }),
    childrenOf(kube, KubeVirtMachine, { machines, nameOf: sameName }),
    childrenOf(kube, KubeVirtInstance, { machines, nameOf: sameName }),
    mapConcurrently(machines, atOnce, ({ metadata }) =>
      orUnreadable(metadata, kube.get(Secret, { ...metadata, name: cloudInitName(metadata.name) })),
    ),
    mapConcurrently(found, atOnce, ({ machine }) => orUnreadable(machine.metadata, passwordsOf(kube, machine))),
    neighboursOf(
      kube,
      found.map(({ machine }) => machine),
      policy,
    ),
  ]);
  const needed = machines.map((machine, index) => {
    const kubeVirtMachine = kubeVirtMachines[index];
    return isUnreadable(kubeVirtMachine) ? [] : networksNeeded({ machine, kubeVirtMachine, policy });
  });
  const definitions = await definitionsOf(kube, needed.flat());
  const places = new Map(machines.map(({ metadata }, index) => [metadata.uid, index]));
  const observeOne = async ({ machine, image }: Waiting, place: number): Promise<Observed> => {
    const index = places.get(machine.metadata.uid) ?? -1;
    const networks = needed[index] ?? [];
    const served = networks.map((key) => readable(definitions.get(namespaceOf(key))));
    return {
      nowMs,
      policy,
      refusals,
      machine,
      image,
      dataVolume: readable(dataVolumes[index]),
      secret: readable(secrets[index]),
      kubeVirtMachine: readable(kubeVirtMachines[index]),
      instance: readable(instances[index]),
      passwords: readable(passwords[place] ?? new Map()),
      neighbours: comparesAddresses(machine) ? readable(neighbours.get(rivalsIn(machine, policy))) : undefined,
      networks: {
        isServed: served.every((keys) => keys !== undefined),
        missing: networks.filter((key, at) => !served[at]?.has(key)),
      },
    };
  };
  return Promise.all(found.map((one, place) => orUnreadable(one.machine.metadata, observeOne(one, place))));
}

const namespaceOf = (key: string) => key.split('/')[0] ?? '';

/** The NetworkAttachmentDefinitions in each namespace of `needed`, as `namespace/name`; undefined if Multus is not installed. */
async function definitionsOf(kube: Reader, needed: readonly string[]) {
  const lists = [...new Set(needed.map(namespaceOf))].map(async (namespace) => {
    const listing = listServed(kube, NetworkAttachmentDefinition, { namespace });
    const keys = listing.then((list) => list && new Set(list.map(({ metadata }) => keyOf(metadata))));
    return [namespace, await orUnreadable({ name: namespace }, keys)] as const;
  });
  return new Map(await Promise.all(lists));
}

/** A machine that waits for its image has none; unless its status was wiped, which says nothing of that. */
const mayHaveChildren = ({ machine, image }: Waiting, policy: Policy) =>
  machine.status?.rootDisk !== undefined ||
  machine.status?.phase === undefined ||
  !('obstacle' in imageStanding({ machine, image, policy }));

const sameName = (name: string) => name;

/** From this many on, a list costs less than a read for each. */
const singlyAtMost = 20;

/** The object under the child's name for each machine. Only a 404 for that name shows that it does not exist. */
async function childrenOf<T extends KubernetesObject>(
  kube: Reader,
  resource: Resource<T>,
  { machines, nameOf }: { machines: readonly VirtualMachine[]; nameOf(machine: string): string },
): Promise<(T | Unreadable | undefined)[]> {
  const listed = new Map<string, T>();
  if (machines.length > singlyAtMost) {
    const uids = machines.map(({ metadata }) => metadata.uid);
    const listing = listLabelled(kube, resource, machineUidLabel, uids);
    const found = await orUnreadable({ name: resource.plural }, listing);
    if (isUnreadable(found)) return machines.map(({ metadata }) => unreadable(metadata, found.error));
    for (const object of found) listed.set(keyOf(object.metadata), object);
  }
  return mapConcurrently(machines, atOnce, ({ metadata }) => {
    const ref = { namespace: metadata.namespace, name: nameOf(metadata.name) };
    const known = listed.get(keyOf(ref));
    return known ? Promise.resolve(known) : orUnreadable(metadata, kube.get(resource, ref));
  });
}

/** The limit of concurrent requests. */
const atOnce = 50;

async function passwordsOf(kube: Reader, { metadata, spec }: VirtualMachine): Promise<Observed['passwords']> {
  const refs = (spec.users ?? []).map((user) => user.passwordSecretRef).filter((ref) => ref !== undefined);
  const found = refs.map(async (ref) => {
    const secret = await kube.get(Secret, { namespace: metadata.namespace, name: ref.name });
    return [passwordKey(ref), passwordIn(secret?.data?.[ref.key])] as const;
  });
  return new Map(await Promise.all(found));
}

/** A Secret made from a file contains the end of its line. */
const passwordIn = (base64: string | undefined) =>
  base64 === undefined
    ? undefined
    : Buffer.from(base64, 'base64')
        .toString()
        .replace(/\r?\n$/, '');

/** The machines of each namespace where addresses have to be compared; of all under ''. */
async function neighboursOf(kube: Reader, machines: readonly VirtualMachine[], policy: Policy) {
  const namespaces = new Set(machines.filter(comparesAddresses).map((machine) => rivalsIn(machine, policy)));
  const lists = [...namespaces].map(async (namespace) => {
    const listing = kube.list(VirtualMachine, namespace ? { namespace } : {});
    return [namespace, await orUnreadable({ name: namespace }, listing)] as const;
  });
  return new Map(await Promise.all(lists));
}

/** The one namespace whose machines are on its networks; '' where the policy opens one of these to all namespaces. */
const rivalsIn = (machine: VirtualMachine, { values }: Policy): string =>
  nicsOf(machine).some(({ attachment }) => values.machineNetworks.includes(attachment.namespace))
    ? ''
    : (machine.metadata.namespace ?? '');

/** With fixed addresses, until it has them, under another spec, and while one is in use. */
function comparesAddresses(machine: VirtualMachine): boolean {
  const { metadata, spec, status } = machine;
  if (!spec.interfaces?.some(({ ipAddress }) => ipAddress !== undefined)) return false;
  return (
    status?.fixedAddresses === undefined ||
    status.observedGeneration !== metadata.generation ||
    wasRefusedAddress(machine)
  );
}
