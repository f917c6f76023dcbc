import * as z from 'zod';
import type { Action } from '../../../../shared/actions.ts';
import { type Batch, type Context, defineFunction, on, type System, subjectsOf } from '../../../../shared/function.ts';
import { slotsAnnotation } from '../../../../shared/images/slots.ts';
import { DataVolume } from '../../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../../shared/kinds/coordination/lease.ts';
import { imageUidLabel } from '../../../../shared/kinds/pelotech/vm-disk-image.ts';
import {
  defineResource,
  type KubernetesObject,
  type ObjectOf,
  type Resource,
} from '../../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../../shared/kinds/snapshot/volume-snapshot.ts';
import { controlledBy } from '../../../../shared/kubernetes/ownership.ts';
import { withLabel } from '../../../../shared/kubernetes/selectors.ts';
import { operatorNamespace } from '../../../../shared/operator.ts';

/** The floor knows other phases than our schema allows, so its images are of a group of their own. */
export const floorGroup = 'floor.example.com';
export const Image = defineResource(
  { apiVersion: `${floorGroup}/v1alpha1`, kind: 'VMDiskImage', plural: 'vmdiskimages' },
  {
    spec: z.looseObject({ url: z.string(), secretRef: z.string(), diskSize: z.string() }),
    status: z.looseObject({ phase: z.string().optional() }).optional(),
  },
);
type Image = ObjectOf<typeof Image>;
export const floorDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `vmdiskimages.${floorGroup}` },
  spec: {
    group: floorGroup,
    scope: 'Namespaced',
    names: { plural: 'vmdiskimages', kind: 'VMDiskImage', listKind: 'VMDiskImageList' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** How many slots there are. */
export const slotsVariable = 'FLOOR_SLOTS';
/** The slots' Lease; who installs the floor creates it. */
export const slotsLease = { namespace: operatorNamespace, name: 'floor-slots' };

/** In memory as in the floor without Knative: it forgets both if it crashes. */
const queue = new Map<string, Image>();
const holders = new Set<string>();

/**
 * The floor through Knative: the same writes as the floor without it (finalizer, Queued, slot, DataVolume, Syncing, VolumeSnapshot, Ready),
 * each because of an event, after one GET of what the event names. A slot takes a GET of the Lease more, Ready one of the image.
 */
export default defineFunction<readonly Action[]>({
  name: 'floor',
  system: 'floor' as System,
  on: [
    on.changed(Image, { source: 'pelotech' }),
    on.changed(DataVolume, { source: 'cdi', selector: withLabel(imageUidLabel) }),
    on.changed(VolumeSnapshot, { source: 'snapshotter', selector: withLabel(imageUidLabel) }),
  ],
  may: [
    { resource: Image, verbs: ['get', 'patch'] },
    { resource: Image, subresource: 'status', verbs: ['patch'] },
    { resource: DataVolume, verbs: ['get', 'create'] },
    { resource: VolumeSnapshot, verbs: ['get', 'create'] },
    { resource: Lease, verbs: ['get', 'update'], namespace: 'own' },
  ],
  scale: 'always',
  observe,
  decide: (due) => due,
});

async function observe({ kube }: Pick<Context, 'kube'>, batch: Batch): Promise<(readonly Action[])[]> {
  const named = async <T extends KubernetesObject>(resource: Resource<T>) =>
    (await Promise.all(subjectsOf(batch, resource).map((subject) => kube.get(resource, subject)))).filter(
      (found) => found !== undefined,
    );
  const [images, volumes, snapshots] = await Promise.all([named(Image), named(DataVolume), named(VolumeSnapshot)]);
  for (const image of images) if (image.status?.phase === 'Queued') queue.set(image.metadata.uid, image);
  const ended = volumes.filter(
    ({ metadata, status }) => status?.phase === 'Succeeded' && holders.delete(metadata.labels?.[imageUidLabel] ?? ''),
  );
  const begun = [...queue.values()].slice(0, Math.max(0, Number(process.env[slotsVariable]) - holders.size));
  for (const { metadata } of begun) {
    queue.delete(metadata.uid);
    holders.add(metadata.uid);
  }
  const [lease, ...done] = await Promise.all([
    begun.length + ended.length > 0 ? kube.get(Lease, slotsLease) : undefined,
    ...snapshots.filter(({ status }) => status?.readyToUse).map(({ metadata }) => kube.get(Image, metadata)),
  ]);
  return [
    ...(lease ? [[withHolders(lease), ...begun.flatMap(begin)]] : []),
    ...ended.map(snapshotOf),
    ...images.map(admit),
    ...done.map((image) => (image?.status?.phase === 'Syncing' ? [toPhase(image, 'Ready')] : [])),
  ];
}

function admit(image: Image): Action[] {
  const { deletionTimestamp, finalizers = [] } = image.metadata;
  const keep = (names: string[]): Action => ({
    do: 'patchMetadata',
    resource: Image,
    of: image,
    metadata: { finalizers: names },
  });
  if (deletionTimestamp) return finalizers.length > 0 ? [keep([])] : [];
  return image.status?.phase ? [] : [keep(['bench.example.com/floor']), toPhase(image, 'Queued')];
}

const toPhase = (image: Image, phase: string): Action => ({
  do: 'patchStatus',
  resource: Image,
  of: image,
  status: { phase, message: '' },
});

function withHolders(lease: Lease): Action {
  const annotations = { ...lease.metadata.annotations, [slotsAnnotation]: JSON.stringify([...holders]) };
  return { do: 'replace', resource: Lease, object: { ...lease, metadata: { ...lease.metadata, annotations } } };
}

function begin(image: Image): Action[] {
  const { name, namespace, uid } = image.metadata;
  const { url, secretRef, diskSize } = image.spec;
  const metadata = {
    name,
    namespace,
    labels: { [imageUidLabel]: uid },
    ownerReferences: [controlledBy(Image, image)],
    annotations: { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' },
  };
  const pvc = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: diskSize } } };
  const { apiVersion, kind } = DataVolume;
  const object = { apiVersion, kind, metadata, spec: { source: { s3: { url, secretRef } }, pvc } };
  return [{ do: 'create', resource: DataVolume, object }, toPhase(image, 'Syncing')];
}

function snapshotOf({ metadata: { name, namespace, labels, ownerReferences } }: DataVolume): Action[] {
  const { apiVersion, kind } = VolumeSnapshot;
  const metadata = { name, namespace, labels, ownerReferences };
  const object = { apiVersion, kind, metadata, spec: { source: { persistentVolumeClaimName: name } } };
  return [{ do: 'create', resource: VolumeSnapshot, object }];
}
