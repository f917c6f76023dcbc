import { expect, test } from 'vitest';
import { noEvents } from '../../../shared/function.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference, referenceOf } from '../../../shared/kinds/resource.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { aHolder, at, aVMDiskImage, start } from '../../../test/support/builders/images.ts';
import { readFocus } from './focus.ts';
import { readNamed } from './named.ts';

const queued = (name: string, second: number, resourceVersion = '10') => {
  const image = aVMDiskImage({ name, status: { phase: 'Queued', revision: 1, attempt: 0, queuedAt: at(second) } });
  return { ...image, metadata: { ...image.metadata, resourceVersion } };
};
const syncing = (name: string) => aVMDiskImage({ name, status: { phase: 'Syncing', revision: 1, attempt: 1 } });

interface Given {
  cached: VMDiskImage[] | undefined;
  /** What differs at the API server; undefined is gone. */
  live?: Record<string, VMDiskImage | undefined>;
  named?: readonly VMDiskImage[];
  holders?: readonly VMDiskImage[];
  concurrency?: number;
  slotsPerNamespace?: number;
}

async function focus({ cached, live = {}, named = [], holders = [], concurrency = 1, slotsPerNamespace }: Given) {
  const read: string[] = [];
  const get = async (_: unknown, ref: ObjectReference) => {
    read.push(ref.name);
    if (ref.name in live) return live[ref.name];
    return cached?.find(({ metadata }) => keyOf(metadata) === keyOf(ref));
  };
  const kube = { get } as unknown as Kube;
  const subjects = named.map(({ apiVersion, kind, ...image }) => ({
    apiVersion,
    kind,
    namespace: undefined,
    ...referenceOf(image),
  }));
  const slots = {
    bytesLeft: undefined,
    nowMs: start,
    dataVolumes: [],
    pods: [],
    unreadHolders: new Set<string>(),
    claims: [],
    holders: holders.map((image) => aHolder(image)),
    policy: parsePolicy({
      data: {
        concurrency: `${concurrency}`,
        inspectTimeout: '0s',
        ...(slotsPerNamespace ? { slotsPerNamespace: `${slotsPerNamespace}` } : {}),
      },
    }),
  };
  const images = await readNamed({ kube, cached: async () => cached as never, batch: { ...noEvents, subjects } });
  const found = images && (await readFocus(kube, images, slots, new Set()));
  return { images: found?.images.map(({ metadata }) => metadata.name), unfinished: found?.unfinished.length, read };
}

const held = syncing('held');
const crowd = Array.from({ length: 1000 }, (_, index) => queued(`q${index}`, 1000 - index));

test('while all slots are held, nothing is read, and only the first of the queue is looked at', async () => {
  expect(await focus({ cached: [held, ...crowd], holders: [held] })).toEqual({
    images: ['held', 'q998', 'q999'],
    unfinished: 1001,
    read: [],
  });
});

test('the image that may get a free slot is read live', async () => {
  expect((await focus({ cached: crowd })).read).toEqual(['q999']);
  expect((await focus({ cached: crowd, concurrency: 3 })).read).toEqual(['q999', 'q998', 'q997']);
});

test('a crowd whose namespace has all of its slots hides no image of another', async () => {
  const other = aVMDiskImage({ ...{ name: 'other', namespace: 'tenant-b' }, status: queued('q0', 5000).status ?? {} });
  const given = { cached: [held, ...crowd, other], holders: [held], concurrency: 2, slotsPerNamespace: 1 };
  expect(await focus(given)).toMatchObject({ images: ['held', 'other'], read: ['other'] });
});

test('all are listed if that image has changed, or is gone', async () => {
  for (const now of [queued('q999', 1, '11'), undefined])
    expect(await focus({ cached: crowd, live: { q999: now } })).toMatchObject({ images: undefined });
});

test('what an event names is read live, and it is looked at wherever it waits', async () => {
  const named = [queued('q3', 997)];
  const given = { cached: [held, ...crowd], holders: [held], named };
  expect(await focus(given)).toMatchObject({ images: ['q3', 'held', 'q998', 'q999'], read: ['q3'] });
  const finished = aVMDiskImage({ name: 'q3', status: { phase: 'Succeeded' } });
  for (const now of [undefined, finished])
    expect(await focus({ ...given, live: { q3: now } })).toMatchObject({
      images: ['held', 'q998', 'q999'],
      unfinished: 1000,
    });
});

test('an image whose slot seems to be free is read live before it loses it', async () => {
  const before = aVMDiskImage({
    name: 'held',
    status: { phase: 'Queued', revision: 0, attempt: 0, queuedAt: at(2000) },
  });
  const { images, read } = await focus({ cached: [before, ...crowd], live: { held }, holders: [held] });
  expect(read).toEqual(['held']);
  expect(images).toEqual(['held', 'q998', 'q999']);
});

test('what waits for the end of its back-off is not looked at before', async () => {
  const retrying = (name: string, second: number) =>
    aVMDiskImage({ name, status: { phase: 'Retrying', revision: 1, attempt: 1, nextAttemptAt: at(second) } });
  const { images } = await focus({ cached: [held, retrying('due', 0), retrying('later', 60)], holders: [held] });
  expect(images).toEqual(['held', 'due']);
});

test('what has just ended is looked at: it may still download, without a slot if a user edited the Lease', async () => {
  const ended = (name: string, second: number) =>
    aVMDiskImage({
      name,
      status: {
        ...{ phase: 'Retrying', revision: 1, attempt: 1, nextAttemptAt: at(3600) },
        history: [{ time: at(second), fact: 'Retrying', revision: 1, reason: 'ImportFailed', message: '' }],
      },
    });
  const { images } = await focus({ cached: [held, ended('now', -60), ended('long-ago', -3600)], holders: [held] });
  expect(images).toEqual(['held', 'now']);
});

test('all are listed while the cache is behind, and for a crowd of names', async () => {
  expect(await focus({ cached: undefined })).toMatchObject({ images: undefined });
  expect(await focus({ cached: crowd, named: crowd })).toMatchObject({ images: undefined, read: [] });
});
