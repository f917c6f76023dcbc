import { distinct, uniqueByName } from '../../shared/distinct.ts';
import {
  type Batch,
  type Context,
  defineFunction,
  on,
  type Subject,
  subjectsOf,
  type Unreadable,
} from '../../shared/function.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { managedBy, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { parsePolicy, policyName } from '../../shared/policy.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { isUnreadable, orUnreadable, partition, unreadable } from '../../shared/runtime/unreadable.ts';
import { machineNameOf } from './children.ts';
import { decide } from './decide.ts';
import { isStale, nextBatch, type Waiting } from './next-batch.ts';
import type { Observed } from './observed.ts';
import { observeAll } from './gather.ts';
import { machineFacts } from './standing.ts';

/** Gives a machine its disk once its image is ready, then has KubeVirt run it, and says how it stands. */
export default defineFunction<Observed>({
  name: 'provision-vm',
  on: [
    on.changed(VirtualMachine, { source: 'pelotech' }),
    on.changed(VMDiskImage, { source: 'pelotech' }),
    on.changed(DataVolume, { source: 'cdi', selector: { matchLabels: managedBy } }),
    on.changed(KubeVirtMachine, { source: 'kubevirt', selector: { matchLabels: managedBy } }),
    on.changed(KubeVirtInstance, { source: 'kubevirt', selector: { matchLabels: managedBy } }),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    on.audit(),
  ],
  may: [
    { resource: VirtualMachine, verbs: ['get', 'list'] },
    { resource: VirtualMachine, subresource: 'status', verbs: ['patch'] },
    { resource: VMDiskImage, verbs: ['get'] },
    { resource: DataVolume, verbs: ['get', 'list', 'create', 'delete'] },
    { resource: DataVolume, subresource: 'source', verbs: ['create'] },
    { resource: Secret, verbs: ['get', 'create', 'update'] },
    { resource: KubeVirtMachine, verbs: ['get', 'list', 'create', 'update'] },
    { resource: KubeVirtInstance, verbs: ['get', 'list'] },
    { resource: NetworkAttachmentDefinition, verbs: ['list'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  facts: machineFacts,
  observe,
  decide,
});

async function observe(context: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { kube } = context;
  const [policyMap, named] = await Promise.all([
    kube.get(ConfigMap, { namespace: operatorNamespace, name: policyName }),
    namedBy(kube, batch),
  ]);
  const policy = parsePolicy(policyMap);
  const machines = await withWaiting(kube, batch, named.read);
  const images = await imagesOf(kube, machines.read);
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
  if (kind === VMDiskImage.kind || kind === ConfigMap.kind) return undefined;
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

/** With those that wait for an image that changed, or that an earlier pass on the same image left for this one. */
async function withWaiting(kube: Reader, batch: Batch, named: readonly VirtualMachine[]): Promise<Found> {
  if (isForAll(batch)) return { read: [...named], unreadable: [] };
  const late = named.filter(({ status }) => status?.phase !== 'Ready');
  const refs = [...subjectsOf(batch, VMDiskImage), ...late.map(({ spec }) => spec.vmDiskImageRef)];
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
  const refs = new Map(machines.map(({ spec }) => [keyOf(spec.vmDiskImageRef), spec.vmDiskImageRef]));
  const found = [...refs].map(
    async ([key, ref]) => [key, await orUnreadable(ref, kube.get(VMDiskImage, ref))] as const,
  );
  return new Map(await Promise.all(found));
}
