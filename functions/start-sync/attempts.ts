import { type Batch, type Context, subjectsOf } from '../../shared/function.ts';
import type { Holder } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { imageUidLabel, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf, type Resource } from '../../shared/kinds/resource.ts';
import { isIn } from '../../shared/kubernetes/selectors.ts';
import { getNamed } from '../../shared/runtime/get-named.ts';
import type { HeldImage } from './focus.ts';
import { isActiveAttempt, isOfAttempt, volumeOf } from './occupancy.ts';

/** What attempts consist of. */
export interface Attempts {
  dataVolumes: readonly DataVolume[];
  pods: readonly Pod[];
  claims: readonly PersistentVolumeClaim[];
}

export const noAttempts: Attempts = { dataVolumes: [], pods: [], claims: [] };

type Reader = Context['kube'];

/** The DataVolumes and Pods of these images; without uids, of all images. */
export async function attemptsOf(kube: Reader, uids: readonly string[] | undefined): Promise<Attempts> {
  if (uids?.length === 0) return noAttempts;
  const [dataVolumes, pods] = await Promise.all([madeFor(kube, DataVolume, uids), madeFor(kube, Pod, uids)]);
  return { dataVolumes, pods, claims: [] };
}

/**
 * The holders that events ask about: all but those whose images say that their DataVolumes download. Those keep their slots until an event
 * is about them, or a sweep.
 */
export function askedAbout(batch: Batch, held: readonly HeldImage[]): readonly HeldImage[] {
  const ended = new Set(subjectsOf(batch, DataVolume).map(keyOf));
  return held.filter(
    ({ holder, image }) => !image || !isUnderWay(holder, image) || ended.has(keyOf(volumeOf(holder, image))),
  );
}

const isUnderWay = (holder: Holder, image: VMDiskImage) =>
  image.status?.phase === 'Syncing' && image.status.dataVolume !== undefined && isActiveAttempt(holder, image);

/** For more, one list costs less than a read of each. */
const mostNamed = 4;

/** Reads the DataVolumes of these holders once: by name, if no other DataVolume can be of their images. */
export function volumesOf(kube: Reader, held: readonly HeldImage[]): () => Promise<readonly DataVolume[]> {
  let read: Promise<readonly DataVolume[]> | undefined;
  const names = held.flatMap(({ holder, image }) => (image && isFirst(holder) ? [volumeOf(holder, image)] : []));
  const isByName = held.length <= mostNamed && names.length === held.length;
  return () => (read ??= isByName ? getNamed(kube, DataVolume, names) : madeFor(kube, DataVolume, uidsOf(held)));
}

const isFirst = ({ revision, attempt }: Holder) => revision === 1 && attempt === 1;

const uidsOf = (held: readonly HeldImage[]) => held.map(({ holder }) => holder.uid);

/**
 * While the claim of a deleted DataVolume exists, CDI may still create an importer Pod for it. So where the DataVolume of a holder does not
 * exist, the claims are read, and the Pods last. The DataVolume of a first attempt tells all: CDI reports its end after that of its importer
 * (15 of 15 recordings), and no earlier attempt has left one.
 */
export async function attemptsOfHolders(
  kube: Reader,
  held: readonly HeldImage[],
  volumes: () => Promise<readonly DataVolume[]>,
): Promise<Attempts> {
  if (held.length === 0) return noAttempts;
  const dataVolumes = await volumes();
  const areAllThere = held.every(({ holder }) => dataVolumes.some(isOfAttempt(holder)));
  if (areAllThere && held.every(({ holder, image }) => image && isFirst(holder))) return { ...noAttempts, dataVolumes };
  const claims = areAllThere ? [] : await madeFor(kube, PersistentVolumeClaim, uidsOf(held));
  return { dataVolumes, claims, pods: await madeFor(kube, Pod, uidsOf(held)) };
}

/** For more images all are listed, because uids are part of the URL. */
const mostUids = 100;

const madeFor = <T extends KubernetesObject>(
  kube: Reader,
  resource: Resource<T>,
  uids: readonly string[] | undefined,
) =>
  kube.list(resource, {
    labelSelector: uids && uids.length <= mostUids ? isIn(imageUidLabel, uids) : imageUidLabel,
  });
