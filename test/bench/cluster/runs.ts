import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { mapConcurrently } from '../../../shared/runtime/concurrency.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { until } from '../../stories/world.ts';
import { startStandIn } from '../stand-in.ts';
import { cpuBetween, cpuSoFar } from './cpu.ts';
import { benchNamespace, imageSpec, type Source } from './images.ts';

/** CPU seconds by part of the cluster, and for how long. */
export interface Spent {
  cpu: Readonly<Record<string, number>>;
  seconds: number;
}

/** What the cluster spends while this runs. */
export async function spent(run: () => Promise<unknown>): Promise<Spent> {
  const [before, fromMs] = [await cpuSoFar(), Date.now()];
  await run();
  return { cpu: cpuBetween(before, await cpuSoFar()), seconds: (Date.now() - fromMs) / 1000 };
}

/** How many images are synced in a run. */
export const imagesOfARun = 100;

const times = { importMs: () => 200, snapshotMs: 50 };

const refs: readonly ObjectReference[] = Array.from({ length: imagesOfARun }, (_, index) => ({
  namespace: benchNamespace,
  name: `image-${index}`,
}));

/** Makes the images, and resolves when all have Succeeded; CDI and the snapshotter are one write for each object. */
export async function syncImages(kube: Kube, source: Source): Promise<void> {
  const standIn = await startStandIn(kube, times);
  await mapConcurrently(refs, 8, ({ namespace, name }) => {
    const spec = { ...imageSpec(source), url: imageSpec(source).url.replace('$name', name) };
    return kube.create(VMDiskImage, { metadata: { namespace, name }, spec });
  });
  const isOver = (found?: VMDiskImage) => ['Succeeded', 'Failed'].includes(found?.status?.phase ?? '');
  for (const ref of refs) {
    const { status } = (await until({ kube }, VMDiskImage, ref, isOver, 300_000)) as VMDiskImage;
    if (status?.phase === 'Failed') throw new Error(`expected image ${ref.name} to succeed: ${status.message}`);
  }
  await standIn.stop();
}

/** Deletes them, and resolves when they are deleted. */
export async function removeImages(kube: Kube): Promise<void> {
  for (const ref of refs) await kube.delete(VMDiskImage, ref);
  for (const ref of refs) await until({ kube }, VMDiskImage, ref, (found) => found === undefined, 120_000);
}
