import { uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf } from '../../shared/function.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { GlanceImage, listImages } from '../../shared/kinds/openstack/image.ts';
import { CinderVolume, listVolumes } from '../../shared/kinds/openstack/volume.ts';
import { isReady } from '../../shared/openstack/status.ts';
import { onClouds } from '../../shared/runtime/openstack/by-namespace.ts';
import type { Cloud } from '../../shared/runtime/openstack/clouds.ts';
import { ownOf } from './decide.ts';
import type { Found, Observed } from './observed.ts';
import { isId, isUrl } from './source.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { nowMs, refusals } = context;
  return onClouds(
    context,
    await concerned(context, batch),
    async (cloud, volumes) => {
      const found = await cloud.list(listVolumes(), 'volumes', CinderVolume);
      const images = volumes.map(
        async (volume) => [volume.metadata.uid, await imagesOf(cloud, volume, found)] as const,
      );
      return { volumes: found, images: new Map(await Promise.all(images)) };
    },
    (volume, cloud, policy) => ({
      nowMs,
      policy,
      refusals,
      volume,
      cloud:
        'fault' in cloud ? cloud : { volumes: cloud.volumes, ...(cloud.images.get(volume.metadata.uid) ?? noImages) },
    }),
  );
}

const noImages: Pick<Found, 'own' | 'named'> = { own: [], named: [] };

/** Only of a volume that has or had a source: the images that were made for it, and those that it names. */
async function imagesOf(cloud: Cloud, volume: Volume, found: readonly CinderVolume[]): Promise<typeof noImages> {
  const image = volume.spec.source?.image;
  if (image === undefined) return noImages;
  if (isUrl(image)) {
    // A volume that is Available has let its image go.
    const isDone = volume.status?.phase === 'Available' || volume.status?.phase === 'InUse';
    const isDeleting = volume.metadata.deletionTimestamp !== undefined;
    if (isDone && !isDeleting && volume.status?.imageLeft !== true && ownOf(volume, found).length > 0) return noImages;
    return { own: await cloud.list(listImages({ uid: volume.metadata.uid }), 'images', GlanceImage), named: [] };
  }
  if (ownOf(volume, found).length > 0) return noImages;
  const by = isId(image) ? { id: image } : { name: image };
  return { own: [], named: await cloud.list(listImages(by), 'images', GlanceImage) };
}

/**
 * Those that events name, and those beside a machine that changed: it may have one now, or have let one go. At a sweep all that are
 * not as they should be, at an audit all.
 */
async function concerned({ kube }: Context, batch: Batch): Promise<Volume[]> {
  if (batch.audit) return kube.list(Volume);
  const open = batch.sweep ? (await kube.list(Volume)).filter((one) => !isReady(one)) : [];
  const namespaces = [...new Set(subjectsOf(batch, KupenStackMachine).map(({ namespace }) => namespace ?? ''))];
  const beside = await Promise.all(namespaces.map((namespace) => kube.list(Volume, { namespace })));
  const named = await Promise.all(subjectsOf(batch, Volume).map((ref) => kube.get(Volume, ref)));
  const all = [...open, ...beside.flat(), ...named.filter((volume) => volume !== undefined)];
  return uniqueByName(all);
}
