import { chunk } from '../../shared/chunk.ts';
import { distinct, uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, type Subject, subjectNamed, type Unreadable } from '../../shared/function.ts';
import { imagesOfFacts } from '../../shared/images/facts.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { isHostKey, isPassword, Secret, textIn } from '../../shared/kinds/core/secret.ts';
import { hardwareKinds } from '../../shared/kinds/kubevirt/hardware.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { machineUidLabel, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import {
  type KubernetesObject,
  keyOf,
  type ObjectReference,
  type Resource,
  referenceOf,
} from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import { mapConcurrently } from '../../shared/runtime/concurrency.ts';
import { ifServed } from '../../shared/runtime/if-served.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { readOnce } from '../../shared/runtime/read-once.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { isUnreadable, orUnreadable, partition, readable, unreadable } from '../../shared/runtime/unreadable.ts';
import { cloudInitName, machineNameOf, rootDiskName } from './children.ts';
import { decide } from './decide.ts';
import { imageReadiness } from './disk/image-ready.ts';
import { isStale, orderOf, type Waiting } from './disk/stale.ts';
import type { MatcherField } from './kubevirt/hardware.ts';
import { hardwareNeeded } from './kubevirt/missing-hardware.ts';
import { networksNeeded } from './network/missing-network.ts';
import { nicsOf, wasRefusedAddress } from './network/networks.ts';
import { type Observed, type Postponed, passwordKey } from './observed.ts';

export async function gather(context: Context, batch: Batch): Promise<(Observed | Postponed | Unreadable)[]> {
  const { kube } = context;
  const waiting = await waitingFor(kube, imagesOfFacts(batch));
  const refs = distinct([...machinesIn(batch), ...waiting.read].sort(eventsFirst), keyOf);
  const named = await machinesAt(kube, refs.slice(0, machinesPerReconcile));
  const postponed = refs.slice(machinesPerReconcile);
  return [
    ...waiting.unreadable,
    ...named.unreadable,
    ...(postponed.length > 0 ? [{ postponed }] : []),
    ...(named.read.length > 0 ? await observeAll(context, await readPolicy(kube), named.read) : []),
  ];
}

/** Names the machines that an audit may do something about. What it decides is decided again, after they are read again. */
export async function* audit({ kube, nowMs }: Pick<Context, 'kube' | 'nowMs'>): AsyncGenerator<Subject[]> {
  const policy = await readPolicy(kube);
  const mayAct = (one: Observed | Unreadable) => isUnreadable(one) || decide(one).length > 0;
  for await (const { items } of kube.pages(VirtualMachine)) {
    for (const machines of chunk(items, machinesPerReconcile)) {
      const observed = await observeAll({ kube, nowMs, refusals: new Map() }, policy, machines);
      yield observed
        .filter(mayAct)
        .map((one) => subjectNamed(VirtualMachine, isUnreadable(one) ? one.unreadable : one.machine.metadata));
    }
  }
}

type Reader = Context['kube'];

/**
 * The limit of machines that a reconcile observes: to begin one takes four writes, and what was read grows old. The others come after it
 * one by one, and are forgotten with the process: then something that happens to them or the audit finds them.
 */
const machinesPerReconcile = 50;

/** A machine to observe, and whether it is so because of an event. */
interface Candidate extends ObjectReference {
  isEvent: boolean;
}

/** Events never wait for a crowd. */
const eventsFirst = (one: Candidate, other: Candidate) => Number(other.isEvent) - Number(one.isEvent);

/** The machines that events are about, by name or by the name of a child. A root disk has the name of its machine and a suffix. */
const machinesIn = ({ subjects, audited = [] }: Batch): Candidate[] =>
  [...subjects, ...audited].flatMap(({ kind, namespace, name, verb }) => {
    if (kind === ConfigMap.kind) return [];
    const machine = kind === DataVolume.kind ? machineNameOf(name) : name;
    return machine === undefined ? [] : [{ namespace, name: machine, isEvent: verb !== undefined }];
  });

/** Machines, and what of them could not be read. */
interface Found<T = VirtualMachine> {
  read: T[];
  unreadable: Unreadable[];
}

/** The machines of these names, and those that may have waited for the address of a machine that no longer exists. */
async function machinesAt(kube: Reader, refs: readonly ObjectReference[]): Promise<Found> {
  const found = await Promise.all(refs.map((ref) => orUnreadable(ref, kube.get(VirtualMachine, ref))));
  const gone = refs.filter((_, index) => found[index] === undefined);
  const [single, rivals] = [partition(found), await rivalsOf(kube, gone)];
  const read = [...single.read, ...rivals.read];
  return {
    read: uniqueByName(read).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    unreadable: [...single.unreadable, ...rivals.unreadable],
  };
}

async function rivalsOf(kube: Reader, gone: readonly ObjectReference[]): Promise<Found> {
  const byNamespace = Map.groupBy(gone, ({ namespace }) => namespace ?? '');
  const failed = [...byNamespace].map(([namespace, refs]) =>
    kube
      .list(VirtualMachine, { namespace, fieldSelector: 'status.phase=Failed' })
      .then((machines) => machines.filter(wasRefusedAddress))
      .catch((error: unknown) => refs.map((ref) => unreadable(ref, error))),
  );
  return partition((await Promise.all(failed)).flat());
}

/** The machines that wait for these images and to which that makes a difference, in the order in which they are begun. */
async function waitingFor(kube: Reader, images: readonly ObjectReference[]): Promise<Found<Candidate>> {
  const refs = distinct(images, keyOf);
  const look = () => Promise.all([readPolicy(kube), imagesOf(kube, refs)]);
  let looked: ReturnType<typeof look> | undefined;
  const stale = async (page: readonly VirtualMachine[]) => {
    looked ??= look();
    const [policy, found] = await looked;
    return page
      .map((machine): Waiting => ({ machine, image: readable(found.get(keyOf(machine.spec.vmDiskImageRef))) }))
      .filter((one) => isStale(one, policy))
      .map((one) => ({ order: orderOf(one), ...referenceOf(one.machine) }));
  };
  const { read, unreadable } = partition(await machinesNaming(kube, refs, 'status.phase!=Ready', stale));
  const sorted = read.flat().sort((one, other) => (one.order < other.order ? -1 : 1));
  return { read: sorted.map(({ namespace, name }) => ({ namespace, name, isEvent: false })), unreadable };
}

async function imagesOf(kube: Reader, refs: readonly ObjectReference[]) {
  const found = refs.map(async (ref) => [keyOf(ref), await orUnreadable(ref, kube.get(VMDiskImage, ref))] as const);
  return new Map(await Promise.all(found));
}

/** Each machine with its image, its existing children, and the passwords and neighbours that its decision needs. */
async function observeAll(
  { kube, nowMs, refusals }: Pick<Context, 'kube' | 'nowMs' | 'refusals'>,
  policy: Policy,
  all: readonly VirtualMachine[],
): Promise<(Observed | Unreadable)[]> {
  const refs = all.map(({ spec }) => spec.vmDiskImageRef);
  const images = await imagesOf(kube, distinct(refs, keyOf));
  const { read: found, unreadable: unread } = partition(
    all.map((machine): Waiting | Unreadable => {
      const image = images.get(keyOf(machine.spec.vmDiskImageRef));
      return isUnreadable(image) ? unreadable(machine.metadata, image.error) : { machine, image };
    }),
  );
  const machines = found.map(({ machine }) => machine);
  const [madeOf, passwords, neighbours] = await Promise.all([
    readMade(
      kube,
      found.filter((one) => mayHaveChildren(one, policy)).map(({ machine }) => machine),
      policy,
    ),
    mapConcurrently(machines, atOnce, (machine) => orUnreadable(machine.metadata, passwordsOf(kube, machine))),
    neighboursOf(kube, machines, policy),
  ]);
  const observeOne = async ({ machine, image }: Waiting, place: number): Promise<Observed> => ({
    ...{ nowMs, policy, refusals, machine, image },
    ...madeOf(machine),
    ...readable(passwords[place] ?? { passwords: new Map(), refusedSecrets: new Set() }),
    neighbours: comparesAddresses(machine) ? readable(neighbours.get(rivalsIn(machine, policy))) : undefined,
  });
  const observed = found.map((one, place) => orUnreadable(one.machine.metadata, observeOne(one, place)));
  return [...unread, ...(await Promise.all(observed))];
}

type Made = Pick<Observed, 'dataVolume' | 'secret' | 'kubeVirtMachine' | 'instance' | 'networks' | 'missing'>;

/** What was made for these machines, and what it needs; of a machine that is not among them nothing. Throws for one whose child could not be read. */
async function readMade(
  kube: Reader,
  machines: readonly VirtualMachine[],
  policy: Policy,
): Promise<(machine: VirtualMachine) => Made> {
  const [dataVolumes, kubeVirtMachines, instances, secrets] = await Promise.all([
    childrenOf(kube, DataVolume, { machines, nameOf: rootDiskName }),
    childrenOf(kube, KubeVirtMachine, { machines, nameOf: sameName }),
    childrenOf(kube, KubeVirtInstance, { machines, nameOf: sameName }),
    mapConcurrently(machines, atOnce, ({ metadata }) =>
      orUnreadable(metadata, kube.get(Secret, { ...metadata, name: cloudInitName(metadata.name) })),
    ),
  ]);
  const neededBy = machines.map((machine, index) => {
    const kubeVirtMachine = kubeVirtMachines[index];
    return isUnreadable(kubeVirtMachine)
      ? { machine, networks: [], fields: [] }
      : {
          machine,
          networks: networksNeeded({ machine, kubeVirtMachine, policy }),
          fields: hardwareNeeded({ machine, kubeVirtMachine, policy }),
        };
  });
  const definitions = await definitionsOf(
    kube,
    neededBy.flatMap(({ networks }) => networks),
  );
  const hardwareOf = readOnce(
    ({ field, name }: Hardware) => kube.get<KubernetesObject>(hardwareKinds[field], { name }),
    ({ field, name }) => `${field}/${name}`,
  );
  const missing = await mapConcurrently(neededBy, atOnce, ({ machine, fields }) =>
    orUnreadable<readonly MatcherField[]>(machine.metadata, missingOf(hardwareOf, machine, fields)),
  );
  const places = new Map(machines.map(({ metadata }, index) => [metadata.uid, index]));
  return ({ metadata }) => {
    const index = places.get(metadata.uid) ?? -1;
    const networks = neededBy[index]?.networks ?? [];
    const served = networks.map((key) => readable(definitions.get(namespaceOf(key))));
    return {
      dataVolume: readable(dataVolumes[index]),
      secret: readable(secrets[index]),
      kubeVirtMachine: readable(kubeVirtMachines[index]),
      instance: readable(instances[index]),
      networks: {
        isServed: served.every((keys) => keys !== undefined),
        missing: networks.filter((key, at) => !served[at]?.has(key)),
      },
      missing: readable(missing[index] ?? []),
    };
  };
}

interface Hardware {
  field: MatcherField;
  name: string;
}

async function missingOf(
  hardwareOf: (hardware: Hardware) => Promise<KubernetesObject | undefined>,
  { spec }: VirtualMachine,
  fields: MatcherField[],
) {
  const found = await Promise.all(fields.map((field) => hardwareOf({ field, name: spec[field] ?? '' })));
  return fields.filter((_, index) => found[index] === undefined);
}

const namespaceOf = (key: string) => key.split('/')[0] ?? '';

/** The NetworkAttachmentDefinitions in each namespace of `needed`, as `namespace/name`; undefined if Multus is not installed. */
async function definitionsOf(kube: Reader, needed: readonly string[]) {
  const lists = [...new Set(needed.map(namespaceOf))].map(async (namespace) => {
    const listing = ifServed(kube.list(NetworkAttachmentDefinition, { namespace }));
    const keys = listing.then((list) => list && new Set(list.map(({ metadata }) => keyOf(metadata))));
    return [namespace, await orUnreadable({ name: namespace }, keys)] as const;
  });
  return new Map(await Promise.all(lists));
}

/** A machine that waits for its image has none; unless its status was wiped, which says nothing of that. */
const mayHaveChildren = ({ machine, image }: Waiting, policy: Policy) =>
  machine.status?.rootDisk !== undefined ||
  machine.status?.phase === undefined ||
  !('obstacle' in imageReadiness({ machine, image, policy }));

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

type Passwords = Pick<Observed, 'passwords' | 'refusedSecrets' | 'hostKey'>;

async function passwordsOf(kube: Reader, { metadata, spec }: VirtualMachine): Promise<Passwords> {
  const refs = (spec.users ?? []).map((user) => user.passwordSecretRef).filter((ref) => ref !== undefined);
  const passwords = new Map<string, string | undefined>();
  const refusedSecrets = new Set<string>();
  const readOne = async (ref: { name: string; key: string }) => {
    const secret = await kube.get(Secret, { namespace: metadata.namespace, name: ref.name });
    if (secret && !isPassword(secret)) refusedSecrets.add(ref.name);
    // A Secret made from a file contains the end of its line.
    else passwords.set(passwordKey(ref), secret && textIn(secret, ref.key)?.replace(/\r?\n$/, ''));
  };
  const [hostKey] = await Promise.all([hostKeyOf(kube, metadata.namespace, spec), ...refs.map(readOne)]);
  return { passwords, refusedSecrets, hostKey };
}

async function hostKeyOf(
  kube: Reader,
  namespace: string | undefined,
  { sshHostKeySecretRef: ref }: VirtualMachine['spec'],
): Promise<string | undefined> {
  const secret = ref && (await kube.get(Secret, { namespace, name: ref.name }));
  return ref && secret && isHostKey(secret) ? textIn(secret, ref.key) : undefined;
}

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
