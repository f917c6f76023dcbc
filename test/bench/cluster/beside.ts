import { setTimeout as sleep } from 'node:timers/promises';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { install } from '../../cluster/installation.ts';
import type { Source } from './images.ts';
import { makeOthers } from './others.ts';
import { imagesOfARun, removeImages, type Spent, spent, syncImages } from './runs.ts';

/** CPU of images alone, and beside machines, workspaces and servers that are changed meanwhile; each with the cluster at rest. */
export interface Beside {
  images: number;
  alone: { rest: Spent; runs: readonly Spent[] };
  beside: { rest: Spent; runs: readonly (Spent & { changes: number })[] };
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

const restMs = 60_000;

/** Two changes a second and eight: what one costs beside images is the difference, and not what it costs a cluster that does nothing else. */
const everyMs = [500, 125];

/** The image functions with those of all other systems, as they are installed; CDI and the snapshotter are one write for each object. */
export async function measureBeside({ kube, source, host, runs, ready, say }: Given): Promise<Beside> {
  const atRest = () => {
    say('nothing, for a minute');
    return spent(() => sleep(restMs));
  };
  say('installing the functions of images, machines and workspaces');
  await install('serving', { timers: 'production' });
  await ready();
  const alone = { rest: await atRest(), runs: [] as Spent[] };
  for (let run = 1; run <= runs; run++) {
    say(`${imagesOfARun} images alone, ${run} of ${runs}`);
    alone.runs.push(await spent(() => syncImages(kube, source)));
    await removeImages(kube);
  }
  say('installing those for OpenStack, and making machines, workspaces and servers');
  // A source restarts for each new namespace and misses events meanwhile; quick timers find their objects.
  await install('serving-openstack');
  const others = await makeOthers(kube, source, host);
  await install('serving-openstack', { timers: 'production' });
  await ready();
  // What came of making them.
  await sleep(restMs);
  const beside = { rest: await atRest(), runs: [] as (Spent & { changes: number })[] };
  for (let run = 1; run <= runs; run++) {
    for (const every of everyMs) {
      say(`${imagesOfARun} images beside a change of the others each ${every} ms, ${run} of ${runs}`);
      const end = new AbortController();
      const changes = others.change(every, end.signal);
      const cost = await spent(() => syncImages(kube, source).finally(() => end.abort()));
      beside.runs.push({ ...cost, changes: await changes });
      await removeImages(kube);
    }
  }
  await others.close();
  return { images: imagesOfARun, alone, beside };
}
