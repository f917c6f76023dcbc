import { beforeAll, expect, test } from 'vitest';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { mapConcurrently } from '../../shared/runtime/concurrency.ts';
import { makeFinished } from '../bench/finished-images.ts';
import type { Story, World } from '../stories/world.ts';
import { createImage } from '../stories/world.ts';
import { readAudit } from './audit.ts';
import { install, prepare, removeFunctions } from './installation.ts';
import { kubectlOrFail } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

const count = 1000;
const namespace = 'lab';
const withinMs = 180_000;

const kube = adminClient();

beforeAll(async () => {
  await prepare();
  // Nothing is to look at them while they are made, and no event of that is to wait for a function.
  await removeFunctions();
  if (!(await kubectlOrFail('get', 'namespace', namespace, '--ignore-not-found', '--output=name')))
    await kubectlOrFail('create', 'namespace', namespace);
  const where = { kube, namespace, store: { url: 'https://s3.example.com' } } as unknown as World;
  const make = (name: string, metadata?: object) => createImage(where, name, {}, metadata);
  await makeFinished({ kube, createImage: make }, 0, count);
  await install('serving', { timers: 'production' });
}, 900_000);

/** Requests that priority and fairness refused with 429, since the API server began. */
async function rejected(): Promise<number> {
  const lines = (await kubectlOrFail('get', '--raw', '/metrics')).split('\n');
  const values = lines.filter((line) => line.startsWith('apiserver_flowcontrol_rejected_requests_total'));
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Resolves when all of these images are deleted: one watch, however many there are. */
async function untilAllGone(from: string, uids: Set<string>): Promise<void> {
  const over = AbortSignal.timeout(withinMs);
  const all = new AbortController();
  let resourceVersion = from;
  while (uids.size > 0 && !over.aborted) {
    const signal = AbortSignal.any([over, all.signal]);
    await kube.watch(VMDiskImage, { namespace, resourceVersion, signal }, ({ type, object }) => {
      resourceVersion = object.metadata.resourceVersion;
      if (type !== 'DELETED') return;
      uids.delete(object.metadata.uid);
      if (uids.size === 0) all.abort();
    });
  }
  if (uids.size > 0)
    throw new Error(`Expected all images to be deleted within ${withinMs} ms, found ${uids.size} left.`);
}

/** How often functions were refused with 429, by their accounts. */
async function refusedSince(fromMs: number): Promise<string> {
  const logFile = process.env.OT_AUDIT_LOG;
  if (!logFile) return 'of unknown accounts';
  const { requests } = await readAudit(logFile);
  const refused = requests.filter(({ code, atMs }) => code === 429 && atMs >= fromMs);
  const counts = Map.groupBy(refused, ({ account }) => account);
  return [...counts].map(([account, all]) => `${account} ${all.length}`).join(', ') || 'none of ours';
}

const story: Story = {
  name: `${count} images that are deleted at once are deleted within three minutes, and no event of them is given up`,
  simulators: false,
  run: async () => {
    const [page] = await Array.fromAsync(kube.pages(VMDiskImage, { namespace }));
    const images = await kube.list(VMDiskImage, { namespace });
    expect(images).toHaveLength(count);
    const refusedBefore = await rejected();
    const fromMs = Date.now();
    const gone = untilAllGone(page?.resourceVersion ?? '', new Set(images.map(({ metadata }) => metadata.uid)));
    // One request for all deletes one after the other, and the API server ends it after a minute.
    await mapConcurrently(images, 16, ({ metadata }) => kube.delete(VMDiskImage, metadata));
    const askedMs = Date.now() - fromMs;
    const error = await gone.catch((error: unknown) => error);
    const tookMs = Date.now() - fromMs;
    const left = (await kube.list(VMDiskImage, { namespace })).length;
    const letters = await kubectlOrFail(
      'get',
      'events',
      '-n',
      'sync-operator',
      '--field-selector=reason=DeadLetter',
      '-o',
      'name',
    );
    const refused = (await rejected()) - refusedBefore;
    const figures = `${count - left} of ${count} deleted in ${(tookMs / 1000).toFixed(1)} s (asked for in ${(askedMs / 1000).toFixed(1)} s)`;
    console.log(
      `result: images deleted at once: ${figures}; refused with 429: ${refused} (${await refusedSince(fromMs)}); dead letters: ${letters.split('\n').filter(Boolean).length}`,
    );
    if (error) throw error;
    expect(letters).toBe('');
    expect(await kube.list(VolumeSnapshot, { namespace })).toEqual([]);
  },
};

test(story.name, () => onRealCluster(story, { kube, broker: '', goneWithinMs: 600_000 }), 900_000);
