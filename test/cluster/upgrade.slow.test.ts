import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type AnyObject, Deployment } from '../../deploy/cli/install/kinds.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import {
  diskImageFinalizer,
  imageUidLabel,
  syncRequested,
  VMDiskImage,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from '../stories/images.ts';
import { createImage, type Story, setPolicy, until, untilGone, untilPhase, type World } from '../stories/world.ts';
import { readAudit } from './audit.ts';
import { awaitedDownloads } from './awaited-downloads.ts';
import { runInstaller, runInstallerOf } from './commands.ts';
import { imageUnderTest, prepare } from './installation.ts';
import { kubectl, kubectlOrFail, type Ran } from './kubectl.ts';
import { buildReleaseBefore, type Release } from './release-before.ts';
import { adminClient, onRealCluster } from './world.ts';

const namesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `image-${String(index).padStart(2, '0')}`);

const succeeds = async (folder: string | undefined, ...args: string[]) => {
  const ran = await (folder ? runInstallerOf(folder, ...args) : runInstaller(...args));
  expect(ran).toMatchObject({ code: 0 });
  return ran.out;
};
const refOf = ({ namespace }: Pick<World, 'namespace'>, name: string) => ({ namespace, name });
const isDownloading = (image: VMDiskImage | undefined) =>
  image?.status?.phase === 'Syncing' && image.status.importer !== undefined;

const isTransferring = (image: VMDiskImage | undefined) =>
  isDownloading(image) && image?.status?.importer?.scratch === true;

/** Resolves with all images at a moment at which each of these was transferring. */
async function untilAllTransfer(world: World, names: readonly string[]): Promise<Map<string, VMDiskImage>> {
  const { kube, namespace } = world;
  for (;;) {
    for (const name of names) await until(world, VMDiskImage, refOf(world, name), isTransferring, patienceMs);
    const images = await kube.list(VMDiskImage, { namespace });
    if (images.every(isTransferring)) return new Map(images.map((image) => [image.metadata.name, image]));
  }
}

/** The commit of the previous release. */
const commit = 'ae6c9de9877b30ab0a1500bd22b7721adb0d4027';

const release: { before?: Release | undefined } = {};

/** Shorter than what the installer waits for (commands.ts). */
const patienceMs = 200_000;

const followSync = { namespace: 'sync-operator', name: 'follow-sync' };
const operator = ['-n', followSync.namespace];

/** Keeps the Pod of the previous version beside a new one: no new Pod is available before its seconds are over (fewer than the deadline of 600). */
const rollsOut = (minReadySeconds: number) =>
  kubectlOrFail(
    'patch',
    'deployment',
    followSync.name,
    ...operator,
    '-p',
    JSON.stringify({ spec: { minReadySeconds } }),
  );

/** Never resolves; rejects with what the command printed, if it ends without success. */
const unlessFailed = (ran: Promise<Ran>) =>
  ran.then((one) => {
    expect(one).toMatchObject({ code: 0 });
    return new Promise<never>(() => undefined);
  });

const Rollout = z.looseObject({ readyReplicas: z.number().default(0), updatedReplicas: z.number().default(0) });

/** Both versions serve: one Pod of two is updated, and both are ready. */
function runsBoth(deployment: AnyObject | undefined): boolean {
  const { readyReplicas, updatedReplicas } = Rollout.parse(deployment?.status ?? {});
  return readyReplicas === 2 && updatedReplicas === 1;
}

const ReplicaSets = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string() }),
      spec: z.looseObject({
        template: z.looseObject({ spec: z.looseObject({ containers: z.array(z.looseObject({ image: z.string() })) }) }),
      }),
    }),
  ),
});

/** The image of each follow-sync that wrote a status between two moments, by the API server's audit log, and how often. */
async function writersOf(fromMs: number, untilMs: number): Promise<Record<string, number>> {
  const listed = await kubectlOrFail('get', 'replicasets', ...operator, '-o', 'json');
  const sets = ReplicaSets.parse(JSON.parse(listed)).items;
  const imageOf = (pod: string) =>
    sets.find(({ metadata }) => pod.startsWith(`${metadata.name}-`))?.spec.template.spec.containers[0]?.image ?? pod;
  const { requests } = await readAudit(process.env.OT_AUDIT_LOG ?? '');
  const counts: Record<string, number> = {};
  for (const request of requests) {
    const isStatus = request.account === followSync.name && request.resource === 'vmdiskimages/status';
    const isThen = request.atMs >= fromMs && request.atMs <= untilMs && request.code < 300;
    if (!isStatus || !isThen) continue;
    const image = imageOf(request.pod ?? 'no Pod');
    counts[image] = (counts[image] ?? 0) + 1;
  }
  return counts;
}

const slots = 20;
const counted = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([image, count]) => `${image} ${count}`)
    .join(', ');

/** Twenty downloads run while one release replaces another; eight of them end while both versions of follow-sync run. */
function replacement(what: string, replace: () => Promise<Ran>): Story {
  const downloads = awaitedDownloads();
  return {
    name: `${what} while ${slots} images sync: none is downloaded again, none fails, and attempts are not forgotten`,
    policy: { concurrency: `${slots}`, retryBackoffDuration: '5s' },
    simulators: { cdi: { importImage: downloads.importImage } },
    run: async (world) => {
      const { history, store, kube, namespace } = world;
      const names = namesOf(slots + 4);
      const [retried = '', ...others] = names.slice(0, slots);
      const queued = names.slice(slots);
      for (const name of names) await putImage(world, name);
      // The first GET of an attempt only looks at the header, and counts.
      store.faults.push({ match: retried, mode: 'cutAt', fraction: 0.5, times: 2 });
      await createImage(world, retried);
      await untilPhase(world, retried, 'Retrying', patienceMs);
      for (const name of others) await createImage(world, name);
      const before = await untilAllTransfer(world, [retried, ...others]);
      expect(before.get(retried)?.status?.attempts).toBeGreaterThan(1);
      // They get the slots of those that end, from whichever version runs then.
      for (const name of queued) await createImage(world, name);
      for (const name of queued) await untilPhase(world, name, 'Queued', patienceMs);
      const startedBefore = history.starts().length;

      await rollsOut(500);
      const fromMs = Date.now();
      const replaced = replace();
      await Promise.race([until(world, Deployment, followSync, runsBoth, patienceMs), unlessFailed(replaced)]);
      const bothMs = Date.now();
      const during = [retried, ...others.slice(0, 7)];
      downloads.release(during);
      for (const name of during) await untilPhase(world, name, 'Succeeded', patienceMs);
      expect(runsBoth(await kube.get(Deployment, followSync))).toBe(true);
      const writers = await writersOf(bothMs, Date.now());
      await rollsOut(0);
      expect(await replaced).toMatchObject({ code: 0 });
      const tookMs = Date.now() - fromMs;
      downloads.release(names);

      await expectReady(world, names, (name) => before.get(name)?.status?.attempts ?? 1);
      const again = history.starts().slice(startedBefore);
      const most = history.mostAtOnce();
      console.log(
        `result: ${what}: ${again.length - queued.length} downloads of ${names.length} images began again; ${during.length} ended while both versions ran (statuses written by ${counted(writers)}), in a replacement of ${(tookMs / 1000).toFixed(1)} s; at most ${most} of ${slots} at once`,
      );
      expect(again.map(({ image }) => image).toSorted()).toEqual(queued.toSorted());
      expect(most).toBeLessThanOrEqual(slots);
      expect(await kube.list(VMDiskImage, { namespace })).toHaveLength(names.length);
    },
  };
}

/** Waits until all are ready with their first revision, after so many attempts and no failure. */
async function expectReady(world: World, names: readonly string[], attemptsOf: (name: string) => number) {
  const images: VMDiskImage[] = [];
  for (const name of names) images.push(await untilPhase(world, name, 'Succeeded', patienceMs));
  const found = images.map(({ metadata: { name }, status }) => ({
    name,
    revision: status?.revision,
    attempts: status?.attempts,
    ready: status?.conditions?.find(({ type }) => type === 'Ready')?.status,
    failed: world.history.phasesOf(name).includes('Failed'),
  }));
  expect(found).toEqual(
    names.map((name) => ({ name, revision: 1, attempts: attemptsOf(name), ready: 'True', failed: false })),
  );
}

const upgrade = replacement('an upgrade', () => runInstaller('upgrade', '--image', imageUnderTest()));

const rollback = replacement('a rollback', () => {
  const { folder, image = imageUnderTest() } = release.before ?? {};
  return folder ? runInstallerOf(folder, 'upgrade', '--image', image) : runInstaller('upgrade', '--image', image);
});

/** What the README of deploy promises of `uninstall`, and that the next installation continues with what it finds. */
const uninstall: Story = {
  name: 'uninstall while 5 images sync: they stay, nothing holds them, and another installation continues with them',
  policy: { concurrency: '5' },
  run: async (world) => {
    const { kube, namespace, store, history } = world;
    const names = namesOf(5);
    const [deleted = '', ended = '', ...others] = names;
    for (const name of names) await putImage(world, name);
    store.limitTo(0);
    for (const name of names) await createImage(world, name);
    for (const name of names) await until(world, VMDiskImage, refOf(world, name), isDownloading);

    const out = await succeeds(undefined, 'uninstall');
    expect(out).toContain('5 downloads continue, and no function stops one that fails');
    const images = await kube.list(VMDiskImage, { namespace });
    expect(images.map(({ metadata, status }) => [metadata.name, status?.phase])).toEqual(
      names.map((name) => [name, 'Syncing']),
    );
    expect(images.filter(({ metadata }) => metadata.finalizers?.includes(diskImageFinalizer))).toEqual([]);
    expect(await kube.list(DataVolume, { namespace })).toHaveLength(5);

    // Without functions an image is deleted at once, and its download ends with it.
    const importersOf = (name: string) => {
      const uid = images.find(({ metadata }) => metadata.name === name)?.metadata.uid;
      return { uid, list: () => kube.list(Pod, { namespace, labelSelector: `${imageUidLabel}=${uid}` }) };
    };
    const importers = await importersOf(deleted).list();
    expect(importers).toHaveLength(1);
    expect(await kubectl('delete', `vmdi/${deleted}`, '-n', namespace, '--timeout=30s')).toMatchObject({ code: 0 });
    for (const { metadata } of importers) await untilGone(world, Pod, metadata);
    // As the installer says it.
    const { uid, list } = importersOf(ended);
    const pods = await list();
    const selected = ['-n', namespace, '-l', `${imageUidLabel}=${uid}`];
    expect(await kubectl('delete', 'datavolumes', ...selected)).toMatchObject({ code: 0 });
    for (const { metadata } of pods) await untilGone(world, Pod, metadata);

    store.limitTo(undefined);
    const options = ['--overlay', 'deployments', '--image', imageUnderTest()];
    await succeeds(undefined, 'install', ...options, '--allow-source', `${store.url}/** s3-reader`);
    await setPolicy(world, { concurrency: '5' });
    await untilPhase(world, ended, 'Retrying', 120_000);
    // Its next attempt is five minutes away: the policy of the installation is the production's.
    const again = `${syncRequested}=now`;
    expect(await kubectl('annotate', `vmdi/${ended}`, '-n', namespace, again)).toMatchObject({ code: 0 });
    for (const name of [ended, ...others]) await untilPhase(world, name, 'Succeeded', 120_000);
    const starts = history.starts().map(({ image }) => image);
    console.log(
      `result: uninstall in mid-sync: ${starts.length} downloads of 5 images, one of which was ended by hand`,
    );
    expect(starts.toSorted()).toEqual([...names, ended].toSorted());
  },
};

describe('another release', { timeout: 900_000 }, () => {
  const removeEverything = () =>
    succeeds(undefined, 'uninstall', '--delete-workspaces', '--delete-machines', '--delete-images');
  beforeAll(async () => {
    await prepare();
    await removeEverything();
    await kubectl('delete', 'namespace', 'sync-operator', '--ignore-not-found', '--wait=true');
    release.before = await buildReleaseBefore(commit);
    const { folder, image = imageUnderTest() } = release.before ?? {};
    if (!folder)
      console.warn('skipped: the release before this one is not in the history of this checkout; it stands in for it');
    await succeeds(folder, 'install', '--overlay', 'deployments', '--image', image);
  }, 900_000);
  afterAll(async () => {
    await removeEverything();
    if (release.before) await rm(release.before.folder, { recursive: true });
  });
  const world = () => ({ kube: adminClient(), broker: '', goneWithinMs: 120_000 });
  test(upgrade.name, () => onRealCluster(upgrade, world()));
  test(uninstall.name, () => onRealCluster(uninstall, world()));
  test(rollback.name, () => onRealCluster(rollback, world()));
});
