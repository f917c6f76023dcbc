import { describe, expect, test } from 'vitest';
import { type ChangeVerb, type Message, noEvents, type Subject } from '../../shared/function.ts';
import { diskImageFact } from '../../shared/images/facts.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference, Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { done, queued, snapshotting, syncing } from '../../test/support/builders/image-stages.ts';
import { aDataVolume, aSnapshot, aVMDiskImage, noClouds, start } from '../../test/support/builders/images.ts';
import declaration from './index.ts';

const asSubject = ({ apiVersion, kind }: Resource, name: string, verb?: ChangeVerb): Subject => ({
  ...{ apiVersion, kind, namespace: 'vmdi-farm', name },
  ...(verb ? { verb } : {}),
});

const aboutImage = ({ metadata: { namespace, name } }: VMDiskImage): Message => ({
  ...{ id: 'a', type: diskImageFact('unsettled'), source: 'start-sync', time: undefined, data: { namespace, name } },
});

/** What a reconcile of these events reads, given the image that they are about and its children. */
async function reads(
  image: VMDiskImage,
  subjects: readonly Subject[],
  children: readonly (DataVolume | VolumeSnapshot)[] = [],
  told: readonly VMDiskImage[] = [],
) {
  const read: string[] = [];
  const get = async (resource: Resource, ref: ObjectReference) => {
    read.push(`get ${resource.kind}`);
    return [image, ...children].find(({ kind, metadata }) => kind === resource.kind && metadata.name === ref.name);
  };
  const list = async (resource: Resource) => {
    read.push(`list ${resource.kind}`);
    return children.filter(({ kind }) => kind === resource.kind);
  };
  const kube = { get, list } as unknown as Kube;
  const context = { kube, nowMs: start, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 };
  await declaration.observe(context, { ...noEvents, subjects, messages: told.map(aboutImage) });
  return read;
}

const own = 'get VMDiskImage';
const policy = 'get ConfigMap';
const all = [own, 'list DataVolume', policy];

test.each<[string, VMDiskImage, string[]]>([
  ['waits, and is deleted', queued({ deleted: true }), [...all, 'list VolumeSnapshot']],
  [
    'is downloaded again',
    aVMDiskImage({ status: { phase: 'Syncing', revision: 2 } }),
    [...all, 'list Pod', 'list VolumeSnapshot'],
  ],
  ['waits for its snapshot again', snapshotting('SnapshotRequested'), [...all, 'list VolumeSnapshot']],
  ['is ready after all', done(), [...all, 'list VolumeSnapshot', 'get VolumeSnapshot']],
])('a fact about an image that %s reads all that was made for it', async (_, image, expected) => {
  expect(await reads(image, [], [], [image])).toEqual(expected);
});

describe('an event of a child', () => {
  const child = (object: DataVolume | VolumeSnapshot, verb?: ChangeVerb) =>
    asSubject(object.kind === DataVolume.kind ? DataVolume : VolumeSnapshot, object.metadata.name, verb);
  const begun = { status: 'True', reason: 'Pod is running' };
  const waiting = { phase: 'ImportScheduled', running: { status: 'False', reason: 'Pending' } };
  const downloading = aVMDiskImage({
    status: {
      ...syncing.status,
      ...{
        dataVolume: aDataVolume(syncing).metadata.name,
        importer: { uid: 'pod-1', scratch: false },
        progress: '40%',
      },
    },
  });
  const volume = [own, 'get DataVolume'];
  const withPods = [...volume, policy, 'list Pod'];
  const ended = { phase: 'Succeeded', running: { status: 'False', reason: 'Completed' } };
  const at40 = { running: begun, progress: '43.10%' };

  test.each<[string, VMDiskImage, DataVolume, string[]]>([
    ['that waits for its importer', syncing, aDataVolume(syncing, waiting), volume],
    ['whose importer begins', syncing, aDataVolume(syncing, { running: begun }), withPods],
    ['that is as far as reported', downloading, aDataVolume(downloading, at40), volume],
    ['that is further', downloading, aDataVolume(downloading, { ...at40, progress: '45.00%' }), withPods],
    [
      'that begins from the first byte',
      downloading,
      aDataVolume(downloading, { ...at40, progress: '2.00%' }),
      withPods,
    ],
    ['whose importer restarted', downloading, aDataVolume(downloading, { ...at40, restartCount: 1 }), withPods],
    [
      'whose importer ended',
      downloading,
      aDataVolume(downloading, { ...at40, running: { status: 'False' } }),
      withPods,
    ],
    [
      'that names a trouble',
      syncing,
      aDataVolume(syncing, { ...waiting, bound: { status: 'False', reason: 'ErrExceededQuota' } }),
      withPods,
    ],
    [
      'that asks for scratch space',
      syncing,
      aDataVolume(syncing, {
        ...waiting,
        running: { status: 'False', message: 'scratch space required and none found' },
      }),
      withPods,
    ],
    ['that is downloaded and waits for its claim', downloading, aDataVolume(downloading, ended), volume],
    [
      'that is downloaded',
      downloading,
      aDataVolume(downloading, { ...ended, bound: { status: 'True', reason: 'Bound' } }),
      [...volume, policy],
    ],
  ])('a DataVolume %s', async (_, image, dataVolume, expected) => {
    expect(await reads(image, [child(dataVolume, 'update')], [dataVolume])).toEqual(expected);
  });

  const waits = snapshotting('Downloaded');
  const pending = aSnapshot(waits);
  test.each<[string, VolumeSnapshot, string[]]>([
    ['that is being taken', pending, [own, 'get VolumeSnapshot']],
    ['that is ready', aSnapshot(waits, { ready: true }), [own, 'get VolumeSnapshot', policy, 'get DataVolume']],
    ['with an error', aSnapshot(waits, { error: 'x' }), [own, 'get VolumeSnapshot', policy, 'get DataVolume']],
  ])('a snapshot %s', async (_, one, expected) => {
    expect(await reads(waits, [child(one, 'update')], [one])).toEqual(expected);
  });

  test('a snapshot that is being taken, beside the end of its volume', async () => {
    const both = [child(pending, 'update'), child(aDataVolume(waits), 'delete')];
    expect(await reads(waits, both, [pending])).toEqual([...volume, policy, 'get VolumeSnapshot']);
  });

  test('beside a fact about its image is looked into', async () => {
    const dataVolume = aDataVolume(downloading, at40);
    expect(await reads(downloading, [child(dataVolume, 'update')], [dataVolume], [downloading])).toEqual([
      ...all,
      'list Pod',
    ]);
  });

  test('that ends the source volume of a finished image reads the image, and that of a download all', async () => {
    expect(await reads(done(), [child(aDataVolume(syncing), 'delete')])).toEqual([own]);
    expect(await reads(downloading, [child(aDataVolume(syncing), 'delete')])).toEqual(withPods);
  });

  test('of a later attempt reads all, for one of an earlier attempt may be left', async () => {
    const second = aVMDiskImage({ status: { ...downloading.status, attempt: 2 } });
    const dataVolume = aDataVolume(second, at40);
    expect(await reads(second, [child(dataVolume, 'update')], [dataVolume])).toEqual([...all, 'list Pod']);
  });

  test('that is looked at again, for no event, is looked into', async () => {
    expect(await reads(syncing, [asSubject(VMDiskImage, 'ubuntu')])).toEqual([...all, 'list Pod']);
    const dataVolume = aDataVolume(downloading, at40);
    expect(await reads(downloading, [child(dataVolume)], [dataVolume])).toEqual([...all, 'list Pod']);
  });
});
