import { expect, test } from 'vitest';
import { noEvents, type Subject, subjectOf } from '../../shared/function.ts';
import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { Pod } from '../../shared/kinds/core/pod.ts';
import type { VMDiskImage, VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference, Resource } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { aClaim, aDataVolume, aHolder, anImporter, aVMDiskImage } from '../../test/support/builders/images.ts';
import { askedAbout, attemptsOfHolders, volumesOf } from './attempts.ts';
import type { HeldImage } from './focus.ts';

const image = (name: string, status: VMDiskImageStatus) =>
  aVMDiskImage({ name, status: { revision: 1, attempt: 1, ...status } });
const held = (one: VMDiskImage): HeldImage => ({ holder: aHolder(one, one.status?.attempt), image: one });

const downloads = image('downloads', { phase: 'Syncing', dataVolume: 'seen' });
const begun = image('begun', { phase: 'Syncing' });
const over = image('over', { phase: 'Snapshotting', dataVolume: 'seen' });
const second = image('second', { phase: 'Syncing', attempt: 2 });
const all = [downloads, begun, over];

test.each<[string, readonly (VMDiskImage | DataVolume | Pod)[], readonly VMDiskImage[]]>([
  ['an image asks about holders that do not download, or not yet', [over], [begun, over]],
  ['a DataVolume asks about its own holder, too', [aDataVolume(downloads)], all],
  ['a DataVolume of an image that holds no slot asks no more', [aDataVolume(second)], [begun, over]],
  ['an importer asks no more, for the image says how its download ended', [anImporter(downloads)], [begun, over]],
])('an event of %s', (_, events, expected) => {
  const batch = { ...noEvents, subjects: events.map((one): Subject => subjectOf(one)) };
  expect(askedAbout(batch, all.map(held)).map((one) => one.image)).toEqual(expected);
});

type Made = DataVolume | PersistentVolumeClaim | Pod;

/** What is read of these holders, in order, while these objects exist. */
async function reads(holders: readonly HeldImage[], there: readonly Made[]) {
  const read: string[] = [];
  const get = async ({ kind }: Resource, { name }: ObjectReference) => {
    read.push(`get ${kind}`);
    return there.find((one) => one.kind === kind && one.metadata.name === name);
  };
  const list = async ({ kind }: Resource) => {
    read.push(`list ${kind}`);
    return there.filter((one) => one.kind === kind);
  };
  const kube = { get, list } as unknown as Kube;
  return { found: await attemptsOfHolders(kube, holders, volumesOf(kube, holders)), read };
}

const ofMany = Array.from({ length: 5 }, (_, index) => image(`i${index}`, { phase: 'Syncing' }));

test.each<[string, readonly HeldImage[], readonly Made[], string[]]>([
  ['in its first attempt its one DataVolume', [held(begun)], [aDataVolume(begun)], ['get DataVolume']],
  [
    'in its first attempt without its DataVolume its claim, and the Pods last',
    [held(begun)],
    [aClaim(aDataVolume(begun)), anImporter(begun)],
    ['get DataVolume', 'list PersistentVolumeClaim', 'list Pod'],
  ],
  [
    'in a later attempt all that is left',
    [held(second)],
    [aDataVolume(second, { attempt: 2 })],
    ['list DataVolume', 'list Pod'],
  ],
  [
    'that is not there all',
    [{ ...held(begun), image: undefined }],
    [aDataVolume(begun)],
    ['list DataVolume', 'list Pod'],
  ],
  ['beside many others one list', ofMany.map(held), ofMany.map((one) => aDataVolume(one)), ['list DataVolume']],
])('of an image %s is read', async (_, holders, there, expected) => {
  const { found, read } = await reads(holders, there);
  expect(read).toEqual(expected);
  expect([...found.dataVolumes, ...found.claims, ...found.pods]).toEqual(there);
});
