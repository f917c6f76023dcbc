import { distinct } from '../../shared/distinct.ts';
import {
  type Batch,
  type Context,
  type Subject,
  subjectNamed,
  subjectOf,
  subjectsOf,
  type Unreadable,
} from '../../shared/function.ts';
import { imagesOfFacts } from '../../shared/images/facts.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type ObjectReference, type Resource } from '../../shared/kinds/resource.ts';
import { type Policy, parsePolicy } from '../../shared/policy.ts';
import { listTrimmed } from '../../shared/runtime/list-trimmed.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { readOnce } from '../../shared/runtime/read-once.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { isUnreadable, orUnreadable, partition, unreadable } from '../../shared/runtime/unreadable.ts';
import { workspacesNaming } from '../../shared/runtime/workspaces-naming.ts';
import { imageLabel, imageNamesOf } from '../../shared/workspaces/images.ts';
import { namespaceOf } from '../../shared/workspaces/workspace.ts';
import { decide, isDeleting, isMarked } from './decide.ts';
import type { Observed } from './observed.ts';
import { isMachineSettled, isWorkspaceSettled } from './settled.ts';

type Reader = Context['kube'];
type Counted = Pick<Observed, 'image' | 'machines' | 'workspaces'>;

export async function gather(
  { kube, cached, nowMs, refusals }: Context,
  batch: Batch,
): Promise<(Observed | Unreadable)[]> {
  const { refs, unreadable, policy: read } = await namedImages(kube, batch);
  const counted = await countSome({ kube, cached }, refs, batch.audited !== undefined);
  // It says which users count, so an image without any needs none.
  const isUsed = counted.some((one) => !isUnreadable(one) && one.machines.length + one.workspaces.length > 0);
  const policy = read ?? (isUsed ? await readPolicy(kube) : parsePolicy(undefined));
  return [...unreadable, ...counted.map((one) => (isUnreadable(one) ? one : { ...one, policy, nowMs, refusals }))];
}

/**
 * Names the images whose count or machines an audit may have to change. Everything is counted here, but by machines and workspaces that
 * were listed before the images, so that each of these images is counted again.
 */
export async function* audit({ kube, nowMs }: Pick<Context, 'kube' | 'nowMs'>): AsyncGenerator<Subject[]> {
  const policy = await readPolicy(kube);
  const { countOf, missing } = counting(await Promise.all([allMachines(kube), listTrimmed(kube, Workspace)]));
  const mayChange = (counted: Counted) => decide({ ...counted, policy, nowMs, refusals: new Map() }).length > 0;
  for await (const { items } of kube.pages(VMDiskImage))
    yield items.filter((image) => mayChange(countOf(image))).map(subjectOf);
  const named = missing()
    .filter(mayChange)
    .flatMap(({ machines: [machine] }) => machine?.spec.vmDiskImageRef ?? []);
  yield named.map((ref) => subjectNamed(VMDiskImage, ref));
}

async function allMachines(kube: Reader): Promise<VirtualMachine[]> {
  const found: VirtualMachine[] = [];
  for await (const { items } of kube.pages(VirtualMachine)) found.push(...items.map(essence));
  return found;
}

/** What a machine is counted and marked by. Its author decides how large the rest is. */
export function essence({ apiVersion, kind, metadata, spec, status }: VirtualMachine): VirtualMachine {
  const { namespace, name, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, finalizers } =
    metadata;
  return {
    ...{ apiVersion, kind },
    metadata: { namespace, name, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, finalizers },
    spec: { vmDiskImageRef: spec.vmDiskImageRef },
    status: { phase: status?.phase, rootDisk: status?.rootDisk },
  };
}

/** Counts images one by one among all machines and workspaces; `missing` are those that machines name and that were not among them. */
function counting([allMachines, allWorkspaces]: [VirtualMachine[], Workspace[]]) {
  const machines = Map.groupBy(allMachines, ({ spec }) => keyOf(spec.vmDiskImageRef));
  const workspaces = byImageName(allWorkspaces);
  const seen = new Set<string>();
  const countOf = (image: VMDiskImage): Counted => {
    const key = keyOf(image.metadata);
    seen.add(key);
    return { image, machines: machines.get(key) ?? [], workspaces: workspaces.get(image.metadata.name) ?? [] };
  };
  const missing = (): Counted[] =>
    [...machines]
      .filter(([key]) => !seen.has(key))
      .map(([, ofOne]) => ({ image: undefined, machines: ofOne, workspaces: [] }));
  return { countOf, missing };
}

/**
 * Each image before its machines: a count is written only to the image as it was before they were counted. An audit counts workspaces that
 * are not labelled, too.
 */
async function countSome(
  { kube, cached }: Pick<Context, 'kube' | 'cached'>,
  refs: readonly ObjectReference[],
  isAudit: boolean,
): Promise<(Counted | Unreadable)[]> {
  const images = await Promise.all(refs.map((ref) => orUnreadable(ref, kube.get(VMDiskImage, ref))));
  if (refs.length === 0) return [];
  const names = refs.map(({ name }) => name);
  const known = isAudit ? undefined : await cached?.(VirtualMachine);
  const [machines, naming] = await Promise.all([
    known ? machinesAmong(known, refs) : machinesNaming(kube, refs, undefined, async (page) => page.map(essence)),
    isAudit ? kube.list(Workspace) : workspacesNaming(kube, names),
  ]);
  const workspaces = byImageName(naming);
  return refs.map(({ name }, index) => {
    const [image, named = []] = [images[index], machines[index]];
    if (isUnreadable(image)) return image;
    return isUnreadable(named) ? named : { image, machines: named, workspaces: workspaces.get(name) ?? [] };
  });
}

function machinesAmong(known: readonly VirtualMachine[], refs: readonly ObjectReference[]): VirtualMachine[][] {
  const wanted = new Map(refs.map((ref): [string, VirtualMachine[]] => [keyOf(ref), []]));
  for (const machine of known) wanted.get(keyOf(machine.spec.vmDiskImageRef))?.push(machine);
  return [...wanted.values()];
}

function byImageName(workspaces: readonly Workspace[]): Map<string, Workspace[]> {
  const pairs = workspaces.flatMap((workspace) => imageNamesOf(workspace).map((name) => ({ name, workspace })));
  const groups = Map.groupBy(pairs, ({ name }) => name);
  return new Map([...groups].map(([name, group]) => [name, group.map(({ workspace }) => workspace)]));
}

/**
 * The images that events are about or an audit found, and those that a machine or a workspace names whose event may change their count;
 * what of it could not be read; and the policy, if it was needed.
 */
async function namedImages(
  kube: Reader,
  batch: Batch,
): Promise<{ refs: ObjectReference[]; unreadable: Unreadable[]; policy?: Policy }> {
  const [ofMachines, ofWorkspaces] = [changesOf(batch, VirtualMachine), changesOf(batch, Workspace)];
  const images = [...subjectsOf(batch, VMDiskImage), ...imagesOfFacts(batch)];
  if (ofMachines.refs.length + ofWorkspaces.refs.length === 0) return { refs: distinctRefs(images), unreadable: [] };
  const policy = await readPolicy(kube);
  const [foundMachines, foundWorkspaces] = await Promise.all([
    machinesNamed(kube, ofMachines.refs),
    Promise.all(ofWorkspaces.refs.map((ref) => orUnreadable(ref, kube.get(Workspace, ref)))),
  ]);
  const [machines, workspaces] = [partition(foundMachines), partition(foundWorkspaces)];
  const imageOf = readOnce((ref: ObjectReference) => kube.get(VMDiskImage, ref), keyOf);
  const ofMachine = async (machine: VirtualMachine) => {
    const ref = machine.spec.vmDiskImageRef;
    const isUpdated = ofMachines.isUpdated(machine) && !isDeleting(machine) && isMarked(machine);
    return isUpdated && isMachineSettled(machine, await imageOf(ref), policy) ? [] : [ref];
  };
  const ofWorkspace = async (workspace: Workspace) => {
    const refs = refsOf(workspace, policy);
    if (!ofWorkspaces.isUpdated(workspace)) return refs;
    const inside = await kube.list(VirtualMachine, { namespace: namespaceOf(workspace.metadata.name) });
    const isSettled = async (ref: ObjectReference) => {
      const machines = inside.filter(({ spec }) => keyOf(spec.vmDiskImageRef) === keyOf(ref));
      return isWorkspaceSettled(workspace, await imageOf(ref), { machines, policy });
    };
    const settled = await Promise.all(refs.map(isSettled));
    return refs.filter((_, index) => !settled[index]);
  };
  const named = partition(
    await Promise.all([
      ...machines.read.map((machine) => orUnreadable(machine.metadata, ofMachine(machine))),
      ...workspaces.read.map((workspace) => orUnreadable(workspace.metadata, ofWorkspace(workspace))),
    ]),
  );
  return {
    refs: distinctRefs([...images, ...named.read.flat()]),
    unreadable: [...machines.unreadable, ...workspaces.unreadable, ...named.unreadable],
    policy,
  };
}

const distinctRefs = (refs: readonly ObjectReference[]): ObjectReference[] =>
  distinct(
    refs.map(({ namespace, name }) => ({ namespace, name })),
    keyOf,
  );

/** The objects of a kind that events are about, each once, and whether the events only report an update of it. */
function changesOf(batch: Batch, resource: Resource) {
  const subjects = subjectsOf(batch, resource);
  const others = new Set(subjects.filter(({ verb }) => verb !== 'update').map(keyOf));
  return {
    refs: distinct(subjects, keyOf),
    isUpdated: ({ metadata }: { metadata: ObjectReference }) => !others.has(keyOf(metadata)),
  };
}

/** The images that the status of a workspace holds, and those that the bare names of its spec may mean, once it is labelled with them. */
const refsOf = (workspace: Workspace, { values }: Policy): ObjectReference[] => [
  ...(workspace.status?.images ?? []),
  ...imageNamesOf(workspace)
    .filter((name) => workspace.metadata.labels?.[imageLabel(name)] !== undefined)
    .flatMap((name) => values.imageNamespaces.map((namespace) => ({ namespace, name }))),
];

/** Up to this many machines of a namespace are read by name. For more, the whole namespace is listed. */
const mostLookUps = 50;

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
