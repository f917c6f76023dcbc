import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Pod } from '../../shared/resources/core/pod.ts';
import {
  diskImageFinalizer,
  imageUidLabel,
  syncRequested,
  VMDiskImage,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import { putImage } from '../journeys/images.ts';
import { createImage, type Story, setPolicy, until, untilGone, untilPhase, type World } from '../journeys/world.ts';
import { runInstaller, runInstallerOf } from './commands.ts';
import { imageUnderTest, prepare } from './installation.ts';
import { kubectl, kubectlOrFail } from './kubectl.ts';
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
    for (const name of names) await until(world, VMDiskImage, refOf(world, name), isTransferring);
    const images = await kube.list(VMDiskImage, { namespace });
    if (images.every(isTransferring)) return new Map(images.map((image) => [image.metadata.name, image]));
  }
}

/** The start of the first follow-sync container of this release. The previous release wrote everything before it. */
async function firstStartMs(): Promise<number> {
  const ofFollowSync = ['-n', 'sync-operator', '-l', 'app.kubernetes.io/name=follow-sync'];
  const { items } = JSON.parse(await kubectlOrFail('get', 'pods', ...ofFollowSync, '-o', 'json'));
  const ours = (items as Running[]).filter(({ spec }) => spec.containers[0]?.image === imageUnderTest());
  const states = ours.flatMap(({ status }) => status.containerStatuses ?? []);
  const starts = states.map(({ state, lastState }) =>
    Date.parse(lastState.terminated?.startedAt ?? state.running?.startedAt ?? ''),
  );
  expect(starts).toEqual([expect.any(Number)]);
  return Math.min(...starts);
}

interface Running {
  spec: { containers: { image: string }[] };
  status: {
    containerStatuses?: {
      state: { running?: { startedAt: string } };
      lastState: { terminated?: { startedAt: string } };
    }[];
  };
}

/** The message of the previous release, which mistakes some scratch space rounds of CDI for a deletion and ends the attempt. */
const mistaken = 'The importer Pod was deleted by somebody';

/** The images whose attempts it ended by mistake between two moments, once for each time. */
async function endedByMistake({ history }: World, fromMs: number, untilMs: number): Promise<string[]> {
  const { changes } = await history.evidence();
  const ends = changes.flatMap(({ object, atMs }) => {
    const { metadata, status } = object as VMDiskImage;
    const isEnd = object.kind === VMDiskImage.kind && status?.phase === 'Retrying';
    const isMistake = status?.message?.startsWith(mistaken) && atMs >= fromMs && atMs < untilMs;
    return isEnd && isMistake ? [`${metadata.name} ${status.attempts}`] : [];
  });
  return [...new Set(ends)].map((end) => end.split(' ')[0] ?? '');
}

const release: { before?: Release | undefined } = {};

/** Twenty downloads begin under the previous release and end while the functions are replaced, or later. */
const upgrade: Story = {
  name: 'an upgrade while 20 images sync: none is downloaded again, none fails, and attempts are not forgotten',
  policy: { concurrency: '20', retryBackoffDuration: '5s' },
  run: async (world) => {
    const { history, store } = world;
    const [retried = '', ...others] = namesOf(20);
    for (const [index, name] of others.entries()) await putImage(world, name, { dataBytes: (index + 4) * 128 * 1024 });
    await putImage(world, retried);
    // The first GET of an attempt only looks at the header, and counts.
    store.faults.push({ match: retried, mode: 'cutAt', fraction: 0.5, times: 2 });
    await createImage(world, retried);
    await untilPhase(world, retried, 'Retrying');
    store.limitTo(64 * 1024);
    for (const name of others) await createImage(world, name);
    const before = await untilAllTransfer(world, [retried, ...others]);
    expect(before.get(retried)?.status?.attempts).toBeGreaterThan(1);
    const startedBefore = history.starts().length;

    const fromMs = Date.now();
    const upgraded = runInstaller('upgrade', '--image', imageUnderTest());
    // The smallest ends first, the largest minutes later.
    store.limitTo(128 * 1024);
    const ran = await upgraded;
    const tookMs = Date.now() - fromMs;
    const images = await world.kube.list(VMDiskImage, { namespace: world.namespace });
    const during = images.filter(({ status }) => status?.phase === 'Succeeded').length;
    store.limitTo(undefined);
    expect(ran).toMatchObject({ code: 0 });
    const newMs = await firstStartMs();

    for (const name of [retried, ...others]) {
      const { status } = await untilPhase(world, name, 'Succeeded', 120_000);
      // Not judged: the previous release ended it before this one ran.
      const mistakes = (await endedByMistake(world, fromMs, newMs)).filter((image) => image === name).length;
      expect({ name, revision: status?.revision, attempts: status?.attempts }).toEqual({
        name,
        revision: 1,
        attempts: (before.get(name)?.status?.attempts ?? 0) + mistakes,
      });
      expect(history.phasesOf(name)).not.toContain('Failed');
    }
    const again = history.starts().slice(startedBefore);
    const mistakes = await endedByMistake(world, fromMs, newMs);
    console.log(
      `result: upgrade: ${again.length} downloads of 20 images began again, ${mistakes.length} of them because the release before ended one by its own mistake before this one ran; ${during} ended during the upgrade of ${(tookMs / 1000).toFixed(1)} s`,
    );
    expect(again.map(({ image }) => image).toSorted()).toEqual(mistakes.toSorted());
  },
};

/** What the README of deploy promises of `uninstall`, and that the next installation goes on with what it finds. */
const uninstall: Story = {
  name: 'uninstall while 5 images sync: they stay, nothing holds them, and another installation goes on with them',
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
    expect(out).toContain('5 downloads go on, and nobody ends one that fails');
    const images = await kube.list(VMDiskImage, { namespace });
    expect(images.map(({ metadata, status }) => [metadata.name, status?.phase])).toEqual(
      names.map((name) => [name, 'Syncing']),
    );
    expect(images.filter(({ metadata }) => metadata.finalizers?.includes(diskImageFinalizer))).toEqual([]);
    expect(await kube.list(DataVolume, { namespace })).toHaveLength(5);

    // With nobody there an image is deleted at once, and its download ends with it.
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
    const install = ['install', '--overlay', 'deployments', '--image', imageUnderTest()];
    await succeeds(undefined, ...install);
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
    release.before = await buildReleaseBefore();
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
});
