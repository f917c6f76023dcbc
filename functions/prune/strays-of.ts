import type { Context } from '../../shared/function.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../shared/kinds/resource.ts';
import { imageNameOf } from '../../shared/kubernetes/names.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import { madeKinds, mayBeStray, type Stray, snapshotsNamedBy } from './stray.ts';

/** The limit of deletions per audit. */
const straysPerReconcile = 50;

/** The objects whose label names an image that is not in the list, each with a second read of the image of its name. */
export async function straysOf(kube: Context['kube'], images: readonly VMDiskImage[], nowMs: number): Promise<Stray[]> {
  const uids = new Set(images.map(({ metadata }) => metadata.uid));
  const used = new Set(
    images.flatMap((image) => snapshotsNamedBy(image).map((name) => keyOf({ ...image.metadata, name }))),
  );
  const isStray = (object: KubernetesObject) =>
    !uids.has(object.metadata.labels?.[imageUidLabel] ?? '') &&
    !used.has(keyOf(object.metadata)) &&
    mayBeStray(object, nowMs);
  const found = await Promise.all(madeKinds.map((kind) => labelled(kube, kind, isStray)));
  const ofOneImage = Map.groupBy(found.flat().slice(0, straysPerReconcile), ({ metadata }) =>
    keyOf(imageRefOf(metadata)),
  );
  const looks = [...ofOneImage.values()].map(async (group): Promise<Stray[]> => {
    const [ref] = group.map(({ metadata }) => imageRefOf(metadata));
    const image = ref && (await kube.get(VMDiskImage, ref));
    return group.map((stray) => ({ nowMs, isAudit: true, stray, image }));
  });
  const looked = await Promise.allSettled(looks);
  // If an image could not be read, the next audit decides.
  return looked.flatMap((look) => (look.status === 'fulfilled' ? look.value : []));
}

const imageRefOf = ({ namespace, name }: ObjectReference) => ({ namespace, name: imageNameOf(name) ?? '' });

async function labelled(kube: Context['kube'], resource: Resource, isWanted: (object: KubernetesObject) => boolean) {
  const found: KubernetesObject[] = [];
  try {
    for await (const { items } of kube.pages(resource, { labelSelector: imageUidLabel }))
      found.push(...items.filter(isWanted));
  } catch (error) {
    // The kind is not served, so no object of it exists.
    if (!hasStatus(error, 404)) throw error;
  }
  return found;
}
