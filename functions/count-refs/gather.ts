import { distinct } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf, type Unreadable } from '../../shared/function.ts';
import { imagesTold } from '../../shared/images/facts.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { isUnreadable, orUnreadable, partition, unreadable } from '../../shared/runtime/unreadable.ts';
import { imageNamesOf } from '../../shared/workspaces/images.ts';
import type { Observed } from './decide.ts';

type Reader = Context['kube'];
type Counted = Pick<Observed, 'image' | 'machines' | 'workspaces'>;

export async function gather({ kube, nowMs, refusals }: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const policy = await readPolicy(kube);
  const isAboutAll = batch.audit || subjectsOf(batch, ConfigMap).length > 0;
  const { refs, unreadable } = isAboutAll ? { refs: [], unreadable: [] } : await namedImages(kube, batch, policy);
  const counted = isAboutAll ? await countAll(kube) : await countSome(kube, refs);
  return [...unreadable, ...counted.map((one) => (isUnreadable(one) ? one : { ...one, policy, nowMs, refusals }))];
}

/** Every image, every machine and every workspace. */
async function countAll(kube: Reader): Promise<Counted[]> {
  const images = new Map((await kube.list(VMDiskImage)).map((image) => [keyOf(image.metadata), image]));
  const workspaces = byImageName(await kube.list(Workspace));
  const machines = Map.groupBy(await kube.list(VirtualMachine), ({ spec }) => keyOf(spec.vmDiskImageRef));
  return [...new Set([...images.keys(), ...machines.keys()])].map((key) => ({
    image: images.get(key),
    machines: machines.get(key) ?? [],
    workspaces: workspaces.get(images.get(key)?.metadata.name ?? '') ?? [],
  }));
}

/** Each image before its machines: a count is written only to the image as it was before they were counted. */
async function countSome(kube: Reader, refs: readonly ObjectReference[]): Promise<(Counted | Unreadable)[]> {
  const images = await Promise.all(refs.map((ref) => orUnreadable(ref, kube.get(VMDiskImage, ref))));
  if (refs.length === 0) return [];
  const [machines, all] = await Promise.all([machinesNaming(kube, refs), kube.list(Workspace)]);
  const workspaces = byImageName(all);
  return refs.map(({ name }, index) => {
    const [image, named = []] = [images[index], machines[index]];
    if (isUnreadable(image)) return image;
    return isUnreadable(named) ? named : { image, machines: named, workspaces: workspaces.get(name) ?? [] };
  });
}

/** No field selector finds a name in a list: all are read at once, and sorted here. */
function byImageName(workspaces: readonly Workspace[]): Map<string, Workspace[]> {
  const pairs = workspaces.flatMap((workspace) => imageNamesOf(workspace).map((name) => ({ name, workspace })));
  const groups = Map.groupBy(pairs, ({ name }) => name);
  return new Map([...groups].map(([name, group]) => [name, group.map(({ workspace }) => workspace)]));
}

/** The images that events are about, or that the machines name which events are about; and what of it could not be read. */
async function namedImages(
  kube: Reader,
  batch: Batch,
  policy: Policy,
): Promise<{ refs: ObjectReference[]; unreadable: Unreadable[] }> {
  const [foundMachines, foundWorkspaces] = await Promise.all([
    machinesNamed(kube, subjectsOf(batch, VirtualMachine)),
    Promise.all(subjectsOf(batch, Workspace).map((subject) => orUnreadable(subject, kube.get(Workspace, subject)))),
  ]);
  const machines = partition(foundMachines);
  const workspaces = partition(foundWorkspaces);
  const refs = [
    ...subjectsOf(batch, VMDiskImage),
    ...imagesTold(batch),
    ...machines.read.map(({ spec }) => spec.vmDiskImageRef),
    ...workspaces.read.filter((workspace) => workspace !== undefined).flatMap((workspace) => refsOf(workspace, policy)),
  ];
  return {
    refs: distinct(
      refs.map(({ namespace, name }) => ({ namespace, name })),
      keyOf,
    ),
    unreadable: [...machines.unreadable, ...workspaces.unreadable],
  };
}

/** The images that the status of a workspace holds, and those that the bare names of its spec may stand for. */
const refsOf = (workspace: Workspace, { values }: Policy): ObjectReference[] => [
  ...(workspace.status?.images ?? []),
  ...imageNamesOf(workspace).flatMap((name) => values.imageNamespaces.map((namespace) => ({ namespace, name }))),
];

/** Up to this many machines of a namespace are read by name. For more, the whole namespace is listed. */
const mostLookUps = 10;

async function machinesNamed(kube: Reader, refs: readonly ObjectReference[]): Promise<(VirtualMachine | Unreadable)[]> {
  const found = await Promise.all(
    [...Map.groupBy(refs, ({ namespace }) => namespace ?? '')].map(([namespace, ofOne]) =>
      ofOne.length > mostLookUps
        ? kube.list(VirtualMachine, { namespace }).catch((error: unknown) => ofOne.map((ref) => unreadable(ref, error)))
        : Promise.all(ofOne.map((ref) => orUnreadable(ref, kube.get(VirtualMachine, ref)))),
    ),
  );
  return found.flat().filter((machine) => machine !== undefined);
}
