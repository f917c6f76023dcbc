import { chunk } from '../../shared/chunk.ts';
import { distinct, uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf, type Unreadable } from '../../shared/function.ts';
import { imagesTold } from '../../shared/images/facts.ts';
import { machinesOf } from '../../shared/images/references.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { orUnreadable, partition, unreadable } from '../../shared/runtime/unreadable.ts';
import type { Observed } from './observed.ts';

/** Up to this many machines of an image are written one after the other; more are written concurrently. */
const machinesInARow = 25;

export async function gather(context: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { kube, nowMs, refusals } = context;
  const { machines, unreadable: others } = await machinesFor(kube, batch);
  if (machines.length === 0) return others;
  const policy = await readPolicy(kube);
  const refs = new Map(machines.map(({ spec }) => [machinesOf(spec.vmDiskImageRef), spec.vmDiskImageRef]));
  const groups = Map.groupBy(machines, ({ spec }) => machinesOf(spec.vmDiskImageRef));
  const observed = await Promise.all(
    [...refs].map(async ([key, ref]) => {
      const group = groups.get(key) ?? [];
      const found = await placeOf(kube, ref).catch((error: unknown) => ({ error }));
      if ('error' in found) return group.map(({ metadata }) => unreadable(metadata, found.error));
      const { image, namespace } = found;
      return chunk(group, machinesInARow).map((row) => ({
        nowMs,
        policy,
        ref,
        image,
        namespace,
        machines: row,
        refusals,
      }));
    }),
  );
  return [...others, ...observed.flat()];
}

/** The image of that name; if there is none, the Namespace that it would be in. */
async function placeOf(kube: Context['kube'], ref: { namespace: string; name: string }) {
  const image = await kube.get(VMDiskImage, ref);
  return { image, namespace: image ? undefined : await kube.get(Namespace, { name: ref.namespace }) };
}

/** The machines that events are about, directly or through the image or namespace they name; after a policy edit those that are not Ready. */
async function machinesFor(
  kube: Context['kube'],
  batch: Batch,
): Promise<{ machines: VirtualMachine[]; unreadable: Unreadable[] }> {
  if (batch.audit) return { machines: kept(await kube.list(VirtualMachine)), unreadable: [] };
  const selecting = [
    ...subjectsOf(batch, Namespace).map((of) => ({ of, fieldSelector: `spec.vmDiskImageRef.namespace=${of.name}` })),
    ...subjectsOf(batch, ConfigMap).map((of) => ({ of, fieldSelector: 'status.phase!=Ready' })),
  ];
  const [named, naming, selected] = await Promise.all([
    Promise.all(subjectsOf(batch, VirtualMachine).map((ref) => orUnreadable(ref, kube.get(VirtualMachine, ref)))),
    machinesNaming(kube, distinct([...imagesTold(batch), ...subjectsOf(batch, VMDiskImage)], keyOf)),
    Promise.all(
      selecting.map(({ of, fieldSelector }) => orUnreadable(of, kube.list(VirtualMachine, { fieldSelector }))),
    ),
  ]);
  const [one, some] = [partition(named), partition([...naming, ...selected])];
  return { machines: kept([...one.read, ...some.read.flat()]), unreadable: [...one.unreadable, ...some.unreadable] };
}

/** Each machine once, without those being deleted. */
const kept = (machines: readonly (VirtualMachine | undefined)[]): VirtualMachine[] =>
  uniqueByName(machines.filter((machine) => machine !== undefined)).filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
