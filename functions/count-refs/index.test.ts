import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diskImageFact, factAttributes } from '../../shared/images/facts.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { policyRef } from '../../shared/policy.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { aMachineOf } from '../../test/support/builders/workspaces.ts';
import { createImage, createMachine } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const fresh = factAttributes(aVMDiskImage());
const made = { ...fresh, named: 'true' as const };
const harness = await serveFunction(declaration);
afterAll(harness.close);
const { kube } = harness;

await kube.create(Namespace, { metadata: { name: 'lab' } });

const ofImage = (name: string) => ({ name, namespace: 'vmdi-farm' });
const ofMachine = (name: string, namespace = 'lab') => ({ name, namespace });

/** As start-sync and follow-sync leave it. */
const takenIn = (name: string, phase = 'Succeeded') => createImage(kube, name, { status: { phase } });

const referencesOf = async (image: string) => (await kube.get(VMDiskImage, ofImage(image)))?.status?.references;

describe('an image', () => {
  test('says who uses it, from the first machine to the last', async () => {
    await takenIn('life');
    expect(await harness.message(diskImageFact('succeeded'), ofImage('life'), fresh)).toBe(202);
    const unused = await kube.get(VMDiskImage, ofImage('life'));
    expect(unused?.status).toMatchObject({ references: { count: 0 } });
    expect(Date.now() - Date.parse(unused?.status?.unreferencedSince ?? '')).toBeLessThan(5000);

    await createMachine(kube, 'life-a', 'life');
    await createMachine(kube, 'life-b', 'life');
    expect(await harness.changed(VirtualMachine, ofMachine('life-a'))).toBe(202);
    const used = await kube.get(VMDiskImage, ofImage('life'));
    expect(used?.status).toMatchObject({
      phase: 'Succeeded',
      references: { count: 2, by: ['lab/life-a', 'lab/life-b'] },
    });
    expect((await kube.get(VirtualMachine, ofMachine('life-b')))?.metadata.finalizers).toEqual([
      imageReferenceFinalizer,
    ]);

    await kube.delete(VirtualMachine, ofMachine('life-a'));
    expect(await kube.get(VirtualMachine, ofMachine('life-a'))).toBeDefined();
    expect(await harness.changed(VirtualMachine, ofMachine('life-a'))).toBe(202);
    expect(await kube.get(VirtualMachine, ofMachine('life-a'))).toBeUndefined();
    expect(await referencesOf('life')).toEqual({ count: 1, by: ['lab/life-b'] });
  });
  test('that was made for a machine is counted when it is queued', async () => {
    await createMachine(kube, 'told', 'told');
    expect(await harness.changed(VirtualMachine, ofMachine('told'), 'add')).toBe(202);
    await takenIn('told', 'Queued');
    expect(await harness.message(diskImageFact('queued'), ofImage('told'), made)).toBe(202);
    expect(await referencesOf('told')).toEqual({ count: 1, by: ['lab/told'] });
  });
  test('is counted by the policy if anything names it, and else without a read of it', async () => {
    const read: string[] = [];
    const watched = harness.another((client) => ({
      ...client,
      get: (resource, ref) => {
        read.push(resource.kind);
        return client.get(resource, ref);
      },
    }));
    await takenIn('unnamed');
    expect(await watched.message(diskImageFact('succeeded'), ofImage('unnamed'), fresh)).toBe(202);
    expect(read).toEqual(['VMDiskImage']);
    await createMachine(kube, 'named', 'named');
    expect(await watched.changed(VirtualMachine, ofMachine('named'), 'add')).toBe(202);
    read.length = 0;
    await takenIn('named');
    expect(await watched.message(diskImageFact('succeeded'), ofImage('named'), fresh)).toBe(202);
    expect(read).toContain('ConfigMap');
  });
  test.each(['Succeeded', 'Failed'])('without machines is counted when its %s event arrives', async (phase) => {
    const name = `unused-${phase.toLowerCase()}`;
    await takenIn(name, phase);
    expect(await harness.message(diskImageFact(phase.toLowerCase()), ofImage(name), fresh)).toBe(202);
    expect(await referencesOf(name)).toEqual({ count: 0, by: [] });
  });
  test('counts the workspace that waits for it, and reads no other', async () => {
    await takenIn('waited');
    const vms = (image: string) => [aMachineOf({ backingVMDiskImage: image })];
    const labelled = (image: string) => ({ [`image.pelotech.ot/${image}`]: '' });
    await kube.create(Workspace, {
      metadata: { name: 'lab1', labels: labelled('waited') },
      spec: { vms: vms('waited') },
    });
    // A label alone makes no user.
    await kube.create(Workspace, {
      metadata: { name: 'lab2', labels: labelled('waited') },
      spec: { vms: vms('other') },
    });
    await kube.create(Workspace, {
      metadata: { name: 'lab3', labels: labelled('other') },
      spec: { vms: vms('other') },
    });
    const read: string[] = [];
    const watched = harness.another((client) => ({
      ...client,
      list: async (resource, options) => {
        const found = await client.list(resource, options);
        read.push(...found.map(({ metadata }) => metadata.name));
        return found;
      },
    }));
    expect(await watched.message(diskImageFact('succeeded'), ofImage('waited'), fresh)).toBe(202);
    expect(await referencesOf('waited')).toEqual({ count: 1, by: ['Workspace lab1'] });
    expect(new Set(read)).toEqual(new Set(['lab1', 'lab2']));
  });
  test('counts, by an audit, a workspace that has no labels yet', async () => {
    await takenIn('unlabelled');
    expect(await harness.message(diskImageFact('succeeded'), ofImage('unlabelled'), fresh)).toBe(202);
    const vms = [aMachineOf({ backingVMDiskImage: 'unlabelled' })];
    await kube.create(Workspace, { metadata: { name: 'lab4' }, spec: { vms } });
    expect(await harness.audit()).toBe(202);
    expect(await referencesOf('unlabelled')).toEqual({ count: 1, by: ['Workspace lab4'] });
  });
  test('is written to once for one change, however often the event comes', async () => {
    await takenIn('calm');
    await createMachine(kube, 'calm', 'calm');
    await harness.changed(VirtualMachine, ofMachine('calm'));
    const before = (await kube.get(VMDiskImage, ofImage('calm')))?.metadata.resourceVersion;
    for (let times = 0; times < 3; times++) {
      expect(await harness.changed(VirtualMachine, ofMachine('calm'))).toBe(202);
      expect(await harness.audit()).toBe(202);
    }
    expect((await kube.get(VMDiskImage, ofImage('calm')))?.metadata.resourceVersion).toBe(before);
  });
  test('whose references a user invented is corrected by the audit', async () => {
    await takenIn('garbled');
    await createMachine(kube, 'garbled', 'garbled');
    await kube.patch(
      VMDiskImage,
      ofImage('garbled'),
      { status: { references: { count: 99, by: ['lab/ghost'] }, unreferencedSince: '2020-01-01T00:00:00Z' } },
      { subresource: 'status', fieldManager: 'kubectl-edit' },
    );
    expect(await harness.audit()).toBe(202);
    expect((await kube.get(VMDiskImage, ofImage('garbled')))?.status).toEqual({
      observedGeneration: -1,
      phase: 'Succeeded',
      references: { count: 1, by: ['lab/garbled'] },
    });
  });
  test('is counted again when the policy changes who may name it', async () => {
    const own = policyRef;
    await takenIn('policy');
    await createMachine(kube, 'policy', 'policy');
    await harness.changed(VirtualMachine, ofMachine('policy'));
    await kube.patch(ConfigMap, own, { data: { imageNamespaces: 'another' } });
    expect(await harness.changed(ConfigMap, own)).toBe(202);
    expect(await referencesOf('policy')).toEqual({ count: 0, by: [] });
    await kube.patch(ConfigMap, own, { data: { imageNamespaces: null } });
    expect(await harness.changed(ConfigMap, own)).toBe(202);
    expect(await referencesOf('policy')).toEqual({ count: 1, by: ['lab/policy'] });
  });
});

describe('a machine', () => {
  test('whose image is not there has its finalizer, goes without one, and is counted by its event once the image is there', async () => {
    await createMachine(kube, 'early', 'late');
    await createMachine(kube, 'leaves', 'late');
    await harness.changed(VirtualMachine, ofMachine('early'));
    expect((await kube.get(VirtualMachine, ofMachine('early')))?.metadata.finalizers).toHaveLength(1);
    await kube.delete(VirtualMachine, ofMachine('leaves'));
    expect(await harness.changed(VirtualMachine, ofMachine('leaves'))).toBe(202);
    expect(await kube.get(VirtualMachine, ofMachine('leaves'))).toBeUndefined();
    await takenIn('late');
    expect(await harness.changed(VirtualMachine, ofMachine('early'))).toBe(202);
    expect(await referencesOf('late')).toEqual({ count: 1, by: ['lab/early'] });
  });
  test('whose finalizer another manager also owns is still released', async () => {
    await takenIn('shared');
    await createMachine(kube, 'shared', 'shared', { metadata: { finalizers: [imageReferenceFinalizer] } });
    await harness.changed(VirtualMachine, ofMachine('shared'));
    expect(await referencesOf('shared')).toMatchObject({ count: 1 });
    await kube.delete(VirtualMachine, ofMachine('shared'));
    await harness.changed(VirtualMachine, ofMachine('shared'));
    expect(await kube.get(VirtualMachine, ofMachine('shared'))).toBeUndefined();
    expect(await referencesOf('shared')).toMatchObject({ count: 0 });
  });
  test('that is gone is no error', async () => {
    expect(await harness.changed(VirtualMachine, ofMachine('never'))).toBe(202);
    expect(await harness.message(diskImageFact('queued'), ofImage('never'), made)).toBe(202);
  });
});

describe('a crowd on one image', () => {
  const names = Array.from({ length: 25 }, (_, index) => `crowd-${String(index).padStart(2, '0')}`);
  const last = ofMachine(names.at(-1) ?? '');
  beforeAll(async () => {
    await takenIn('crowd');
    for (const name of names) await createMachine(kube, name, 'crowd');
    await harness.changed(VirtualMachine, last, 'add');
  });

  /** What is listed at an event. */
  async function read(verb: 'add' | 'update') {
    const lists: string[] = [];
    const instance = harness.another((client) => ({
      ...client,
      pages: (resource, options) => {
        lists.push(resource.kind);
        return client.pages(resource, options);
      },
    }));
    // The cache lists once.
    expect(await instance.changed(VirtualMachine, last)).toBe(202);
    lists.length = 0;
    expect(await instance.changed(VirtualMachine, last, verb)).toBe(202);
    return lists;
  }

  test('is listed neither when one of its machines is updated nor when one is added', async () => {
    expect(await referencesOf('crowd')).toMatchObject({ count: 25 });
    expect(await read('update')).toEqual([]);
    expect(await read('add')).toEqual([]);
  });
  test('is counted when a machine is added that has its finalizer already, such as one from a backup', async () => {
    const references = { count: 24, by: names.slice(0, 20).map((name) => `lab/${name}`) };
    await kube.patch(VMDiskImage, ofImage('crowd'), { status: { references } }, { subresource: 'status' });
    await harness.changed(VirtualMachine, last, 'update');
    expect(await referencesOf('crowd')).toMatchObject({ count: 24 });
    await harness.changed(VirtualMachine, last, 'add');
    expect(await referencesOf('crowd')).toMatchObject({ count: 25 });
  });
  test('is counted again where a count that began with an update met a conflict', async () => {
    const added = ofMachine('crowd-99');
    await createMachine(kube, added.name, 'crowd');
    let conflicts = 0;
    const instance = harness.another((client) => ({
      ...client,
      patch: (resource, ref, patch, options) => {
        if (resource.kind !== VMDiskImage.kind || conflicts > 0) return client.patch(resource, ref, patch, options);
        conflicts++;
        return Promise.reject(new ApiError(409, 'Conflict', 'the object has been modified'));
      },
    }));
    expect(await instance.changed(VirtualMachine, added)).toBe(202);
    expect(conflicts).toBe(1);
    expect(await referencesOf('crowd')).toMatchObject({ count: 26 });
  });
});
