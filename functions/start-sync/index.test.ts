import { afterAll, expect, onTestFinished, test } from 'vitest';
import { type Batch, noEvents, subjectNamed, subjectOf } from '../../shared/function.ts';
import { holdersOf, leaseName, slotsAnnotation } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { adoptSnapshot, diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { observeReadable } from '../../shared/runtime/observe.ts';
import { isUnreadable } from '../../shared/runtime/unreadable.ts';
import { aHolder, aLease, anImporter, at, aVMDiskImage, noClouds, start } from '../../test/support/builders/images.ts';
import { createImage } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import { decide, split } from './decide.ts';
import declaration from './index.ts';

const harness = await serveFunction(declaration);
afterAll(harness.close);

test('a new image gets its place, its slot and its DataVolume, and nothing more at its next event', async () => {
  const ref = { name: 'ubuntu', namespace: 'vmdi-farm' };
  const { spec } = await createImage(harness.kube, 'ubuntu');
  // The first reconcile finds no Lease and makes it; who may be downloading is not known before.
  expect(await harness.sweep()).toBe(202);
  expect(await harness.changed(VMDiskImage, ref)).toBe(202);
  const image = await harness.kube.get(VMDiskImage, ref);
  expect(image).toMatchObject({
    metadata: { finalizers: [diskImageFinalizer] },
    status: { phase: 'Syncing', attempts: 1 },
  });
  const lease = await harness.kube.get(Lease, { namespace: 'sync-operator', name: leaseName });
  expect(holdersOf(lease)).toMatchObject([
    { uid: image?.metadata.uid, image: 'vmdi-farm/ubuntu', revision: 1, attempt: 1 },
  ]);
  const before = await harness.kube.list(DataVolume, { namespace: 'vmdi-farm' });
  expect(before).toMatchObject([{ spec: { source: { s3: { url: spec.url, secretRef: 's3-reader' } } } }]);
  expect(await harness.changed(VMDiskImage, ref)).toBe(202);
  expect(await harness.kube.list(DataVolume, { namespace: 'vmdi-farm' })).toEqual(before);
  expect(harness.published.map(({ type }) => type)).toEqual([
    'ot.pelotech.disk-image.queued.v1',
    'ot.pelotech.disk-image.syncing.v1',
  ]);
});

test('images are listed once and then watched; without the permission to watch they are listed again and again', async () => {
  const listed = async (may: typeof declaration.may) => {
    let lists = 0;
    const one = await serveFunction({ ...declaration, may });
    onTestFinished(one.close);
    one.another((kube) => ({
      ...kube,
      pages: (resource, options) => {
        if (resource.kind === VMDiskImage.kind) lists++;
        return kube.pages(resource, options);
      },
    }));
    return () => lists;
  };
  const withoutWatch = declaration.may.map((one) => ({ ...one, verbs: one.verbs.filter((verb) => verb !== 'watch') }));
  const [watching, polling] = [await listed(declaration.may), await listed(withoutWatch)];
  await expect.poll(polling, { timeout: 10_000 }).toBeGreaterThan(2);
  expect(watching()).toBe(1);
});

test('an image that is gone is no error', async () => {
  expect(await harness.changed(VMDiskImage, { name: 'gone', namespace: 'vmdi-farm' })).toBe(202);
});

test.each(['audit', 'event'])(
  'a finalizer that a PUT removed from a finished image is added again after an %s',
  async (by) => {
    const ref = { name: `put-by-${by}`, namespace: 'vmdi-farm' };
    await createImage(harness.kube, ref.name);
    expect(await harness.changed(VMDiskImage, ref)).toBe(202);
    await harness.kube.patch(VMDiskImage, ref, { status: { phase: 'Succeeded' } }, { subresource: 'status' });
    await harness.kube.patch(VMDiskImage, ref, { metadata: { finalizers: null } });
    expect(by === 'audit' ? await harness.audit() : await harness.changed(VMDiskImage, ref)).toBe(202);
    const image = await harness.kube.get(VMDiskImage, ref);
    expect(image?.metadata.finalizers).toEqual([diskImageFinalizer]);
    expect(await harness.audit()).toBe(202);
    expect((await harness.kube.get(VMDiskImage, ref))?.metadata.resourceVersion).toBe(image?.metadata.resourceVersion);
  },
);

test('an image that leaves its rest has its slot while an old DataVolume of it still downloads', async () => {
  const ref = { name: 'debian', namespace: 'vmdi-farm' };
  const image = await createImage(harness.kube, 'debian');
  expect(await harness.changed(VMDiskImage, ref)).toBe(202);
  expect(await harness.kube.get(VMDiskImage, ref)).toMatchObject({ status: { phase: 'Syncing', attempt: 1 } });
  // Synced, and its slot given back; then another request makes its DataVolume, long after it was asked for.
  await harness.kube.patch(VMDiskImage, ref, { status: { phase: 'Succeeded' } }, { subresource: 'status' });
  const slots = { namespace: 'sync-operator', name: leaseName };
  await harness.kube.patch(Lease, slots, { metadata: { annotations: { [slotsAnnotation]: '[]' } } });
  await harness.kube.patch(VMDiskImage, ref, { spec: { url: `${image.spec.url}2` } });
  expect(await harness.changed(VMDiskImage, ref)).toBe(202);

  expect(await harness.kube.get(VMDiskImage, ref)).toMatchObject({ status: { phase: 'Queued', revision: 2 } });
  const holders = holdersOf(await harness.kube.get(Lease, slots)) ?? [];
  const its = holders.filter(({ uid }) => uid === image.metadata.uid);
  expect(its).toMatchObject([{ revision: 1, attempt: 1 }]);
});

test('an image that adopts a snapshot while its DataVolume still downloads has a slot, even if a user removed it from the Lease', async () => {
  const ref = { name: 'adopting', namespace: 'vmdi-farm' };
  const slots = { namespace: 'sync-operator', name: leaseName };
  await harness.kube.patch(Lease, slots, { metadata: { annotations: { [slotsAnnotation]: '[]' } } });
  const image = await createImage(harness.kube, 'adopting');
  expect(await harness.changed(VMDiskImage, ref)).toBe(202);
  const annotations = { [adoptSnapshot]: 'by-hand' };
  await harness.kube.patch(VMDiskImage, ref, { metadata: { annotations } });
  expect(await harness.changed(VMDiskImage, ref)).toBe(202);
  expect(await harness.kube.get(VMDiskImage, ref)).toMatchObject({ status: { phase: 'Snapshotting', revision: 2 } });
  await harness.kube.patch(Lease, slots, { metadata: { annotations: { [slotsAnnotation]: '[]' } } });
  expect(await harness.sweep()).toBe(202);
  const holders = holdersOf(await harness.kube.get(Lease, slots)) ?? [];
  expect(holders.filter(({ uid }) => uid === image.metadata.uid)).toMatchObject([{ revision: 1, attempt: 1 }]);
});

const notAllowed = {
  type: 'Ready',
  status: 'False',
  reason: 'SourceNotAllowed',
  message: '',
  lastTransitionTime: at(0),
} as const;

test('of five hundred images that failed no request names more than a URL holds', async () => {
  const failed = Array.from({ length: 500 }, (_, index) =>
    aVMDiskImage({ name: `i${index}`, status: { phase: 'Failed', revision: 1, attempt: 1, conditions: [notAllowed] } }),
  );
  const selectors: string[] = [];
  const lease = { metadata: { annotations: { [slotsAnnotation]: '[]' } } };
  const kube = {
    get: async (resource: unknown, { name }: { name: string }) =>
      resource === Lease ? lease : failed.find(({ metadata }) => metadata.name === name),
    list: async (_: unknown, { labelSelector }: { labelSelector?: string } = {}) => {
      selectors.push(labelSelector ?? '');
      return [];
    },
  } as unknown as Kube;
  const events = { ...noEvents, subjects: failed.map(subjectOf) };
  await declaration.observe({ kube, nowMs: 0, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 }, events);
  expect(selectors.join()).toContain('pelotech.ot/disk-image-uid');
  expect(Math.max(...selectors.map(({ length }) => length))).toBeLessThan(8000);
});

test('an importer that CDI creates after the deletion of the DataVolume, while the claim exists, is seen', async () => {
  const image = aVMDiskImage({ name: 'a', status: { phase: 'Queued', revision: 2 } });
  const read: string[] = [];
  const kube = {
    get: async (resource: unknown) =>
      resource === Lease ? aLease([{ ...aHolder(image, 1), revision: 1 }]) : undefined,
    list: async (resource: { kind: string }) => {
      if (resource === VMDiskImage) return [image];
      read.push(resource.kind);
      // CDI creates the Pod and the garbage collector deletes the claim before either is read.
      return resource === Pod && read.includes(PersistentVolumeClaim.kind) ? [anImporter(image)] : [];
    },
  } as unknown as Kube;
  const sweep = { subjects: [], messages: [], sweep: true, audit: false };
  const context = { kube, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0, nowMs: start };
  const decisions = await declaration.observe(context, sweep);
  expect(read.slice(0, 3)).toEqual([DataVolume.kind, PersistentVolumeClaim.kind, Pod.kind]);
  const actions = decisions.flatMap((one) => (isUnreadable(one) ? [] : split(one).flatMap(decide)));
  expect(actions.filter((action) => action.do === 'replace')).toEqual([]);
});

test('what was made for an image without status and finalizer is looked for, unless it was just created; of no more images than a URL holds', async () => {
  const asked: string[] = [];
  const images = Array.from({ length: 120 }, (_, index) => aVMDiskImage({ name: `i${index}`, finalizers: [] }));
  const lease = { metadata: { annotations: { [slotsAnnotation]: '[]' } } };
  const kube = {
    get: async (resource: unknown) => (resource === Lease ? lease : undefined),
    list: async (resource: unknown, { labelSelector }: { labelSelector?: string } = {}) => {
      if (resource === VMDiskImage) return images;
      if (labelSelector) asked.push(labelSelector);
      return [];
    },
  } as unknown as Kube;
  const sweep = { subjects: [], messages: [], sweep: true, audit: false };
  const context = { kube, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 };
  await declaration.observe({ ...context, nowMs: start }, sweep);
  expect(asked).toEqual([]);
  const decisions = await declaration.observe({ ...context, nowMs: start + 6_000 }, sweep);
  expect(asked.map((selector) => selector.match(/uid-i/g)?.length)).toEqual([91, 91, 91]);
  const written = decisions
    .flatMap((one) => (isUnreadable(one) ? [] : split(one).flatMap(decide)))
    .flatMap((action) => (action.do === 'patchStatus' ? action.of.metadata.name : []));
  expect(new Set(written).size).toBe(91);
});

test('an image whose status a user removes while a reconcile reads is left to the next reconcile, which looks for what was made for it', async () => {
  const wiped = aVMDiskImage({ name: 'wiped' });
  const lease = { metadata: { annotations: { [slotsAnnotation]: '[]' } } };
  const kube = {
    get: async (resource: unknown) => (resource === Lease ? lease : resource === VMDiskImage ? wiped : undefined),
    list: async () => [],
  } as unknown as Kube;
  const subject = { apiVersion: VMDiskImage.apiVersion, kind: VMDiskImage.kind, name: 'wiped', namespace: 'vmdi-farm' };
  const batch = { subjects: [subject], messages: [], sweep: false, audit: false };
  const context = { kube, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0, nowMs: start + 6_000 };
  const decisions = await declaration.observe(context, batch);
  const actions = decisions.flatMap((one) => (isUnreadable(one) ? [] : split(one).flatMap(decide)));
  expect(actions.filter((action) => 'of' in action && action.of === wiped)).toEqual([]);
});

test('a reconcile reads a hundred of a thousand finished images that events name, and requeues the others', async () => {
  let gets = 0;
  const kube = {
    get: async (resource: unknown) => {
      if (resource === VMDiskImage) gets++;
      return undefined;
    },
    list: async () => [],
  } as unknown as Kube;
  const { apiVersion, kind } = VMDiskImage;
  const subjects = Array.from({ length: 1000 }, (_, index) => ({
    apiVersion,
    kind,
    namespace: 'x',
    name: `i${index}`,
  }));
  const batch = { subjects, messages: [], sweep: false, audit: false };
  const context = { kube, nowMs: 0, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 };
  const decisions = await observeReadable(declaration, context, batch);
  expect(gets).toBe(100);
  const later = decisions
    .flatMap((one) => (isUnreadable(one) ? [] : declaration.decide(one)))
    .filter((action) => action.do === 'requeueAfter');
  expect(later).toHaveLength(900);
});

test('a fault of the policy is reported by the timers and after an edit of it, not at the event of an image', async () => {
  const metadata = { ...policyRef, uid: 'u', resourceVersion: '7', generation: 1, creationTimestamp: at(0) };
  const policyMap = { apiVersion: ConfigMap.apiVersion, kind: ConfigMap.kind, metadata, data: { concurrency: '0' } };
  const kube = {
    get: async (resource: unknown) => (resource === ConfigMap ? policyMap : undefined),
    list: async () => [],
    async *pages() {
      yield { items: [], resourceVersion: '1' };
    },
  } as unknown as Kube;
  const context = { kube, nowMs: start, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 };
  const toldAfter = async (of: Partial<Batch>) => {
    const decisions = await observeReadable(declaration, context, { ...noEvents, ...of });
    return decisions
      .flatMap((one) => (isUnreadable(one) ? [] : decide(one)))
      .flatMap((action) => (action.do === 'recordEvent' && action.about === policyMap ? [action.reason] : []));
  };
  const about = (resource: Resource, ref: { name: string }) => ({
    subjects: [subjectNamed(resource, { namespace: 'vmdi-farm', ...ref })],
  });
  for (const batch of [{ sweep: true }, { audit: true }, about(ConfigMap, policyRef)])
    expect(await toldAfter(batch)).toEqual(['QueuePaused']);
  expect(await toldAfter(about(VMDiskImage, { name: 'a' }))).toEqual([]);
});

test('a process that ends between a status and its event leaves the event to the next one, which publishes it once', async () => {
  const ref = { name: 'crash', namespace: 'vmdi-farm' };
  await createImage(harness.kube, 'crash');
  harness.published.length = 0;
  const ending = harness.another((client) => ({
    ...client,
    patch: async (resource, ...rest) => {
      const written = await client.patch(resource, ...rest);
      if (JSON.stringify(rest).includes('"Queued"')) throw new Error('the process ended');
      return written;
    },
  }));
  expect(await ending.changed(VMDiskImage, ref)).toBe(503);
  expect((await harness.kube.get(VMDiskImage, ref))?.status?.phase).toBe('Queued');
  expect(harness.published).toEqual([]);
  const next = harness.another((client) => client);
  const published = () =>
    harness.published.filter(({ subject }) => subject === 'vmdi-farm/crash').map(({ type }) => type);
  expect(await next.sweep()).toBe(202);
  expect(published()).toContain('ot.pelotech.disk-image.queued.v1');
  const all = published();
  expect(await next.sweep()).toBe(202);
  expect(published()).toEqual(all);
});

test('an image that was created after a line that allows it was added is never refused', async () => {
  const { kube } = harness;
  const spec = { url: 'https://images.example.com/b/late.img', sourceType: 'http', secretRef: undefined } as const;
  const ref = { name: 'late', namespace: 'tenant-a' };
  const before = await kube.get(ConfigMap, policyRef);
  await kube.patch(ConfigMap, policyRef, { data: { allowedSources: null } });
  let isFirst = true;
  const late = harness.another((client) => ({
    ...client,
    get: async (resource, of) => {
      const found = await client.get(resource, of);
      if (resource.kind === ConfigMap.kind && isFirst) {
        isFirst = false;
        await kube.patch(ConfigMap, policyRef, { data: { allowedSources: before?.data?.allowedSources } });
        await kube.create(Namespace, { metadata: { name: 'tenant-a' } });
        await createImage(kube, 'late', { namespace: 'tenant-a', spec });
      }
      return found;
    },
  }));
  expect(await late.audit()).toBe(202);
  const { history = [] } = (await kube.get(VMDiskImage, ref))?.status ?? {};
  expect(history.map(({ fact }) => fact)).toContain('Queued');
  expect(history.map(({ fact }) => fact)).not.toContain('Failed');
});
