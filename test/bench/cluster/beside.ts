import { setTimeout as sleep } from 'node:timers/promises';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { install } from '../../cluster/installation.ts';
import type { Source } from './images.ts';
import { makeOthers } from './others.ts';
import { imagesOfARun, removeImages, type Spent, spent, syncImages } from './runs.ts';

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

const aloneMs = 60_000;

/** The image functions with those of all other systems, as they are installed; CDI and the snapshotter are one write for each object. */
export async function measureBeside({ kube, source, host, runs, ready, say }: Given): Promise<Beside> {
  say('installing the functions of images, machines and workspaces');
  await install('serving', { timers: 'production' });
  await ready();
  const without: Spent[] = [];
  for (let run = 1; run <= runs; run++) {
    say(`${imagesOfARun} images alone, ${run} of ${runs}`);
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
    say(`${imagesOfARun} images beside changes of the others, ${run} of ${runs}`);
    beside.push({ ...(await spent(() => changing(() => syncImages(kube, source)))), changes });
    await removeImages(kube);
  }
  await others.close();
  return { images: imagesOfARun, without, idle, alone, beside };
}
