import { setTimeout as sleep } from 'node:timers/promises';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { mapConcurrently } from '../../../shared/runtime/concurrency.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { install } from '../../cluster/installation.ts';
import { until } from '../../stories/world.ts';
import { startStandIn } from '../stand-in.ts';
import { cpuBetween, cpuSoFar } from './cpu.ts';
import { benchNamespace, imageSpec, type Source } from './images.ts';
import { makeOthers } from './others.ts';

/** CPU seconds by part of the cluster, and for how long. */
interface Spent {
  cpu: Readonly<Record<string, number>>;
  seconds: number;
}

/** CPU of images alone, and beside machines, workspaces and servers that are changed meanwhile. */
export interface Beside {
  images: number;
  /** Runs of images before the others exist. */
  without: Spent[];
  /** The cluster with the others, of which nothing happens; then with the others changed, and no image. */
  idle: Spent;
  alone: Spent & { changes: number };
  /** Runs of images while the others are changed. */
  beside: (Spent & { changes: number })[];
}

interface Given {
  kube: Kube;
  source: Source;
  /** Where Pods reach this process. */
  host: string;
  runs: number;
  /** Makes an installation one that the bench can use; resolves when slots are given. */
  ready(): Promise<void>;
  say(line: string): void;
}

const images = 100;
const aloneMs = 60_000;
const times = { importMs: () => 200, snapshotMs: 50 };

/** The image functions with those of all other systems, as they are installed; CDI and the snapshotter are one write for each object. */
export async function measureBeside({ kube, source, host, runs, ready, say }: Given): Promise<Beside> {
  say('installing the functions of images, machines and workspaces');
  await install('serving', { timers: 'production' });
  await ready();
  const without: Spent[] = [];
  for (let run = 1; run <= runs; run++) {
    say(`${images} images alone, ${run} of ${runs}`);
    without.push(await spent(() => syncImages(kube, source)));
    await removeImages(kube);
  }
  say('installing those for OpenStack, and making machines, workspaces and servers');
  // A source restarts for each new namespace and misses events meanwhile; quick timers find their objects.
  await install('serving-openstack');
  const others = await makeOthers(kube, source, host);
  await install('serving-openstack', { timers: 'production' });
  await ready();
  // What came of making them.
  await sleep(aloneMs);
  say('nothing, for a minute');
  const idle = await spent(() => sleep(aloneMs));
  say('changes of the others, for a minute');
  let changes = 0;
  const changing = async (run: (signal: AbortSignal) => Promise<unknown>) => {
    const end = new AbortController();
    [changes] = await Promise.all([others.change(end.signal), run(end.signal).finally(() => end.abort())]);
  };
  const alone = { ...(await spent(() => changing(() => sleep(aloneMs)))), changes };
  const beside: Beside['beside'] = [];
  for (let run = 1; run <= runs; run++) {
    say(`${images} images beside changes of the others, ${run} of ${runs}`);
    beside.push({ ...(await spent(() => changing(() => syncImages(kube, source)))), changes });
    await removeImages(kube);
  }
  await others.close();
  return { images, without, idle, alone, beside };
}

async function spent(run: () => Promise<unknown>): Promise<Spent> {
  const [before, fromMs] = [await cpuSoFar(), Date.now()];
  await run();
  return { cpu: cpuBetween(before, await cpuSoFar()), seconds: (Date.now() - fromMs) / 1000 };
}

const refs: readonly ObjectReference[] = Array.from({ length: images }, (_, index) => ({
  namespace: benchNamespace,
  name: `image-${index}`,
}));

async function syncImages(kube: Kube, source: Source): Promise<void> {
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

async function removeImages(kube: Kube): Promise<void> {
  for (const ref of refs) await kube.delete(VMDiskImage, ref);
  for (const ref of refs) await until({ kube }, VMDiskImage, ref, (found) => found === undefined, 120_000);
}
