import { type Context, defineFunction, on, subjectsOf, type Wake } from '../../shared/function.ts';
import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Lease } from '../../shared/resources/coordination/lease.ts';
import { ConfigMap } from '../../shared/resources/core/config-map.ts';
import { Event } from '../../shared/resources/core/event.ts';
import { Pod } from '../../shared/resources/core/pod.ts';
import { VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import {
  type VMDiskImage as Image,
  imageUidLabel,
  managedBy,
  unfinished,
  VMDiskImage,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/resources/pelotech/workspace.ts';
import { keyOf, type ObjectReference } from '../../shared/resources/resource.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { VolumeSnapshotClass } from '../../shared/resources/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/resources/storage/storage-class.ts';
import { imageFactsBy } from '../../shared/rules/image-status.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { parsePolicy, policyName } from '../../shared/rules/policy.ts';
import { isIn, withLabel } from '../../shared/rules/selectors.ts';
import { type Holder, holdersOf, leaseName } from '../../shared/rules/slots.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import type { Classes } from './advance.ts';
import { decide, lacksFinalizer, turns } from './decide.ts';
import type { Observed, Seen } from './observed.ts';
import { newRevision } from './revision.ts';

/** Gives the free slot to the image that waited longest. */
export default defineFunction<Observed>({
  name: 'start-sync',
  on: [
    on.changed(VMDiskImage, { source: 'pelotech' }),
    on.changed(DataVolume, { source: 'cdi', selector: { matchLabels: managedBy } }),
    // Its end frees a slot; what it does before that shows in its DataVolume.
    on.deleted(Pod, { source: 'cdi', selector: withLabel(imageUidLabel), namespace: 'elsewhere' }),
    on.changed(Lease, { source: 'own', name: leaseName }),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    on.sweep(),
    on.audit(),
  ],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'list', 'patch'] },
    { resource: VMDiskImage, subresource: 'status', verbs: ['patch'] },
    { resource: DataVolume, verbs: ['get', 'list', 'create'] },
    { resource: Pod, verbs: ['list'] },
    { resource: VolumeSnapshot, verbs: ['list'] },
    { resource: StorageClass, verbs: ['list'] },
    { resource: VolumeSnapshotClass, verbs: ['list'] },
    { resource: Lease, verbs: ['get', 'create', 'update'], namespace: 'own' },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
    // For the state gauges, which this function's process computes for all (shared/runtime/gauges.ts).
    { resource: VirtualMachine, verbs: ['list'] },
    { resource: Workspace, verbs: ['list'] },
  ],
  scale: 'single',
  facts: imageFactsBy('start-sync'),
  observe: async (context, wake) => turns(await observe(context, wake)),
  decide,
});

async function observe({ kube, nowMs, refusals, holdOffMs }: Context, wake: Wake): Promise<Seen> {
  const own = { namespace: operatorNamespace };
  // The Lease before the images: an image older than the Lease could make a slot look free that was just granted.
  const [policyMap, lease] = await Promise.all([
    kube.get(ConfigMap, { ...own, name: policyName }),
    kube.get(Lease, { ...own, name: leaseName }),
  ]);
  const holders = holdersOf(lease);
  const held = holders?.map(({ uid }) => uid);
  // A hand-over waits for these reads, so that they are made side by side.
  const [open, busyHolders] = await Promise.all([
    kube.list(VMDiskImage, { fieldSelector: unfinished }),
    atWork(kube, held),
  ]);
  const known = new Set(held);
  // Without a Lease that can be read all there is was listed just now.
  const unlisted = (images: readonly Image[]) =>
    held ? images.filter((image) => mayHaveBegun(image) && !known.has(image.metadata.uid)) : [];
  const [{ rest, postponed }, snapshots, busyOthers, classesOfOpen] = await Promise.all([
    atRest(kube, wake, open, holders ?? []),
    listLabelled(kube, VolumeSnapshot, imageUidLabel, uidsOf(open.filter(hasLostItsStatus))),
    atWork(kube, uidsOf(unlisted(open))),
    open.length > 0 ? classesOf(kube) : undefined,
  ]);
  const [busyLeaving, classes] = await Promise.all([
    // One that leaves its rest is in the queue by the end of this pass: what was asked for long ago may download for it still.
    atWork(kube, uidsOf(unlisted(rest.filter(mayMove)))),
    // With no image to judge there is nothing to judge it by.
    classesOfOpen ?? (rest.length > 0 ? classesOf(kube) : noClasses),
  ]);
  return {
    nowMs,
    refusals,
    holdOffMs,
    isAudit: wake.audit,
    policy: parsePolicy(policyMap),
    policyMap,
    lease,
    images: [...open, ...rest],
    classes,
    dataVolumes: [busyHolders, busyOthers, busyLeaving].flatMap(({ dataVolumes }) => dataVolumes),
    pods: [busyHolders, busyOthers, busyLeaving].flatMap(({ pods }) => pods),
    snapshots,
    postponed,
  };
}

type Reader = Context['kube'];

/** The limit of finished images that a pass reads because events name them. */
const namedPerPass = 100;

/**
 * Finished images are read only if an event names them, if they still hold a slot, if a cause may be removed, or by the audit.
 */
async function atRest(
  kube: Reader,
  wake: Wake,
  open: readonly Image[],
  holders: readonly Holder[],
): Promise<{ rest: Image[]; postponed: ObjectReference[] }> {
  const known = new Set(open.map(({ metadata }) => metadata.uid));
  if (wake.audit) {
    const found: Image[] = [];
    const holding = new Set(holders.map(({ uid }) => uid));
    const isWanted = (image: Image) => mayMove(image) || holding.has(image.metadata.uid);
    for await (const { items } of kube.pages(VMDiskImage)) found.push(...items.filter(isWanted));
    return { rest: found.filter(({ metadata }) => !known.has(metadata.uid)), postponed: [] };
  }
  const isOpen = new Set(open.map(({ metadata }) => keyOf(metadata)));
  const wanted = [...holders.map(({ image }) => refOf(image)), ...subjectsOf(wake, VMDiskImage)];
  const byKey = new Map(wanted.map((ref) => [keyOf(ref), ref]));
  const named = [...byKey].filter(([key]) => !isOpen.has(key)).map(([, ref]) => ref);
  const [failed, ...others] = await Promise.all([
    subjectsOf(wake, ConfigMap).length > 0 ? kube.list(VMDiskImage, { fieldSelector: 'status.phase=Failed' }) : [],
    ...named.slice(0, namedPerPass).map((subject) => kube.get(VMDiskImage, subject)),
  ]);
  const found = [...failed, ...others].filter((image) => image !== undefined);
  const rest = [...new Map(found.map((image) => [image.metadata.uid, image])).values()];
  return { rest: rest.filter(({ metadata }) => !known.has(metadata.uid)), postponed: named.slice(namedPerPass) };
}

const refOf = (image: string): ObjectReference => {
  const [namespace, name = ''] = image.split('/');
  return { namespace, name };
};

/** What an audit keeps in hand of the images at rest: not the ones that are as they are wanted. */
const mayMove = (image: Image) =>
  image.status?.phase === 'Failed' || newRevision(image) !== undefined || !image.status?.phase || lacksFinalizer(image);

const uidsOf = (images: readonly Image[]) => images.map(({ metadata }) => metadata.uid);

/** Of more images all DataVolumes are listed rather than theirs: their uids are part of a URL. */
const mostUids = 100;

/** The finalizer shows that the image had a status. */
const hasLostItsStatus = ({ status, metadata }: Image) => !status?.phase && (metadata.finalizers?.length ?? 0) > 0;

/** A DataVolume of the image may be downloading: that of its attempt, or an earlier DataVolume that is not deleted yet. */
const mayHaveBegun = (image: Image) => {
  const { status } = image;
  if (!status?.phase) return hasLostItsStatus(image);
  return status.phase !== 'Snapshotting' && ((status.attempt ?? 0) > 0 || (status.revision ?? 1) > 1);
};

const nobody = { dataVolumes: [], pods: [] };

/** What was made for these images; without uids for all there are. */
async function atWork(kube: Reader, uids: readonly string[] | undefined) {
  if (uids?.length === 0) return nobody;
  const ofThem = uids && uids.length <= mostUids ? isIn(imageUidLabel, uids) : imageUidLabel;
  const [dataVolumes, pods] = await Promise.all([
    kube.list(DataVolume, { labelSelector: ofThem }),
    kube.list(Pod, { labelSelector: ofThem }),
  ]);
  return { dataVolumes, pods };
}

const noClasses: Classes = { storage: new Map(), snapshot: new Map() };

async function classesOf(kube: Reader): Promise<Classes> {
  const [storage, snapshot] = await Promise.all([kube.list(StorageClass), kube.list(VolumeSnapshotClass)]);
  return {
    storage: new Map(storage.map(({ metadata, provisioner }) => [metadata.name, provisioner])),
    snapshot: new Map(snapshot.map(({ metadata, driver }) => [metadata.name, driver])),
  };
}
