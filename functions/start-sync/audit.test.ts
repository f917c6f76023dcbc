import { expect, test } from 'vitest';
import { noEvents } from '../../shared/function.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { diskImageFinalizer, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshotClass } from '../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/kinds/storage/storage-class.ts';
import type { Reason } from '../../shared/reasons/reason.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { observeReadable } from '../../shared/runtime/observe.ts';
import { isUnreadable } from '../../shared/runtime/unreadable.ts';
import { aLease, at, aVMDiskImage, noClouds, start } from '../../test/support/builders/images.ts';
import { known } from '../../test/support/harness/image-decisions.ts';
import { audit } from './audit.ts';
import { decide } from './decide.ts';
import declaration from './index.ts';

const { storageClass, snapshotClass } = aVMDiskImage().spec;
const storage = StorageClass.parse({ metadata: { name: storageClass }, provisioner: 'a' });
const snapshot = VolumeSnapshotClass.parse({ metadata: { name: snapshotClass }, driver: 'a' });

const lease = aLease([]);

/** A client that knows these images in a page, these classes, a Lease without holders, and no policy. */
const kubeOf = (images: readonly VMDiskImage[], classes: readonly { kind: string }[] = []) =>
  ({
    get: async (resource: Resource, { name }: { name: string }) =>
      [...images, lease].find(({ kind, metadata }) => kind === resource.kind && metadata.name === name),
    list: async ({ kind }: { kind: string }) => classes.filter((one) => one.kind === kind),
    async *pages() {
      yield { items: images, resourceVersion: '1' };
    },
  }) as unknown as Kube;

/** What an audit names, a row for each reconcile, and what it says of all. */
async function walk(kube: Kube) {
  const pages = audit({ kube });
  const rows = [];
  for (let page = await pages.next(); ; page = await pages.next()) {
    if (page.done) return { rows, totals: page.value };
    rows.push(page.value);
  }
}

const failedFor = (reason: Reason, name: string) =>
  known({
    name,
    finalizers: [diskImageFinalizer],
    status: {
      phase: 'Failed',
      observedGeneration: 1,
      conditions: [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: at(0) }],
    },
  });

test('a crowd whose Secrets are missing is looked at fifty at a time, and no Secret is read before that', async () => {
  const lacking = Array.from({ length: 120 }, (_, index) => failedFor('SecretMissing', `i${index}`));
  const { rows } = await walk(kubeOf(lacking, [storage, snapshot]));
  expect(rows.map(({ length }) => length)).toEqual([50, 50, 20]);
});

test('an image that failed for what is still so is not named', async () => {
  const reasons = ['StorageClassMissing', 'AttemptsSpent', 'Forbidden', 'SourceMissing'] as const;
  const images = reasons.map((reason, index) => failedFor(reason, 'abcd'.charAt(index)));
  expect((await walk(kubeOf(images))).rows).toEqual([]);
  const { rows } = await walk(kubeOf(images, [storage, snapshot]));
  expect(rows.flat().map(({ name }) => name)).toEqual(['a', 'c']);
});

test('how long the downloads took is told of all that finished', async () => {
  const done = (name: string, seconds: number) =>
    known({
      name,
      finalizers: [diskImageFinalizer],
      status: {
        phase: 'Succeeded',
        observedGeneration: 1,
        startedAt: at(0),
        snapshottingAt: at(seconds),
        completedAt: at(seconds + 4),
      },
    });
  const { rows, totals } = await walk(
    kubeOf([done('a', 60), done('b', 120), done('c', 600), aVMDiskImage({ name: 'new' })]),
  );
  expect(rows).toEqual([]);
  expect(totals).toEqual({
    count: 3,
    medianMs: 120_000,
    leastMs: 60_000,
    mostMs: 600_000,
    rate: undefined,
    longMs: 600_000,
    snapshotMs: 4000,
  });
});

test('the image that lost its snapshot before there was the condition Stalled gets it', async () => {
  const said = { reason: 'SnapshotLost', message: 'Gone.', lastTransitionTime: at(0) };
  const conditions = [
    { type: 'Ready', status: 'False' as const, ...said },
    { type: 'SnapshotLost', status: 'True' as const, ...said },
  ];
  const finalizers = [diskImageFinalizer];
  const kube = kubeOf([known({ finalizers, status: { phase: 'Succeeded', observedGeneration: 1, conditions } })]);
  const [audited = []] = (await walk(kube)).rows;
  // The caches have no image that waits or syncs, so that nothing else keeps the reconcile from being idle.
  const cached = async <T>(resource: unknown) => (resource === Lease ? [lease as T] : []);
  const context = { kube, cached, nowMs: start, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 };
  const decisions = await observeReadable(declaration, context, { ...noEvents, audit: true, audited });
  const actions = decisions.flatMap((one) => (isUnreadable(one) ? [] : decide(one)));
  const [written] = actions.flatMap((action) => (action.do === 'patchStatus' ? [action.status] : []));
  expect(written?.conditions).toMatchObject([
    ...conditions,
    { type: 'Stalled', status: 'True', reason: 'SnapshotLost' },
  ]);
});
