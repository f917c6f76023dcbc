import { expect, test } from 'vitest';
import { noEvents, type Subject, subjectOf } from '../../../shared/function.ts';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import type { VMDiskImage, VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import {
  aDataVolume,
  aHolder,
  anImporter,
  at,
  aVMDiskImage,
  type ImageOptions,
  start,
} from '../../../test/support/builders/images.ts';
import type { ReadVolumes } from './attempts.ts';
import { isIdle } from './idle.ts';
import { readNamed } from './named.ts';

const image = (name: string, status: VMDiskImageStatus, more: ImageOptions = {}) => {
  const bare = aVMDiskImage({ name, ...more });
  return aVMDiskImage({
    name,
    ...more,
    status: { revision: 1, attempt: 1, contentDigest: contentDigest(bare), ...status },
  });
};

const syncing = image('syncing', { phase: 'Syncing', dataVolume: 'seen' });
const begun = image('begun', { phase: 'Syncing' });

const waits = { phase: 'Queued', attempt: 0, queuedAt: at(0) } as const;
const queued = image('queued', waits);
const isFalse = { status: 'False', message: '', lastTransitionTime: at(1) } as const;
const verdict = { type: 'SourceInspected', reason: 'SourceUnreachable', ...isFalse };
const source = { inspectedAt: at(1), queuedAt: waits.queuedAt };
const unreachable = image('unreachable', { ...waits, source, conditions: [verdict] });
const paused = { type: 'Ready', reason: 'QueuePaused', ...isFalse };
const stopped = image('stopped', { ...waits, source, conditions: [paused, verdict] });
const uninspected = image('uninspected', { phase: 'Syncing', dataVolume: 'seen', source, conditions: [verdict] });
const done = image('done', { phase: 'Succeeded' });
const dying = image('dying', { phase: 'Succeeded' }, { deleted: true });

interface Given {
  events: readonly (VMDiskImage | DataVolume | Lease | Pod)[];
  cached?: readonly VMDiskImage[];
  holders?: readonly VMDiskImage[];
  /** The DataVolumes that exist: by default those of the holders. */
  dataVolumes?: readonly DataVolume[];
}

async function idle({
  events,
  holders = [syncing],
  cached = [...holders],
  dataVolumes = holders.map((one) => aDataVolume(one)),
}: Given) {
  const read: string[] = [];
  const objects = [...events.filter((one) => one.kind === 'VMDiskImage'), ...cached];
  const get = async ({ kind }: { kind: string }, ref: ObjectReference) => {
    read.push(`${kind} ${ref.name}`);
    return objects.find((one) => one.kind === kind && keyOf(one.metadata) === keyOf(ref));
  };
  const kube = { get } as unknown as Kube;
  const batch = { ...noEvents, subjects: events.map((one): Subject => subjectOf(one)) };
  const named = await readNamed({ kube, cached: async () => cached as never, batch });
  const readVolumes: ReadVolumes = async (held) => {
    read.push(...held.map((one) => `DataVolume of ${one.image?.metadata.name}`));
    return dataVolumes;
  };
  const slots = {
    holders: holders.map((one) => aHolder(one)),
    policy: parsePolicy({ data: { concurrency: '1', inspectTimeout: '0s' } }),
    bytesLeft: undefined,
    nowMs: start,
    beside: { busy: new Set<string>(), room: 1, isAwaited: false },
    readVolumes,
  };
  return { isIdle: named && (await isIdle(batch, named, slots)), read };
}

test('a running download costs a read of its image, and the end of a source volume none', async () => {
  expect(await idle({ events: [syncing] })).toEqual({ isIdle: true, read: ['VMDiskImage syncing'] });
  expect(await idle({ events: [gone] })).toEqual({ isIdle: true, read: [] });
});

test('a download that has just begun costs a read of its DataVolume, too, and of no other', async () => {
  const another = image('another', { phase: 'Syncing' });
  const read = ['VMDiskImage begun', 'DataVolume of begun'];
  expect(await idle({ events: [begun], holders: [begun, another] })).toEqual({ isIdle: true, read });
});

const retrying = (nextAttemptAt: string) => image('retrying', { phase: 'Retrying', nextAttemptAt });
const gone = aDataVolume(done);

test.each<[string, Given, boolean]>([
  ['of a finished image', { events: [done] }, true],
  ['of an image that waits for its snapshot', { events: [image('x', { phase: 'Snapshotting' })] }, true],
  ['of the source volume that is deleted', { events: [gone] }, true],
  [
    'beside images that wait for a slot, or for their next attempt',
    { events: [done], cached: [syncing, queued, retrying(at(60))] },
    true,
  ],
  ['of an image that waits', { events: [queued], cached: [syncing, queued] }, true],
  ['of an image that waits, while a slot is free', { events: [queued], holders: [] }, false],
  [
    'of an image that waits and does not say yet that its source cannot be reached',
    { events: [unreachable], cached: [syncing, unreachable] },
    false,
  ],
  ['of an image whose status says that the queue is stopped', { events: [stopped], cached: [syncing, stopped] }, true],
  ['of an image that syncs uninspected', { events: [uninspected], holders: [uninspected] }, true],
  ['of an image that waits with a slot', { events: [queued], holders: [queued] }, false],
  ['of an image that waits again', { events: [image('x', { phase: 'Queued', attempt: 1 })] }, false],
  ['of an image that waits and has spent its attempts', { events: [image('x', { ...waits, attempts: 9 })] }, false],
  [
    'of an image that waits and is of another content',
    { events: [image('x', { ...waits, contentDigest: 'other' })] },
    false,
  ],
  ['of an image that failed', { events: [image('x', { phase: 'Failed' })] }, false],
  ['of a finished image that is deleted', { events: [image('x', { phase: 'Succeeded' }, { deleted: true })] }, true],
  ['of a finished image that is deleted with its slot', { events: [dying], holders: [dying], cached: [] }, false],
  ['of an image that is deleted while it waits', { events: [image('x', waits, { deleted: true })] }, false],
  ['of an image that has no finalizer', { events: [image('x', { phase: 'Succeeded' }, { finalizers: [] })] }, false],
  ['of an image of another content', { events: [image('x', { phase: 'Succeeded', contentDigest: 'other' })] }, false],
  ['of a finished image that has a slot', { events: [done], holders: [done], cached: [] }, false],
  ['of an image that syncs without a slot', { events: [syncing], holders: [] }, false],
  ['of a DataVolume that is deleted while its image syncs', { events: [aDataVolume(syncing)] }, false],
  [
    'of a download that has just begun and is over',
    { events: [begun], holders: [begun], dataVolumes: [aDataVolume(begun, { phase: 'Succeeded' })] },
    false,
  ],
  ['of an importer that ended while all download', { events: [anImporter(done)] }, true],
  [
    'of an importer that ended with its download',
    { events: [anImporter(syncing)], dataVolumes: [aDataVolume(syncing, { phase: 'Succeeded' })] },
    false,
  ],
  ['of the Lease', { events: [Lease.parse({ metadata: { name: 'sync-slots', namespace: 'sync-operator' } })] }, false],
  ['beside a new image', { events: [done], cached: [syncing, aVMDiskImage({ name: 'new' })] }, false],
  ['beside an attempt that is due', { events: [done], cached: [syncing, retrying(at(-1))] }, false],
  ['beside a free slot and an image that waits', { events: [done], holders: [], cached: [queued] }, false],
  ['beside an image that was given a slot and has not begun', { events: [done], holders: [queued] }, false],
  ['of one whose DataVolume is not made', { events: [begun], holders: [begun], dataVolumes: [] }, false],
  [
    'beside one whose own event will ask for its DataVolume',
    { events: [done], holders: [begun], dataVolumes: [] },
    true,
  ],
])('an event %s', async (_, given, expected) => {
  expect((await idle(given)).isIdle).toBe(expected);
});
