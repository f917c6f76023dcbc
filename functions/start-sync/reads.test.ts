import { expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import { noEvents, subjectOf } from '../../shared/function.ts';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { diskImageFact } from '../../shared/images/facts.ts';
import { holdersOf } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage, type VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshotClass } from '../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/kinds/storage/storage-class.ts';
import { policyRef } from '../../shared/policy.ts';
import { Conflict } from '../../shared/runtime/errors.ts';
import { isUnreadable } from '../../shared/runtime/unreadable.ts';
import { aDataVolume, aHolder, aLease, at, aVMDiskImage, noClouds, start } from '../../test/support/builders/images.ts';
import declaration from './index.ts';

const image = (name: string, status: VMDiskImageStatus) =>
  aVMDiskImage({
    name,
    status: { revision: 1, attempt: 0, contentDigest: contentDigest(aVMDiskImage({ name })), ...status },
  });
const syncing = image('syncing', { phase: 'Syncing', attempt: 1, dataVolume: 'seen' });
const queued = image('queued', { phase: 'Queued', queuedAt: at(0) });

const isDone = { phase: 'Succeeded', attempt: 1 } as const;
const pinned = image('pinned', {
  ...isDone,
  conditions: [{ type: 'RevisionPinned', status: 'True', reason: 'Pinned', message: '', lastTransitionTime: at(0) }],
});
const failed = image('failed', { phase: 'Failed', attempt: 1 });

const policy = ConfigMap.parse({
  metadata: { ...policyRef, resourceVersion: '1' },
  data: { concurrency: '1', inspectTimeout: '0s' },
});
const leaseOf = (holders: readonly VMDiskImage[], resourceVersion = '1') => {
  const lease = aLease(holders.map((one) => aHolder(one)));
  return { ...lease, metadata: { ...lease.metadata, resourceVersion } };
};
const { storageClass, snapshotClass } = queued.spec;
const storage = StorageClass.parse({ metadata: { name: storageClass }, provisioner: 'a' });
const snapshot = VolumeSnapshotClass.parse({ metadata: { name: snapshotClass }, driver: 'a' });

interface Given {
  event: VMDiskImage | ConfigMap | 'sweep' | 'audit';
  holders: readonly VMDiskImage[];
  /** What there is, where it is not the four images above, and one slot. */
  there?: readonly (readonly [Resource, readonly KubernetesObject[]])[];
  /** What the caches have, where that is not what there is. */
  cached?: Map<Resource, readonly KubernetesObject[] | undefined>;
}

/** What a reconcile of an event reads live, where one slot exists, and what it publishes of unsettled images. */
async function seen({ event, holders, there: more = [], cached = new Map() }: Given) {
  const read: string[] = [];
  const lease = leaseOf(holders);
  const there = new Map<Resource, readonly KubernetesObject[]>([
    [VMDiskImage, [syncing, queued, pinned, failed]],
    [ConfigMap, [policy]],
    [Lease, [lease]],
    [StorageClass, [storage]],
    [VolumeSnapshotClass, [snapshot]],
    [Secret, []],
    ...more,
  ]);
  const get = async (resource: Resource, ref: ObjectReference) => {
    read.push(`get ${resource.kind}`);
    return there.get(resource)?.find(({ metadata }) => keyOf(metadata) === keyOf(ref));
  };
  const list = async (resource: Resource) => {
    read.push(`list ${resource.kind}`);
    return there.get(resource) ?? [];
  };
  const context = {
    kube: { get, list, pages: async function* () {} },
    cached: async (resource: Resource) => (cached.has(resource) ? cached.get(resource) : there.get(resource)),
    ...{ nowMs: start, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 },
  };
  const batch = { ...noEvents, ...(typeof event === 'string' ? { [event]: true } : { subjects: [subjectOf(event)] }) };
  const found = await declaration.observe(context as unknown as Parameters<typeof declaration.observe>[0], batch);
  const { split, decide } = declaration;
  const decided = found.flatMap((one) => (isUnreadable(one) ? [] : (split?.(one) ?? [])).flatMap(decide));
  return { read, decided, told: found.flatMap((one) => ('unsettled' in one ? declaration.decide(one) : [])) };
}

/** The holders that a reconcile writes into the Lease; undefined if it leaves it as it is. */
function holdersIn(actions: readonly Action[]) {
  const written = actions.find((action) => action.do === 'replace' && action.resource === Lease);
  return written?.do === 'replace' ? holdersOf(written.object as Lease)?.map((holder) => holder.image) : undefined;
}

const reads = async (given: Given) => (await seen(given)).read;

const classes = ['list StorageClass', 'list VolumeSnapshotClass'];
const live = ['get ConfigMap', 'get Lease'];

test.each([
  ['an image that waits', queued],
  ['a running download', syncing],
])('an event of %s, while all slots are taken, reads the image', async (_, event) => {
  expect(await reads({ event, holders: [syncing] })).toEqual(['get VMDiskImage']);
});

test('a free slot is given by a policy and a Lease that are read, and by classes that the caches have', async () => {
  const read = await reads({ event: queued, holders: [] });
  expect(read).toEqual(expect.arrayContaining(live));
  expect(read).not.toEqual(expect.arrayContaining(['list StorageClass']));
});

test('a class that a cache lacks is read', async () => {
  const cached = new Map([[VolumeSnapshotClass, []]]);
  expect(await reads({ event: queued, holders: [], cached })).toEqual(expect.arrayContaining(classes));
});

test.each([
  ['policy', ConfigMap],
  ['Lease', Lease],
])('while the cache of the %s is behind, both are read', async (_, resource) => {
  const cached = new Map([[resource, undefined]]);
  expect(await reads({ event: syncing, holders: [syncing], cached })).toEqual([...live, 'get VMDiskImage']);
});

test('an event of the policy is decided by nothing that is cached', async () => {
  const read = await reads({ event: policy, holders: [syncing] });
  expect(read).toEqual(expect.arrayContaining([...live, ...classes, 'list VMDiskImage']));
});

test('a sweep takes the images that wait from the cache; the end of an audit lists them', async () => {
  const read = await reads({ event: 'sweep', holders: [syncing] });
  expect(read).toEqual(expect.arrayContaining([...live, 'get DataVolume']));
  expect(read).not.toContain('list VMDiskImage');
  expect(await reads({ event: 'audit', holders: [syncing] })).toContain('list VMDiskImage');
});

test('a sweep frees the slot of an attempt that is over, although the cache has not heard of that', async () => {
  const isOver = image('syncing', { phase: 'Failed', attempt: 1 });
  const there = [[VMDiskImage, [isOver, queued]]] as const;
  const { decided } = await seen({
    event: 'sweep',
    holders: [syncing],
    there,
    cached: new Map([[VMDiskImage, [syncing]]]),
  });
  expect(holdersIn(decided)).toEqual([]);
});

test('a Lease that another process wrote has the event come again', async () => {
  const cached = new Map([[Lease, [leaseOf([], '0')]]]);
  await expect(reads({ event: queued, holders: [syncing], cached })).rejects.toThrow(Conflict);
});

test.each([
  ['an image that waits', queued, []],
  ['a running download', syncing, []],
  ['an image that is pinned, which asks for no slot', pinned, ['vmdi-farm/pinned']],
  ['an image that failed', failed, ['vmdi-farm/failed']],
])('an event of %s tells follow-sync of it only if it is unsettled', async (_, event, expected) => {
  for (const cached of [new Map(), new Map([[Lease, undefined]])]) {
    const { told } = await seen({ event, holders: [syncing], cached });
    expect(told.map((action) => action.do === 'publish' && [action.type, action.subject])).toEqual(
      expected.map((subject) => [diskImageFact('unsettled'), subject]),
    );
  }
});

test('the end of a first download is read by the name of its DataVolume, and nothing of another download', async () => {
  const over = image('over', { phase: 'Snapshotting', attempt: 1 });
  const succeeded = aDataVolume(over, { phase: 'Succeeded' });
  const there = [
    [VMDiskImage, [syncing, over]],
    [DataVolume, [succeeded]],
    [ConfigMap, [{ ...policy, data: { ...policy.data, concurrency: '2' } }]],
  ] as const;
  const { read, decided } = await seen({ event: over, holders: [syncing, over], there });
  expect(read.filter((one) => /DataVolume|Pod|Claim/.test(one))).toEqual(['get DataVolume']);
  expect(holdersIn(decided)).toEqual(['vmdi-farm/syncing']);
});

test('a holder that downloads as the cache has it keeps its slot, although a list shows that its attempt is over by now', async () => {
  const finished = image('finished', { phase: 'Succeeded', attempt: 1 });
  const newer = (one: VMDiskImage) => ({ ...one, metadata: { ...one.metadata, resourceVersion: '99' } });
  const isOver = image('syncing', { phase: 'Retrying', attempt: 1, dataVolume: 'seen', nextAttemptAt: at(60) });
  const there = [
    [VMDiskImage, [isOver, newer(queued), finished]],
    [ConfigMap, [{ ...policy, data: { ...policy.data, concurrency: '2' } }]],
  ] as const;
  const cached = new Map([[VMDiskImage, [syncing, queued]]]);
  const { read, decided } = await seen({ event: finished, holders: [syncing], there, cached });
  expect(read).toContain('list VMDiskImage');
  expect(holdersIn(decided)).toBeUndefined();
});
