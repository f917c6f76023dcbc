import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { leaseName, slotsAnnotation } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { imageUidLabel, VMDiskImage, type VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { policyRef } from '../../shared/policy.ts';
import { at, aVMDiskImage } from '../../test/support/builders/images.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';
import { readDonors } from './read/donors.ts';

const harness = await serveFunction(declaration);
afterAll(harness.close);
const namespace = 'vmdi-farm';

beforeAll(() =>
  harness.kube.create(Lease, {
    metadata: { namespace: 'sync-operator', name: leaseName, annotations: { [slotsAnnotation]: '[]' } },
    spec: { acquireTime: '2025-01-01T00:00:00.000000Z' },
  }),
);

/** An image that was inspected to be of that content. */
async function image(name: string, content: string, status: VMDiskImageStatus) {
  const { apiVersion, kind, spec } = aVMDiskImage({ name });
  const made = await harness.kube.create(VMDiskImage, { apiVersion, kind, metadata: { name, namespace }, spec });
  const source = { bytes: 5, content, inspectedAt: at(1), queuedAt: at(0) };
  const inspected = {
    type: 'SourceInspected',
    status: 'True',
    reason: 'Inspected',
    message: '',
    lastTransitionTime: at(0),
  };
  const ready = { type: 'Ready', status: 'True', reason: 'SnapshotReady', message: '', lastTransitionTime: at(0) };
  const conditions = status.phase === 'Succeeded' ? [inspected, ready] : [inspected];
  const digest = contentDigest(made);
  const written = { revision: 1, contentDigest: digest, queuedAt: at(0), source, conditions, ...status };
  return harness.kube.patch(VMDiskImage, { namespace, name }, { status: written }, { subresource: 'status' });
}

async function snapshotOf({ metadata: { name, uid } }: VMDiskImage, status: object = {}) {
  const ref = { namespace, name: `${name}-r1` };
  await harness.kube.create(VolumeSnapshot, {
    metadata: { ...ref, labels: { [imageUidLabel]: uid } },
    spec: { volumeSnapshotClassName: 'ebs-snapshot', source: { persistentVolumeClaimName: name } },
  });
  const usable = { readyToUse: true, restoreSize: '24Gi', ...status };
  await harness.kube.patch(VolumeSnapshot, ref, { status: usable }, { subresource: 'status' });
}

const donor = (name: string, content: string, status: VMDiskImageStatus = {}) =>
  image(name, content, { phase: 'Succeeded', snapshot: { name: `${name}-r1`, revision: 1 }, ...status });

/** What an image of that content is made from when it gets a slot. */
async function madeFrom(content: string) {
  const name = `heir-of-${content}`;
  const { metadata } = await image(name, content, { phase: 'Queued', attempt: 0, attempts: 0 });
  expect(await harness.changed(VMDiskImage, { namespace, name })).toBe(202);
  const [volume] = await harness.kube.list(DataVolume, { labelSelector: `${imageUidLabel}=${metadata.uid}` });
  const { status } = (await harness.kube.get(VMDiskImage, { namespace, name })) ?? {};
  // The slot is free for the next.
  await harness.kube.delete(VMDiskImage, { namespace, name });
  await harness.kube.patch(VMDiskImage, { namespace, name }, { metadata: { finalizers: null } });
  if (volume) await harness.kube.delete(DataVolume, volume.metadata);
  await harness.sweep();
  return { source: volume?.spec?.source, storage: volume?.spec?.storage, status };
}

describe('an image that gets a slot', () => {
  test('is cloned from the snapshot of another of its content, in the size of that', async () => {
    await snapshotOf(await donor('first', 'same'));
    const { source, storage, status } = await madeFrom('same');
    expect(source).toEqual({ snapshot: { namespace, name: 'first-r1' } });
    expect(storage).toEqual({ storageClassName: 'gp3' });
    expect(status).toMatchObject({ phase: 'Syncing', sharedFrom: { image: 'first', snapshot: 'first-r1' } });
    expect(status?.message).toContain('VMDiskImage first, which has the same content');
  });

  test.each<[string, VMDiskImageStatus, object | undefined]>([
    ['whose snapshot is gone', {}, undefined],
    ['whose snapshot is not ready', {}, { readyToUse: false }],
    ['whose snapshot is of no known size', {}, { restoreSize: '0' }],
    ['that uses an earlier revision', { revision: 2 }, {}],
    ['that was inspected for an earlier revision', { queuedAt: at(9) }, {}],
    ['that adopted its snapshot', { adoption: { snapshot: 'x', revision: 1 } }, {}],
  ])('is downloaded beside another %s', async (_, status, snapshot) => {
    const content = `other-${crypto.randomUUID().slice(0, 8)}`;
    const made = await donor(`donor-${content}`, content, status);
    if (snapshot) await snapshotOf(made, snapshot);
    const { source, status: begun } = await madeFrom(content);
    expect(source).toHaveProperty('s3');
    expect(begun).toMatchObject({ phase: 'Syncing' });
    expect(begun).not.toHaveProperty('sharedFrom');
  });
});

describe('a slot that is free', () => {
  const policy = async (data: Record<string, string | null>) => {
    await harness.kube.patch(ConfigMap, policyRef, { data });
  };
  /** Of these waiting images, in this order, the ones that get a slot at the sweep. */
  async function begun(waiting: readonly [name: string, annotations?: Record<string, string>][]) {
    const refs = [];
    for (const [index, [name, annotations = {}]] of waiting.entries()) {
      const content = `content-of-${name.split('-')[0]}`;
      await image(name, content, { phase: 'Queued', attempt: 0, attempts: 0, queuedAt: at(index) });
      const source = { bytes: 5, content, inspectedAt: at(1), queuedAt: at(index) };
      await harness.kube.patch(VMDiskImage, { namespace, name }, { status: { source } }, { subresource: 'status' });
      await harness.kube.patch(VMDiskImage, { namespace, name }, { metadata: { annotations } });
      refs.push({ namespace, name });
    }
    await harness.sweep();
    const found = await Promise.all(refs.map((ref) => harness.kube.get(VMDiskImage, ref)));
    for (const ref of refs) {
      await harness.kube.delete(VMDiskImage, ref);
      await harness.kube.patch(VMDiskImage, ref, { metadata: { finalizers: null } });
    }
    for (const { metadata } of await harness.kube.list(DataVolume, { namespace }))
      await harness.kube.delete(DataVolume, metadata);
    await harness.sweep();
    return found.filter((one) => one?.status?.phase === 'Syncing').map((one) => one?.metadata.name);
  }

  test('goes to an image that an admin lets go ahead, wherever it is in the queue of a spent budget', async () => {
    await policy({ concurrency: '2', inspectTimeout: '30s', egressBudget: '1/1d' });
    const day = new Date().toISOString().slice(0, 10);
    const spent = { 'pelotech.ot/egress': JSON.stringify({ [day]: { lab: 5 } }) };
    const lease = { namespace: 'sync-operator', name: leaseName };
    await harness.kube.patch(Lease, lease, { metadata: { annotations: spent } });
    const ahead = { 'pelotech.ot/ignore-budget': 'true' };
    expect(await begun([['one'], ['two'], ['three'], ['four'], ['five'], ['six', ahead]])).toEqual(['six']);
    // Nor does one of the same content before it, which has to wait, keep it from that.
    expect(await begun([['one'], ['same-1'], ['same-2', ahead]])).toEqual(['same-2']);
    await harness.kube.patch(Lease, lease, { metadata: { annotations: { 'pelotech.ot/egress': null } } });
    await policy({ egressBudget: null });
  });
});

test('of a content that many wait for, only images that can be cloned from are read', async () => {
  await snapshotOf(await donor('many', 'content-many'));
  const waiting = await Promise.all(
    Array.from({ length: 12 }, (_, index) => image(`waits-${index}`, 'content-many', { phase: 'Queued', attempt: 0 })),
  );
  let read = 0;
  const { list } = harness.kube;
  const pages: typeof harness.kube.pages = async function* (resource, options) {
    for await (const page of harness.kube.pages(resource, options)) {
      read += page.items.length;
      yield page;
    }
  };
  const found = await readDonors({ list, pages }, waiting);
  expect([...found]).toEqual([[`${namespace}/content-many`, { image: 'many', snapshot: 'many-r1' }]]);
  expect(read).toBe(1);
});
