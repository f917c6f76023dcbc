import { type Context, defineFunction, on, subjectsOf, type Wake } from '../../shared/function.ts';
import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Lease } from '../../shared/resources/coordination/lease.ts';
import { PersistentVolumeClaim } from '../../shared/resources/core/persistent-volume-claim.ts';
import {
  type VMDiskImage as Image,
  imageUidLabel,
  managedBy,
  underWay,
  VMDiskImage,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/resources/resource.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { imageNameOf } from '../../shared/rules/names.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { holdersOf, leaseName } from '../../shared/rules/slots.ts';
import { decide, type Observed } from './decide.ts';

/** Takes down what a deleted image leaves, then lets the image go. */
export default defineFunction<Observed>({
  name: 'prune',
  on: [
    on.changed(VMDiskImage, { source: 'pelotech' }),
    on.deleted(DataVolume, { source: 'cdi', labels: managedBy }),
    on.deleted(PersistentVolumeClaim, { source: 'cdi', labels: managedBy }),
    on.deleted(VolumeSnapshot, { source: 'snapshotter', labels: managedBy }),
    on.changed(Lease, { source: 'own', name: leaseName }),
    on.audit(),
  ],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'list', 'patch'] },
    { resource: DataVolume, verbs: ['list', 'delete'] },
    { resource: PersistentVolumeClaim, verbs: ['list'] },
    { resource: VolumeSnapshot, verbs: ['list', 'delete'] },
    { resource: Lease, verbs: ['get'], namespace: 'own' },
  ],
  scale: 'zero',
  observe,
  decide,
});

async function observe({ kube }: Context, wake: Wake): Promise<Observed[]> {
  const images = (await candidates(kube, wake)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (images.length === 0) return [];
  const lease = await kube.get(Lease, { namespace: operatorNamespace, name: leaseName });
  const holding = new Set((holdersOf(lease) ?? []).map(({ uid }) => uid));
  return Promise.all(
    images.map(async (image) => {
      const own = {
        namespace: image.metadata.namespace ?? '',
        labelSelector: `${imageUidLabel}=${image.metadata.uid}`,
      };
      const [dataVolumes, claims, snapshots] = await Promise.all([
        kube.list(DataVolume, own),
        kube.list(PersistentVolumeClaim, own),
        kube.list(VolumeSnapshot, own),
      ]);
      return { image, dataVolumes, claims, snapshots, holdsSlot: holding.has(image.metadata.uid) };
    }),
  );
}

type Reader = Context['kube'];

/** The images events are about, by name or by the name of a child; where a slot changed hands those under way; at an audit all. */
async function candidates(kube: Reader, wake: Wake): Promise<Image[]> {
  if (wake.audit) return kube.list(VMDiskImage);
  const named = new Map<string, ObjectReference>();
  for (const { kind, namespace, name } of wake.subjects) {
    const image = kind === VMDiskImage.kind ? name : imageNameOf(name);
    if (image !== undefined) named.set(`${namespace}/${image}`, { namespace, name: image });
  }
  const [open, ...found] = await Promise.all([
    subjectsOf(wake, Lease).length > 0 ? kube.list(VMDiskImage, { fieldSelector: underWay }) : [],
    ...[...named.values()].map((ref) => kube.get(VMDiskImage, ref)),
  ]);
  const images = [...open, ...found.filter((image) => image !== undefined)];
  return [...new Map(images.map((image) => [image.metadata.uid, image])).values()];
}
