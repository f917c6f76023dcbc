import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { diskImageFact } from '../../shared/images/facts.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import {
  diskImageFinalizer,
  imageUidLabel,
  managedBy,
  VMDiskImage,
  type VMDiskImageStatus,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference, Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../shared/policy.ts';
import type { ApiError } from '../../shared/runtime/errors.ts';
import { at } from '../../test/support/builders/images.ts';
import { createImage, createMachine } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const harness = await serveFunction(declaration);
afterAll(harness.close);

await harness.kube.create(Namespace, { metadata: { name: 'lab' } });

const policy = policyRef;
const setPolicy = (data: Record<string, string | null>) => harness.kube.patch(ConfigMap, policy, { data });
const ofImage = (name: string) => ({ name, namespace: 'vmdi-farm' });
const prunable = diskImageFact('prunable');
const told = (ref: ObjectReference) => harness.message(prunable, ref);

const held = { finalizers: [diskImageFinalizer] };

/** An image with a snapshot, as its status says. */
async function createReady(name: string, more: VMDiskImageStatus = {}, annotations: Record<string, string> = {}) {
  const status: VMDiskImageStatus = {
    phase: 'Succeeded',
    snapshot: { name: `${name}-r1`, revision: 1 },
    conditions: [{ type: 'Ready', status: 'True', reason: 'x', message: '', lastTransitionTime: at(0) }],
    ...more,
  };
  const made = await createImage(harness.kube, name, { metadata: { ...held, annotations }, status });
  const labels = { ...managedBy, [imageUidLabel]: made.metadata.uid };
  const snapshot = { metadata: { name: `${name}-r1`, namespace: 'vmdi-farm', labels } };
  await harness.kube.create(VolumeSnapshot, { ...snapshot, spec: { source: { persistentVolumeClaimName: 'x' } } });
}

const imageOf = (name: string) => harness.kube.get(VMDiskImage, ofImage(name));
const eventsOf = async (name: string) =>
  (await harness.kube.list(Event, { namespace: 'vmdi-farm', fieldSelector: `involvedObject.name=${name}` })).map(
    (event) => (event as unknown as { reason: string }).reason,
  );

/** A snapshot of the image of that uid, which stays until its finalizer is removed. */
const createHeld = (snapshot: ObjectReference, uid: string) =>
  harness.kube.create(VolumeSnapshot, {
    metadata: { ...snapshot, labels: { ...managedBy, [imageUidLabel]: uid }, finalizers: ['test/hold'] },
    spec: { source: { persistentVolumeClaimName: 'x' } },
  });

test('a deleted image goes when its snapshot is gone, not before', async () => {
  const ref = ofImage('ubuntu');
  const snapshot = ofImage('ubuntu-00000000-r1');
  const { metadata: made } = await createImage(harness.kube, 'ubuntu', { metadata: held });
  await createHeld(snapshot, made.uid);
  await harness.kube.delete(VMDiskImage, ref);
  expect(await told(ref)).toBe(202);
  expect((await harness.kube.get(VolumeSnapshot, snapshot))?.metadata.deletionTimestamp).toBeDefined();
  expect(await harness.kube.get(VMDiskImage, ref)).toBeDefined();
  await harness.kube.patch(VolumeSnapshot, snapshot, { metadata: { finalizers: null } });
  expect(await told(ref)).toBe(202);
  expect(await harness.kube.get(VMDiskImage, ref)).toBeUndefined();
  expect(harness.published.map(({ type }) => type)).toEqual(['ot.pelotech.disk-image.pruned.v1']);
});

test('an image that adopted a snapshot goes alone: what was there before it stays', async () => {
  const ref = ofImage('rolled-out');
  const golden = ofImage('golden');
  const source = { volumeSnapshotContentName: 'content' };
  await harness.kube.create(VolumeSnapshot, { metadata: golden, spec: { source } });
  const status = { phase: 'Succeeded', snapshot: { name: 'golden', revision: 1 } } as const;
  await createImage(harness.kube, 'rolled-out', { metadata: held, status });
  await harness.kube.delete(VMDiskImage, ref);
  expect(await told(ref)).toBe(202);
  expect(await harness.kube.get(VMDiskImage, ref)).toBeUndefined();
  expect((await harness.kube.get(VolumeSnapshot, golden))?.metadata.deletionTimestamp).toBeUndefined();
});

describe('a deleted image that machines use', () => {
  test('stays with its snapshot, reports its users, and is removed with the last of them', async () => {
    await createReady('held');
    await createMachine(harness.kube, 'held-a', 'held');
    await createMachine(harness.kube, 'held-b', 'held');
    await harness.kube.delete(VMDiskImage, ofImage('held'));
    expect(await told(ofImage('held'))).toBe(202);
    const condition = async () => conditionOf((await imageOf('held'))?.status?.conditions, 'DeletionHeld');
    expect(await condition()).toMatchObject({
      status: 'True',
      message: expect.stringContaining('lab/held-a, lab/held-b'),
    });
    expect(await eventsOf('held')).toEqual(['DeletionHeld']);
    const before = (await imageOf('held'))?.metadata.resourceVersion;
    expect(await harness.audit()).toBe(202);
    expect((await imageOf('held'))?.metadata.resourceVersion).toBe(before);

    await harness.kube.delete(VirtualMachine, { name: 'held-a', namespace: 'lab' });
    await told(ofImage('held'));
    expect((await condition())?.message).toContain('used by 1 machine: lab/held-b.');
    expect((await harness.kube.get(VolumeSnapshot, ofImage('held-r1')))?.metadata.deletionTimestamp).toBeUndefined();
    await harness.kube.delete(VirtualMachine, { name: 'held-b', namespace: 'lab' });
    await told(ofImage('held'));
    await told(ofImage('held'));
    expect(await imageOf('held')).toBeUndefined();
    expect(await harness.kube.get(VolumeSnapshot, ofImage('held-r1'))).toBeUndefined();
  });
});

test('the namespace of an image is deleted although a machine elsewhere has its disk from the image', async () => {
  const namespace = 'ends';
  const ref = { name: 'ends', namespace };
  await harness.kube.create(Namespace, { metadata: { name: namespace } });
  await setPolicy({ imageNamespaces: 'vmdi-farm ends' });
  const { uid } = (await createImage(harness.kube, 'ends', { namespace, metadata: held })).metadata;
  const snapshot = { ...ref, name: 'ends-00000000-r1' };
  await createHeld(snapshot, uid);
  const user = { name: 'elsewhere', namespace: 'lab' };
  await createMachine(harness.kube, user.name, 'ends', { spec: { vmDiskImageRef: ref } });
  const ready = { type: 'DiskReady', status: 'True', reason: 'x', message: '', lastTransitionTime: at(0) };
  const status = { rootDisk: { name: 'root', image: uid, revision: 1 }, conditions: [ready] };
  await harness.kube.patch(VirtualMachine, user, { status }, { subresource: 'status' });
  await harness.kube.delete(VMDiskImage, ref);
  await told(ref);
  expect((await harness.kube.get(VMDiskImage, ref))?.status?.conditions).toMatchObject([
    { type: 'DeletionHeld', status: 'True' },
  ]);

  await harness.kube.delete(Namespace, { name: namespace });
  await harness.kube.delete(VolumeSnapshot, snapshot);
  await harness.kube.patch(VolumeSnapshot, snapshot, { metadata: { finalizers: null } });
  expect(await told(ref)).toBe(202);
  expect(await harness.kube.get(VMDiskImage, ref)).toBeUndefined();
});

describe('an unused image', () => {
  const unused = { references: { count: 0, by: [] }, unreferencedSince: at(0) };
  afterEach(() => setPolicy({ prune: null, pruneAfter: null }));

  test('stays under the policy as it is installed', async () => {
    await createReady('default', unused);
    expect(await harness.audit()).toBe(202);
    expect((await imageOf('default'))?.metadata.deletionTimestamp).toBeUndefined();
    expect(await eventsOf('default')).toEqual([]);
  });
  test('is named once under DryRun', async () => {
    await createReady('dry', unused);
    await setPolicy({ prune: 'DryRun', pruneAfter: '1h' });
    expect(await harness.audit()).toBe(202);
    expect(await harness.audit()).toBe(202);
    expect(await eventsOf('dry')).toEqual(['WouldBePruned']);
    expect((await imageOf('dry'))?.metadata.deletionTimestamp).toBeUndefined();
  });
  test('is deleted as soon as the policy allows it; a kept, used or uncounted image stays', async () => {
    await createReady('goes', unused);
    await createReady('kept', unused, { 'pelotech.ot/keep': '' });
    await createReady('used', unused);
    await createMachine(harness.kube, 'user', 'used');
    await createReady('new');
    await setPolicy({ prune: 'WhenUnreferenced', pruneAfter: '1h' });
    expect(await harness.changed(ConfigMap, policy)).toBe(202);
    for (const name of ['kept', 'used', 'new'])
      expect((await imageOf(name))?.metadata.deletionTimestamp).toBeUndefined();
    expect((await imageOf('goes'))?.metadata.deletionTimestamp).toBeDefined();
    await told(ofImage('goes'));
    await told(ofImage('goes'));
    expect(await imageOf('goes')).toBeUndefined();
    expect(await eventsOf('goes')).toEqual(['Pruned']);
    expect(harness.published.at(-1)).toMatchObject({ subject: 'vmdi-farm/goes', data: { rule: 'WhenUnreferenced' } });
  });
});

describe('between the look and the DELETE', () => {
  const unused = { references: { count: 0, by: [] }, unreferencedSince: at(0) };
  afterEach(() => setPolicy({ prune: null, pruneAfter: null }));

  /** An instance right before whose first DELETE of that kind something else happens. */
  function overtaken(kind: Resource, happens: () => Promise<unknown>) {
    const answers: string[] = [];
    const instance = harness.another((client) => ({
      ...client,
      delete: async (resource, ref, preconditions) => {
        if (resource.kind !== kind.kind) return client.delete(resource, ref, preconditions);
        if (answers.length === 0) await happens();
        const answer = client.delete(resource, ref, preconditions);
        await answer.then(
          () => answers.push('deleted'),
          (error: unknown) => answers.push((error as ApiError).reason),
        );
        return answer;
      },
    }));
    return { ...instance, answers };
  }

  async function isTouched(name: string, touch: () => Promise<unknown>) {
    await createReady(name, unused);
    await setPolicy({ prune: 'WhenUnreferenced', pruneAfter: '1h' });
    const instance = overtaken(VMDiskImage, touch);
    expect(await instance.changed(ConfigMap, policy)).toBe(202);
    expect(instance.answers).toEqual(['Conflict']);
    expect((await imageOf(name))?.metadata.deletionTimestamp).toBeUndefined();
    expect(await eventsOf(name)).toEqual([]);
  }

  test('an image that a user asks to keep stays', () =>
    isTouched('touched', () =>
      harness.kube.patch(VMDiskImage, ofImage('touched'), { metadata: { annotations: { 'pelotech.ot/keep': '' } } }),
    ));
  test('an image that a machine comes to, and is counted for, stays', () =>
    isTouched('wanted', async () => {
      await createMachine(harness.kube, 'comes', 'wanted');
      const status = { references: { count: 1, by: ['lab/comes'] }, unreferencedSince: null };
      await harness.kube.patch(VMDiskImage, ofImage('wanted'), { status }, { subresource: 'status' });
    }));
  test('an image that was deleted and created again under its name stays', () =>
    isTouched('again', async () => {
      await harness.kube.patch(VMDiskImage, ofImage('again'), { metadata: { finalizers: null } });
      await harness.kube.delete(VMDiskImage, ofImage('again'));
      await harness.kube.delete(VolumeSnapshot, ofImage('again-r1'));
      await createReady('again');
    }));
  test('another user’s snapshot under the name of the image’s stays', async () => {
    await createReady('gone');
    await harness.kube.delete(VMDiskImage, ofImage('gone'));
    const instance = overtaken(VolumeSnapshot, async () => {
      await harness.kube.delete(VolumeSnapshot, ofImage('gone-r1'));
      const source = { persistentVolumeClaimName: 'another' };
      await harness.kube.create(VolumeSnapshot, { metadata: ofImage('gone-r1'), spec: { source } });
    });
    expect(await instance.message(prunable, ofImage('gone'))).toBe(202);
    expect(instance.answers).toEqual(['Conflict']);
    expect(await imageOf('gone')).toBeUndefined();
    expect((await harness.kube.get(VolumeSnapshot, ofImage('gone-r1')))?.metadata.deletionTimestamp).toBeUndefined();
  });
});
