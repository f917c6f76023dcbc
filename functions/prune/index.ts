import { type Context, defineFunction, on, subjectsOf, type Wake } from '../../shared/function.ts';
import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Lease } from '../../shared/resources/coordination/lease.ts';
import { ConfigMap } from '../../shared/resources/core/config-map.ts';
import { Event } from '../../shared/resources/core/event.ts';
import { PersistentVolumeClaim } from '../../shared/resources/core/persistent-volume-claim.ts';
import { VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import {
  type VMDiskImage as Image,
  imageUidLabel,
  managedBy,
  underWay,
  unreferenced,
  VMDiskImage,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/resources/pelotech/workspace.ts';
import type { ObjectReference, Resource } from '../../shared/resources/resource.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { imageNameOf } from '../../shared/rules/names.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { parsePolicy, policyName } from '../../shared/rules/policy.ts';
import { withLabel } from '../../shared/rules/selectors.ts';
import { holdersOf, leaseName } from '../../shared/rules/slots.ts';
import { isMadeForWorkspaces } from '../../shared/rules/workspace-images.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { decide, type Left, type Observed } from './decide.ts';
import { mayBeOrphan } from './orphan.ts';
import { mayBeUnused } from './unused.ts';

/** Deletes images that nobody uses any more where the policy asks for it, and takes down what a deleted image leaves. */
export default defineFunction<Observed>({
  name: 'prune',
  on: [
    on.changed(VMDiskImage, { source: 'pelotech' }),
    on.deleted(DataVolume, { source: 'cdi', selector: { matchLabels: managedBy } }),
    on.deleted(PersistentVolumeClaim, { source: 'cdi', selector: withLabel(imageUidLabel) }),
    on.deleted(VolumeSnapshot, { source: 'snapshotter', selector: withLabel(imageUidLabel) }),
    on.changed(Lease, { source: 'own', name: leaseName }),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    on.audit(),
  ],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'list', 'patch', 'delete'] },
    { resource: VMDiskImage, subresource: 'status', verbs: ['patch'] },
    { resource: VirtualMachine, verbs: ['list'] },
    { resource: Workspace, verbs: ['list'] },
    { resource: DataVolume, verbs: ['list', 'delete'] },
    { resource: PersistentVolumeClaim, verbs: ['list'] },
    { resource: VolumeSnapshot, verbs: ['list', 'delete'] },
    { resource: Lease, verbs: ['get'], namespace: 'own' },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  observe,
  decide,
});

/** A pass deletes so many unused images at most: storage that has to take down a thousand snapshots at once suffers. */
const prunedPerPass = 50;

/** Each image before the machines that name it: what is deleted as it was observed was found unused after that. */
async function observe({ kube, nowMs }: Context, wake: Wake): Promise<Observed[]> {
  const images = await candidates(kube, wake);
  const deleted = images.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const looksForUnused = wake.audit || subjectsOf(wake, ConfigMap).length > 0;
  // Most events are about images that stay: they cost no more than the look at the image.
  if (deleted.length === 0 && !looksForUnused && !images.some(isMadeForWorkspaces)) return [];
  const policy = parsePolicy(await kube.get(ConfigMap, { namespace: operatorNamespace, name: policyName }));
  const unused = looksForUnused ? images.filter((image) => mayBeUnused(image, policy, nowMs)).sort(byWait) : [];
  const inTurn = policy.values.prune === 'DryRun' ? unused : unused.slice(0, prunedPerPass);
  const orphans = images
    .filter((image) => mayBeOrphan(image, policy) && !inTurn.includes(image))
    .slice(0, prunedPerPass);
  const staying = [...inTurn, ...orphans];
  const concerned = [...deleted, ...staying];
  const [machines, workspaces] = await Promise.all([
    machinesNaming(
      kube,
      concerned.map(({ metadata }) => metadata),
    ),
    // Of a deleted image workspaces have no say: those that have no machine yet wait for another.
    staying.length > 0 ? kube.list(Workspace) : [],
  ]);
  const left = await leftOf(kube, deleted);
  return concerned.map((image, index) => ({
    nowMs,
    policy,
    image,
    machines: machines[index] ?? [],
    workspaces,
    ...left.get(image.metadata.uid),
  }));
}

type Reader = Context['kube'];

const byWait = (a: Image, b: Image) =>
  (a.status?.unreferencedSince ?? '').localeCompare(b.status?.unreferencedSince ?? '');

/** What there is of each deleted image, by its uid. */
async function leftOf(kube: Reader, images: readonly Image[]): Promise<Map<string, { left: Left }>> {
  if (images.length === 0) return new Map();
  const lease = await kube.get(Lease, { namespace: operatorNamespace, name: leaseName });
  const holding = new Set((holdersOf(lease) ?? []).map(({ uid }) => uid));
  const found = images.map(async ({ metadata: { uid, namespace = '' } }) => {
    const own = { namespace, labelSelector: `${imageUidLabel}=${uid}` };
    const [dataVolumes, claims, snapshots] = await Promise.all([
      kube.list(DataVolume, own),
      kube.list(PersistentVolumeClaim, own),
      kube.list(VolumeSnapshot, own),
    ]);
    return [uid, { left: { dataVolumes, claims, snapshots, holdsSlot: holding.has(uid) } }] as const;
  });
  return new Map(await Promise.all(found));
}

/**
 * The images events are about, by name or by the name of a child; where a slot changed hands those under way, where the
 * policy changed those that nobody uses; at an audit all.
 */
async function candidates(kube: Reader, wake: Wake): Promise<Image[]> {
  if (wake.audit) return kube.list(VMDiskImage);
  const named = new Map<string, ObjectReference>();
  for (const { kind, namespace, name } of wake.subjects) {
    const image = kind === VMDiskImage.kind ? name : imageNameOf(name);
    if (image !== undefined) named.set(`${namespace}/${image}`, { namespace, name: image });
  }
  const listed = (kind: Resource, fieldSelector: string) =>
    subjectsOf(wake, kind).length > 0 ? kube.list(VMDiskImage, { fieldSelector }) : [];
  const [open, unused, ...found] = await Promise.all([
    listed(Lease, underWay),
    listed(ConfigMap, unreferenced),
    ...[...named.values()].map((ref) => kube.get(VMDiskImage, ref)),
  ]);
  const images = [...open, ...unused, ...found.filter((image) => image !== undefined)];
  return [...new Map(images.map((image) => [image.metadata.uid, image])).values()];
}
