import { distinct, uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf } from '../../shared/function.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { GlanceImage, ImageMember, listImages, listMembers } from '../../shared/kinds/openstack/image.ts';
import { uidKey } from '../../shared/kinds/openstack/request.ts';
import { CinderVolume, listVolumes } from '../../shared/kinds/openstack/volume.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { getNamed } from '../../shared/runtime/get-named.ts';
import { onClouds, openOrNamed } from '../../shared/runtime/openstack/by-namespace.ts';
import type { Cloud } from '../../shared/runtime/openstack/clouds.ts';
import { narrowLists } from '../../shared/runtime/openstack/narrow-lists.ts';
import type { Found, Observed } from './observed.ts';
import { isId, isUrl } from './source.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { nowMs, refusals } = context;
  const lists = narrowLists(batch);
  return onClouds(
    context,
    await concerned(context, batch),
    async (cloud, volumes) => {
      const byUids = volumes.map(({ metadata }) => ({ uid: metadata.uid }));
      const listed = await lists.each(byUids, (by) => cloud.list(listVolumes(by), 'volumes', CinderVolume));
      // Each volume's search of all of them would be a crowd's square.
      const byUid = Map.groupBy(listed, ({ metadata }) => metadata[uidKey]);
      const found = volumes.map(async (volume) => {
        const { uid } = volume.metadata;
        const made = byUid.get(uid) ?? [];
        return [uid, { volumes: made, ...(await imagesOf(cloud, volume, made)) }] as const;
      });
      return new Map(await Promise.all(found));
    },
    (volume, cloud, policy) => ({
      nowMs,
      policy,
      refusals,
      volume,
      cloud: 'fault' in cloud ? cloud : (cloud.get(volume.metadata.uid) ?? { volumes: [], ...noImages }),
    }),
  );
}

const noImages: Pick<Found, 'own' | 'named'> = { own: [], named: [] };

/** Only of a volume that has or had a source: the images that were made for it, and those that it names. */
async function imagesOf(cloud: Cloud, volume: Volume, own: readonly CinderVolume[]): Promise<typeof noImages> {
  const image = volume.spec.source?.image;
  if (image === undefined) return noImages;
  if (isUrl(image)) {
    // A volume that is Available has let its image go.
    const isDone = volume.status?.phase === 'Available' || volume.status?.phase === 'InUse';
    const isDeleting = volume.metadata.deletionTimestamp !== undefined;
    if (isDone && !isDeleting && volume.status?.imageLeft !== true && own.length > 0) return noImages;
    const made = listImages({ uid: volume.metadata.uid, owner: cloud.project });
    return { own: await cloud.list(made, 'images', GlanceImage), named: [] };
  }
  if (own.length > 0) return noImages;
  const by = isId(image) ? { id: image } : { name: image };
  const named = await cloud.list(listImages(by), 'images', GlanceImage);
  const usable = await Promise.all(named.map((one) => isUsable(cloud, one, 'id' in by)));
  return { own: [], named: named.filter((_, index) => usable[index]) };
}

/**
 * Whether the project may use the image. A token of an administrator sees every project's. As with OpenStack's own client, a community
 * image has to be named by its id: any project can publish one under any name.
 */
async function isUsable(cloud: Cloud, { id, owner, visibility }: GlanceImage, isById: boolean): Promise<boolean> {
  if (owner === cloud.project || visibility === 'public') return true;
  if (visibility === 'community') return isById;
  // The default of Glance, whether or not any project is a member.
  if (visibility !== 'shared') return false;
  const members = await cloud.list(listMembers(id), 'members', ImageMember);
  return members.some((member) => member.member_id === cloud.project && member.status === 'accepted');
}

/** Those of a machine that changed, too: it may have one now, or have let one go. */
async function concerned({ kube }: Context, batch: Batch): Promise<Volume[]> {
  const named = await openOrNamed(kube, batch, Volume);
  const byNamespace = Map.groupBy(distinct(subjectsOf(batch, KupenStackMachine), keyOf), ({ namespace }) => namespace);
  const ofMachines = [...byNamespace].map(([namespace = '', refs]) => volumesOf(kube, namespace, refs));
  return uniqueByName([...named, ...(await Promise.all(ofMachines)).flat()]);
}

/** Those that the machines of a namespace name, and those that their servers have according to their status. */
async function volumesOf(kube: Context['kube'], namespace: string, refs: readonly ObjectReference[]) {
  const machines = await getNamed(kube, KupenStackMachine, refs);
  const wanted = machines.flatMap(({ spec }) => spec.diskAttachments.map(({ name }) => ({ namespace, name })));
  // Nothing tells which server a machine had that has none any more: then those that any server has.
  const servers = machines.map(({ status }) => status?.id).filter((id) => id !== undefined && isId(id));
  const fieldSelector = refs.length === 1 && servers.length === 1 ? `status.server=${servers[0]}` : 'status.server!=';
  const [named, attached] = await Promise.all([
    getNamed(kube, Volume, distinct(wanted, keyOf)),
    kube.list(Volume, { namespace, fieldSelector }),
  ]);
  return [...named, ...attached];
}
