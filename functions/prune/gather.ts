import { chunk } from '../../shared/chunk.ts';
import { distinct } from '../../shared/distinct.ts';
import {
  type Batch,
  type Context,
  type Subject,
  subjectOf,
  subjectsOf,
  type Unreadable,
} from '../../shared/function.ts';
import { imagesOfFacts } from '../../shared/images/facts.ts';
import { isUnusedWorkspaceImage } from '../../shared/images/pruning.ts';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { type KubernetesObject, keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { readOnce } from '../../shared/runtime/read-once.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { isUnreadable, orUnreadable, partition, readable } from '../../shared/runtime/unreadable.ts';
import type { Left, Observed, ObservedImage, Postponed } from './observed.ts';
import { knownImages, namesOfStrays, straysAmong } from './strays-of.ts';
import { isWorkspaceImageDue, mayBeUnused } from './unused.ts';

/** The limit of unused images that an audit deletes: a thousand snapshots deleted at once would overload the storage. */
const prunedAtOnce = 50;

/** A limit of deleted images per reconcile: one list of each kind finds the volumes or snapshots of all of them. */
const finalizedPerReconcile = 100;

/** Reads each image before the machines that name it: an image that is deleted as it was observed was found unused after that. */
export async function gather({ kube, nowMs }: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { images, postponed, unreadable } = await candidates(kube, batch);
  const strays = await orUnreadable({ name: 'strays' }, straysAmong(kube, batch.audited ?? [], nowMs));
  const deleted = images.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const others = [...(isUnreadable(strays) ? [strays] : strays), ...unreadable, ...postponed.map(postpone)];
  const looksForUnused = batch.audited !== undefined;
  if (deleted.length === 0 && !(looksForUnused && images.length > 0) && !images.some(isUnusedWorkspaceImage))
    return others;
  const policy = await readPolicy(kube);
  const unused = looksForUnused ? images.filter((image) => mayBeUnused(image, policy, nowMs)) : [];
  const workspaceImages = images
    .filter((image) => isWorkspaceImageDue(image, policy, nowMs) && !unused.includes(image))
    .slice(0, prunedAtOnce);
  const staying = [...unused, ...workspaceImages];
  const concerned = [...deleted, ...staying];
  const [machines, workspaces] = await Promise.all([
    machinesNaming(
      kube,
      concerned.map(({ metadata }) => metadata),
    ),
    // Workspaces do not retain a deleted image: without a machine they wait for another image.
    staying.length > 0 ? orUnreadable({ name: Workspace.plural }, kube.list(Workspace)) : [],
  ]);
  const left = await orUnreadable({ name: 'left' }, leftOf(kube, deleted));
  const namespaceOf = readOnce((name: string) => kube.get(Namespace, { name }), String);
  const observeOne = async (image: VMDiskImage, index: number): Promise<ObservedImage> => {
    const ofImage = readable(machines[index] ?? []);
    const seenOfIt = { nowMs, policy, image, machines: ofImage };
    if (image.metadata.deletionTimestamp === undefined) return { ...seenOfIt, workspaces: readable(workspaces) };
    // Only an image that machines retain needs to know whether its namespace is being deleted.
    const namespace = ofImage.length > 0 ? await namespaceOf(image.metadata.namespace ?? '') : undefined;
    const isNamespaceDeleting = namespace?.metadata.deletionTimestamp !== undefined;
    return { ...seenOfIt, workspaces: [], left: { ...readable(left)(image), isNamespaceDeleting } };
  };
  const reads = concerned.map((image, index) => orUnreadable(image.metadata, observeOne(image, index)));
  return [...(await Promise.all(reads)), ...others];
}

/**
 * Names what an audit may have to delete: images that are deleted or have lost their last reference page by page, then those that have
 * been unused the longest, then what no image among all of them has.
 */
export async function* audit({ kube, nowMs }: Pick<Context, 'kube' | 'nowMs'>): AsyncGenerator<Subject[]> {
  const policy = await readPolicy(kube);
  const known = knownImages();
  const unused: { since: string; subject: Subject }[] = [];
  for await (const { items } of kube.pages(VMDiskImage)) {
    items.forEach(known.add);
    for (const image of items.filter((one) => mayBeUnused(one, policy, nowMs)))
      unused.push({ since: image.status?.unreferencedSince ?? '', subject: subjectOf(image) });
    const isToDelete = (image: VMDiskImage) =>
      image.metadata.deletionTimestamp !== undefined || isWorkspaceImageDue(image, policy, nowMs);
    yield items.filter(isToDelete).map(subjectOf);
  }
  const ordered = unused.sort((a, b) => a.since.localeCompare(b.since)).map(({ subject }) => subject);
  const limited = policy.values.prune === 'DryRun' ? ordered : ordered.slice(0, prunedAtOnce);
  yield* chunk(limited, prunedAtOnce);
  yield await namesOfStrays(kube, known, nowMs);
}

type Reader = Context['kube'];

const postpone = (image: ObjectReference): Postponed => ({ postponed: image });

const nothing: Left = { dataVolumes: [], claims: [], snapshots: [], holdsSlot: false };

/** The volumes, claims and snapshots that each deleted image still has. */
async function leftOf(kube: Reader, images: readonly VMDiskImage[]): Promise<(image: VMDiskImage) => Left> {
  if (images.length === 0) return () => nothing;
  const uids = images.map(({ metadata }) => metadata.uid);
  const [lease, ...lists] = await Promise.all([
    kube.get(Lease, leaseRef),
    listLabelled(kube, DataVolume, imageUidLabel, uids),
    listLabelled(kube, PersistentVolumeClaim, imageUidLabel, uids),
    listLabelled(kube, VolumeSnapshot, imageUidLabel, uids),
  ]);
  const holding = new Set((holdersOf(lease) ?? []).map(({ uid }) => uid));
  const byUid = <T extends KubernetesObject>(found: readonly T[]) =>
    Map.groupBy(found, ({ metadata }) => metadata.labels?.[imageUidLabel] ?? '');
  const [dataVolumes, claims, snapshots] = [byUid(lists[0]), byUid(lists[1]), byUid(lists[2])];
  return ({ metadata: { uid, namespace } }) => {
    const isThere = ({ metadata }: KubernetesObject) => metadata.namespace === namespace;
    return {
      dataVolumes: dataVolumes.get(uid)?.filter(isThere) ?? [],
      claims: claims.get(uid)?.filter(isThere) ?? [],
      snapshots: snapshots.get(uid)?.filter(isThere) ?? [],
      holdsSlot: holding.has(uid),
    };
  };
}

interface Candidates {
  images: VMDiskImage[];
  postponed: readonly ObjectReference[];
  unreadable: readonly Unreadable[];
}

/** The images that facts are about or an audit found. */
async function candidates(kube: Reader, batch: Batch): Promise<Candidates> {
  const named = distinct([...imagesOfFacts(batch), ...subjectsOf(batch, VMDiskImage)], keyOf);
  const found = named.slice(0, finalizedPerReconcile).map((ref) => orUnreadable(ref, kube.get(VMDiskImage, ref)));
  const { read: images, unreadable } = partition(await Promise.all(found));
  return { images, postponed: named.slice(finalizedPerReconcile), unreadable };
}
