import { expect, test } from 'vitest';
import { noEvents } from '../../shared/function.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { useRevision, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference, Resource } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { aVMDiskImage, type ImageOptions, noClouds, start } from '../../test/support/builders/images.ts';
import declaration from './index.ts';

/** What a reconcile of an event reads, given the image that it is about. */
async function reads(image: VMDiskImage, { apiVersion, kind }: Resource, name = image.metadata.name) {
  const read: string[] = [];
  const get = async (resource: Resource, ref: ObjectReference) => {
    read.push(`get ${resource.kind}`);
    return resource.kind === VMDiskImage.kind && ref.name === image.metadata.name ? image : undefined;
  };
  const list = async (resource: Resource) => {
    read.push(`list ${resource.kind}`);
    return [];
  };
  const kube = { get, list } as unknown as Kube;
  const batch = { ...noEvents, subjects: [{ apiVersion, kind, namespace: 'vmdi-farm', name }] };
  await declaration.observe({ kube, nowMs: start, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 }, batch);
  return read;
}

const [image, common] = ['get VMDiskImage', ['get ConfigMap', 'list DataVolume']];
const queued = (options: ImageOptions = {}) => aVMDiskImage({ status: { phase: 'Queued', attempt: 0 }, ...options });

test.each<[string, VMDiskImage, string[]]>([
  ['is new', aVMDiskImage(), []],
  ['waits for its first download', queued(), []],
  ['waits, and is deleted', queued({ deleted: true }), [...common, 'list VolumeSnapshot']],
  [
    'waits, and is asked for a revision',
    queued({ annotations: { [useRevision]: '1' } }),
    [...common, 'list VolumeSnapshot'],
  ],
  ['waits again', aVMDiskImage({ status: { phase: 'Queued', attempt: 1 } }), [...common, 'list VolumeSnapshot']],
  ['is downloaded first', aVMDiskImage({ status: { phase: 'Syncing', attempt: 1 } }), [...common, 'list Pod']],
  [
    'is downloaded again',
    aVMDiskImage({ status: { phase: 'Syncing', revision: 2 } }),
    [...common, 'list Pod', 'list VolumeSnapshot'],
  ],
  ['has its snapshot', aVMDiskImage({ status: { phase: 'Succeeded' } }), [...common, 'list VolumeSnapshot']],
])('an event reads only what can change an image that %s', async (_, one, expected) => {
  expect(await reads(one, VMDiskImage)).toEqual([image, ...expected]);
});

test('an event of a DataVolume reads no image but its own; one of a Pod, which does not name its image, lists those under way', async () => {
  const syncing = aVMDiskImage({ status: { phase: 'Syncing', attempt: 1 } });
  expect(await reads(syncing, DataVolume, 'ubuntu-0badcafe-r1-a1')).toEqual([image, ...common, 'list Pod']);
  expect(await reads(syncing, Pod, 'importer-x')).toEqual(['list VMDiskImage', 'get Lease']);
});
