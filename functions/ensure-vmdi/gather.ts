import { chunk } from '../../shared/chunk.ts';
import { distinct, uniqueByName } from '../../shared/distinct.ts';
import {
  type Batch,
  type Context,
  type Subject,
  subjectNamed,
  subjectsOf,
  type Unreadable,
} from '../../shared/function.ts';
import { imagesOfFacts } from '../../shared/images/facts.ts';
import { machinesOf } from '../../shared/images/references.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import { listTrimmed, trimmed } from '../../shared/runtime/list-trimmed.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { isUnreadable, orUnreadable, partition, unreadable } from '../../shared/runtime/unreadable.ts';
import { decide } from './decide.ts';
import type { Observed } from './observed.ts';

/** Up to this many machines of an image are written one after the other; more are written concurrently. */
const machinesInARow = 25;

export async function gather(context: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { kube } = context;
  const { machines, unreadable: others } = await machinesFor(kube, batch);
  if (machines.length === 0) return others;
  return [...others, ...(await observeAll(context, await readPolicy(kube), machines))];
}

/** Names the machines that an audit may do something about. */
export async function* audit({ kube, nowMs }: Pick<Context, 'kube' | 'nowMs'>): AsyncGenerator<Subject[]> {
  const policy = await readPolicy(kube);
  const mayAct = (one: Observed | Unreadable) => isUnreadable(one) || decide(one).length > 0;
  const refsIn = (one: Observed | Unreadable) =>
    isUnreadable(one) ? [one.unreadable] : one.machines.map(({ metadata }) => metadata);
  for await (const { items } of kube.pages(VirtualMachine)) {
    const observed = await observeAll({ kube, nowMs, refusals: new Map() }, policy, kept(items));
    yield observed.filter(mayAct).flatMap((one) => refsIn(one).map((ref) => subjectNamed(VirtualMachine, ref)));
  }
}

/** The machines by their images: each image, or if it is missing the Namespace that it would be in. */
async function observeAll(
  { kube, nowMs, refusals }: Pick<Context, 'kube' | 'nowMs' | 'refusals'>,
  policy: Policy,
  machines: readonly VirtualMachine[],
): Promise<(Observed | Unreadable)[]> {
  const refs = new Map(machines.map(({ spec }) => [machinesOf(spec.vmDiskImageRef), spec.vmDiskImageRef]));
  const groups = Map.groupBy(machines, ({ spec }) => machinesOf(spec.vmDiskImageRef));
  const observed = await Promise.all(
    [...refs].map(async ([key, ref]) => {
      const group = groups.get(key) ?? [];
      const found = await placeOf(kube, ref).catch((error: unknown) => ({ error }));
      if ('error' in found) return group.map(({ metadata }) => unreadable(metadata, found.error));
      return chunk(group, machinesInARow).map((row) => ({ nowMs, policy, ref, ...found, machines: row, refusals }));
    }),
  );
  return observed.flat();
}

/** The image of that name; if there is none, the Namespace that it would be in. */
async function placeOf(kube: Context['kube'], ref: { namespace: string; name: string }) {
  const image = await kube.get(VMDiskImage, ref);
  return { image, namespace: image ? undefined : await kube.get(Namespace, { name: ref.namespace }) };
}

/** The machines that events are about, directly or through the image or namespace they name. */
async function machinesFor(
  kube: Context['kube'],
  batch: Batch,
): Promise<{ machines: VirtualMachine[]; unreadable: Unreadable[] }> {
  const inNamespace = (of: Subject) =>
    listTrimmed(kube, VirtualMachine, { fieldSelector: `spec.vmDiskImageRef.namespace=${of.name}` });
  const images = distinct([...imagesOfFacts(batch), ...subjectsOf(batch, VMDiskImage)], keyOf);
  const [named, naming, selected] = await Promise.all([
    Promise.all(subjectsOf(batch, VirtualMachine).map((ref) => orUnreadable(ref, kube.get(VirtualMachine, ref)))),
    machinesNaming(kube, images, undefined, async (page) => page.map(trimmed)),
    Promise.all(subjectsOf(batch, Namespace).map((of) => orUnreadable(of, inNamespace(of)))),
  ]);
  const [one, some] = [partition(named), partition([...naming, ...selected])];
  return { machines: kept([...one.read, ...some.read.flat()]), unreadable: [...one.unreadable, ...some.unreadable] };
}

/** Each machine once, without those being deleted. */
const kept = (machines: readonly VirtualMachine[]): VirtualMachine[] =>
  uniqueByName(machines).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
