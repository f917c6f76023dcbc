import { snapshotFor } from '../../functions/follow-sync/snapshot/snapshot.ts';
import { snapshotName } from '../../shared/images/children.ts';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import type { BenchCluster } from './bench-cluster.ts';

export const finishedName = (index: number) => `finished-${String(index).padStart(5, '0')}`;

type Maker = Pick<BenchCluster, 'kube' | 'createImage'>;

const atOnce = 16;
const asStatus = { subresource: 'status' } as const;

/** Makes images number `from` to `to` as they are long after they finished: snapshot and status as the functions leave them. */
export async function makeFinished(cluster: Maker, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += atOnce) {
    const count = Math.min(atOnce, to - first);
    await Promise.all(Array.from({ length: count }, (_, offset) => makeOne(cluster, finishedName(first + offset))));
  }
}

async function makeOne({ kube, createImage }: Maker, name: string) {
  const image = await createImage(name, { finalizers: [diskImageFinalizer] });
  const snapshot = await kube.create(VolumeSnapshot, snapshotFor(image, 1, name));
  const ready = { status: { readyToUse: true, restoreSize: '64Mi' } };
  await kube.patch(VolumeSnapshot, referenceOf(snapshot), ready, asStatus);
  await kube.patch(VMDiskImage, referenceOf(image), { status: statusOf(image) }, asStatus);
}

/** What the functions write of an image that has finished and that no one uses. */
export function statusOf(image: VMDiskImage) {
  const message = 'Ready to clone from its snapshot.';
  const lastTransitionTime = image.metadata.creationTimestamp;
  return {
    phase: 'Succeeded',
    message,
    revision: 1,
    attempt: 1,
    attempts: 1,
    contentDigest: contentDigest(image),
    queuedAt: lastTransitionTime.replace('Z', '.000001Z'),
    snapshot: { name: snapshotName(image.metadata, 1), revision: 1 },
    references: { count: 0, by: [] },
    unreferencedSince: lastTransitionTime,
    conditions: [{ type: 'Ready', status: 'True', reason: 'SnapshotReady', message, lastTransitionTime }],
  };
}
