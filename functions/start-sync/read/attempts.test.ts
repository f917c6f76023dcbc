import { expect, test } from 'vitest';
import { noEvents, type Subject, subjectOf } from '../../../shared/function.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import {
  imageUidLabel,
  type VMDiskImage,
  type VMDiskImageStatus,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import type { Kube, ListOptions } from '../../../shared/runtime/kube.ts';
import { aClaim, aDataVolume, aHolder, anImporter, aVMDiskImage } from '../../../test/support/builders/images.ts';
import { type HeldImage, readAttemptsOfHolders, selectHolders, volumesOnce } from './attempts.ts';

const image = (name: string, status: VMDiskImageStatus) =>
  aVMDiskImage({ name, status: { revision: 1, attempt: 1, ...status } });
const held = (one: VMDiskImage): HeldImage => ({ holder: aHolder(one, one.status?.attempt), image: one });

const downloads = image('downloads', { phase: 'Syncing', dataVolume: 'seen' });
const begun = image('begun', { phase: 'Syncing' });
const over = image('over', { phase: 'Snapshotting', dataVolume: 'seen' });
const second = image('second', { phase: 'Syncing', attempt: 2 });
const all = [downloads, begun, over];

const ofAnother: HeldImage = { holder: aHolder(downloads, 2), image: downloads };

test.each<[string, readonly (VMDiskImage | DataVolume | Pod)[], readonly VMDiskImage[]]>([
  ['an image is about holders that do not download, or not yet', [over], [begun, over]],
  ['a DataVolume is about its own holder, too', [aDataVolume(downloads)], all],
  ['a DataVolume of an image that holds no slot is about no more', [aDataVolume(second)], [begun, over]],
  ['an importer is about all, for it does not name its image', [anImporter(over)], all],
])('an event of %s', (_, events, expected) => {
  const batch = { ...noEvents, subjects: events.map((one): Subject => subjectOf(one)) };
  expect(selectHolders(batch, all.map(held)).map((one) => one.image)).toEqual(expected);
});

test('a holder of another attempt than its image is in is read', () => {
  expect(selectHolders(noEvents, [ofAnother])).toEqual([ofAnother]);
});

type Made = DataVolume | PersistentVolumeClaim | Pod;

/** What is read of these holders, in order, while these objects exist. */
async function reads(holders: readonly HeldImage[], there: readonly Made[]) {
  const read: string[] = [];
  const get = async ({ kind }: Resource, { name }: ObjectReference) => {
    read.push(`get ${kind}`);
    return there.find((one) => one.kind === kind && one.metadata.name === name);
  };
  const list = async ({ kind }: Resource, { labelSelector = '' }: ListOptions = {}) => {
    read.push(`list ${kind}`);
    const isSelected = ({ metadata }: Made) => labelSelector.includes(metadata.labels?.[imageUidLabel] ?? 'none');
    return there.filter((one) => one.kind === kind && isSelected(one));
  };
  const kube = { get, list } as unknown as Kube;
  return { found: await readAttemptsOfHolders(kube, holders, volumesOnce(kube)), read };
}

test('the DataVolume of a holder is read once', async () => {
  const read: string[] = [];
  const get = async (_: Resource, { name }: ObjectReference) => {
    read.push(name);
    return undefined;
  };
  const readVolumes = volumesOnce({ get } as unknown as Kube);
  await readVolumes([held(begun)]);
  await readVolumes([held(downloads), held(begun)]);
  expect(read).toEqual([begun, downloads].map((one) => aDataVolume(one).metadata.name));
});

const ofMany = Array.from({ length: 5 }, (_, index) => image(`i${index}`, { phase: 'Syncing' }));

const first = ['get DataVolume'];
const later = ['list DataVolume', 'list Pod'];
const inSecond = aDataVolume(second, { attempt: 2 });

test.each<[string, readonly HeldImage[], readonly Made[], string[]]>([
  ['in its first attempt its one DataVolume', [held(begun)], [aDataVolume(begun)], first],
  [
    'in its first attempt without its DataVolume its claim, and the Pods last',
    [held(begun)],
    [aClaim(aDataVolume(begun)), anImporter(begun)],
    [...first, 'list PersistentVolumeClaim', 'list Pod'],
  ],
  ['in a later attempt all that is left', [held(second)], [inSecond], later],
  [
    'in a later attempt, beside one in its first, all that is left of it alone',
    [held(begun), held(second)],
    [aDataVolume(begun), inSecond],
    [...first, ...later],
  ],
  ['that does not exist all that is left', [{ ...held(begun), image: undefined }], [aDataVolume(begun)], later],
  [
    'whose holder says first, and it does not, all that is left',
    [{ ...held(second), holder: aHolder(second) }],
    [aDataVolume(second, { attempt: 1 })],
    later,
  ],
  ['beside many others one list', ofMany.map(held), ofMany.map((one) => aDataVolume(one)), ['list DataVolume']],
])('of an image %s is read', async (_, holders, there, expected) => {
  const { found, read } = await reads(holders, there);
  expect(read).toEqual(expected);
  expect([...found.dataVolumes, ...found.claims, ...found.pods]).toEqual(there);
});

test('a DataVolume that a user labelled for another image counts for neither', async () => {
  const mine = aDataVolume(begun);
  const theirs = { ...mine, metadata: { ...mine.metadata, labels: aDataVolume(over).metadata.labels } };
  expect((await reads([held(begun)], [theirs as DataVolume])).found.dataVolumes).toEqual([]);
});
