import { expect } from 'vitest';
import {
  requestedByLabel,
  requestedByNamespaceLabel,
  VirtualMachine,
} from '../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { untilEventAbout, untilWarning, warningsOf } from './events.ts';
import { putImage, syncImage } from './images.ts';
import { createMachine, deleteWithImage, reasonOf, templateOf, untilMachine, untilResolved } from './machines.ts';
import { calm, dropsAllButTimers } from './subscriptions.ts';
import {
  byName,
  createImage,
  find,
  refIn,
  type Story,
  until,
  untilAnother,
  untilGone,
  untilPhase,
  type World,
} from './world.ts';

const imageOf = (world: World, name: string) => find(world, VMDiskImage, name);

/** A foreign finalizer, which keeps a deleted object until the story removes it. */
const hold = 'example.com/hold';
async function removeFinalizer(world: World, name: string): Promise<void> {
  // Ours is taken away by prune meanwhile: what is written before that would bring it back.
  await until(world, VMDiskImage, refIn(world, name), (image) => image?.metadata.finalizers?.join() === hold);
  await world.kube.patch(VMDiskImage, refIn(world, name), { metadata: { finalizers: null } });
}

export const stories = byName<Story>({
  'a machine that comes before its image: the image is made from its template and downloaded, once': {
    provesPermissions: {},
    quick: true,
    smoke: true,
    run: async (world) => {
      await putImage(world, 'early');
      await createMachine(world, 'vm', 'early', { vmDiskImageTemplate: templateOf(world, 'early') });
      expect(await untilResolved(world, 'vm', 'ImageFound')).toMatchObject({
        status: 'True',
        message: `VMDiskImage ${world.namespace}/early exists.`,
      });
      const { metadata, spec } = await untilPhase(world, 'early', 'Succeeded');
      expect(metadata.labels).toEqual({
        'app.kubernetes.io/created-by': 'ensure-vmdi',
        [requestedByLabel]: 'vm',
        [requestedByNamespaceLabel]: world.namespace,
      });
      expect(metadata.ownerReferences).toBeUndefined();
      expect(spec).toEqual(templateOf(world, 'early'));
      expect(world.history.starts()).toHaveLength(1);
    },
  },
  'a machine takes an existing image as it is: nothing is created and nothing downloaded': async (world) => {
    const { metadata } = await syncImage(world, 'there');
    await createMachine(world, 'vm', 'there', { vmDiskImageTemplate: templateOf(world, 'there') });
    expect(await untilResolved(world, 'vm', 'ImageFound')).toMatchObject({ status: 'True' });
    const now = await imageOf(world, 'there');
    expect(now?.metadata).toMatchObject({ uid: metadata.uid, generation: metadata.generation });
    expect(now?.metadata.labels?.[requestedByLabel]).toBeUndefined();
    expect(world.history.starts()).toHaveLength(1);
  },
  'a machine whose image is still in the queue has found it, too': {
    policy: { concurrency: '0' },
    run: async (world) => {
      await createImage(world, 'waits');
      await untilPhase(world, 'waits', 'Queued');
      await createMachine(world, 'vm', 'waits');
      expect(await untilResolved(world, 'vm', 'ImageFound')).toMatchObject({ status: 'True' });
    },
  },
  'if the template and an existing image differ the image counts, and one Event a generation lists the differences': {
    provesPermissions: {},
    policy: { concurrency: '0' },
    run: async (world) => {
      const { kube, namespace, store } = world;
      await createImage(world, 'differs');
      await createMachine(world, 'vm', 'differs', {
        vmDiskImageTemplate: { ...templateOf(world, 'differs'), diskSize: '65Mi', name: 'Another' },
      });
      const { message } = await untilResolved(world, 'vm', 'ImageFound');
      expect(message).toContain('differs from vmDiskImageTemplate in ');
      const warning = await untilWarning(world, namespace, 'TemplateMismatch');
      expect(warning).toMatchObject({ message, involvedObject: { kind: 'VirtualMachine', name: 'vm' } });
      expect(warning.message).toContain('diskSize (64Mi, not 65Mi)');
      expect(warning.message).toContain('name (none, not Another)');
      expect(warning.message).not.toMatch(/url|secretRef|storageClass|sourceType/);
      expect((await imageOf(world, 'differs'))?.spec.diskSize).toBe('64Mi');
      // The same size in other words, and another url: the next generation has an Event of its own.
      const template = { diskSize: '65536Ki', name: null, url: `${store.url}/images/other.qcow2` };
      await kube.patch(VirtualMachine, { namespace, name: 'vm' }, { spec: { vmDiskImageTemplate: template } });
      const isSaid = (found: VirtualMachine | undefined) =>
        found?.status?.conditions?.some(({ message: said }) => said.includes('in url (')) === true;
      await until(world, VirtualMachine, { namespace, name: 'vm' }, isSaid);
      await createMachine(world, 'agrees', 'differs', { vmDiskImageTemplate: templateOf(world, 'differs') });
      await untilResolved(world, 'agrees', 'ImageFound');
      expect(await warningsOf(world, namespace, 'TemplateMismatch')).toHaveLength(2);
    },
  },
  'FailIfNotExist makes no image, although there is a template: the machine is Failed, and Ready after one download once a user creates it':
    async (world) => {
      await putImage(world, 'strict');
      const vmDiskImageTemplate = templateOf(world, 'strict');
      await createMachine(world, 'vm', 'strict', { mode: 'FailIfNotExist', vmDiskImageTemplate });
      const failed = await untilMachine(world, 'vm', 'Failed');
      expect(reasonOf(failed, 'Ready')).toBe('ImageMissing');
      const message = expect.stringMatching(
        /^VMDiskImage .* does not exist, and mode is FailIfNotExist\. Create it, or /,
      );
      expect(await untilEventAbout(world, 'vm', 'ImageMissing')).toMatchObject({ type: 'Warning', message });
      expect(await untilResolved(world, 'vm', 'ImageMissing')).toMatchObject({ status: 'False', message });
      expect(await imageOf(world, 'strict')).toBeUndefined();
      const { metadata } = await createImage(world, 'strict');
      await untilMachine(world, 'vm', 'Ready');
      expect(await untilResolved(world, 'vm', 'ImageFound')).toMatchObject({ status: 'True' });
      const made = world.history.changes().filter(({ object }) => object.kind === VMDiskImage.kind);
      expect(new Set(made.map(({ object }) => object.metadata.uid))).toEqual(new Set([metadata.uid]));
      expect(world.history.starts()).toHaveLength(1);
    },
  'FailIfNotExist that is changed to CreateIfNotExist makes the image': {
    provesPermissions: { of: ['ensure-vmdi'] },
    policy: { concurrency: '0' },
    run: async (world) => {
      const { kube, namespace } = world;
      const vmDiskImageTemplate = templateOf(world, 'changed');
      await createMachine(world, 'vm', 'changed', { mode: 'FailIfNotExist', vmDiskImageTemplate });
      await untilResolved(world, 'vm', 'ImageMissing');
      // Only the machine is to wake it: not its namespace, whose event comes when it likes.
      await calm(world);
      await kube.patch(VirtualMachine, { namespace, name: 'vm' }, { spec: { mode: 'CreateIfNotExist' } });
      await untilResolved(world, 'vm', 'ImageFound');
      expect((await imageOf(world, 'changed'))?.metadata.labels?.[requestedByLabel]).toBe('vm');
    },
  },
  'without mode and template a machine waits for its image, and continues when it comes': {
    provesPermissions: {},
    quick: true,
    policy: { concurrency: '0' },
    run: async (world) => {
      await createMachine(world, 'vm', 'later');
      expect((await untilResolved(world, 'vm', 'ImageMissing')).message).toContain('does not exist');
      // Only the image is to wake it: nothing that was done to the machine before.
      await calm(world);
      await createImage(world, 'later');
      await untilResolved(world, 'vm', 'ImageFound');
    },
  },
  'two hundred machines that ask for the same missing image at once get one': {
    // Paused: two hundred disks are another story's.
    policy: { concurrency: '0' },
    run: async (world) => {
      const vmDiskImageTemplate = templateOf(world, 'shared');
      const names = Array.from({ length: 200 }, (_, index) => `vm-${index}`);
      await Promise.all(names.map((name) => createMachine(world, name, 'shared', { vmDiskImageTemplate })));
      for (const name of names) await untilResolved(world, name, 'ImageFound');
      const images = world.history.changes().filter(({ object }) => object.kind === VMDiskImage.kind);
      expect(new Set(images.map(({ object }) => object.metadata.uid)).size).toBe(1);
      expect(await warningsOf(world, world.namespace, 'TemplateMismatch')).toEqual([]);
    },
  },
  'the image of a machine is in a namespace of its own, says who asked, and stays when the machine goes': async (
    world,
  ) => {
    const { kube, namespace, store } = world;
    const ref = { namespace: 'vmdi-farm', name: 'apart' };
    await putImage(world, 'apart', { bucket: 'public' });
    const { secretRef: _, ...template } = templateOf(world, 'apart');
    await createMachine(world, 'vm', 'apart', {
      vmDiskImageRef: ref,
      vmDiskImageTemplate: { ...template, sourceType: 'http', url: `${store.url}/public/apart.qcow2` },
    });
    try {
      await untilResolved(world, 'vm', 'ImageFound');
      const image = await until(world, VMDiskImage, ref, (found) => found?.status?.phase === 'Succeeded');
      expect(image?.metadata.labels?.[requestedByNamespaceLabel]).toBe(namespace);
      await kube.delete(VirtualMachine, { namespace, name: 'vm' });
      await untilGone(world, VirtualMachine, { namespace, name: 'vm' });
      const left = await kube.get(VMDiskImage, ref);
      expect(left?.metadata.uid).toBe(image?.metadata.uid);
      expect(left?.metadata.deletionTimestamp).toBeUndefined();
    } finally {
      await deleteWithImage(world, 'vm', ref);
    }
  },
  'a machine that comes while its image is being deleted waits, and gets a new one': async (world) => {
    const { metadata } = await syncImage(world, 'goes', {}, { finalizers: [diskImageFinalizer, hold] });
    await world.kube.delete(VMDiskImage, refIn(world, 'goes'));
    // By the times of the objects, a machine of the second of the deletion came before it.
    await pastSecondOf(await imageOf(world, 'goes'));
    await createMachine(world, 'vm', 'goes', { vmDiskImageTemplate: templateOf(world, 'goes') });
    const { status, message } = await untilResolved(world, 'vm', 'ImageTerminating');
    expect(status).toBe('False');
    expect(message).toContain('waiting until it is gone');
    await removeFinalizer(world, 'goes');
    await untilAnother(world, VMDiskImage, refIn(world, 'goes'), metadata.uid);
    await untilResolved(world, 'vm', 'ImageFound');
    const again = await untilPhase(world, 'goes', 'Succeeded');
    expect(again.metadata.labels?.[requestedByLabel]).toBe('vm');
  },
  'an image that is deleted before any machine has a disk of it is created again for the machines that wait': {
    policy: { concurrency: '0' },
    run: async (world) => {
      await createMachine(world, 'vm', 'lost', { vmDiskImageTemplate: templateOf(world, 'lost') });
      await untilResolved(world, 'vm', 'ImageFound');
      const uid = (await imageOf(world, 'lost'))?.metadata.uid;
      await world.kube.delete(VMDiskImage, refIn(world, 'lost'));
      const again = await untilAnother(world, VMDiskImage, refIn(world, 'lost'), uid);
      expect(again.metadata.labels?.[requestedByLabel]).toBe('vm');
      await untilResolved(world, 'vm', 'ImageFound');
    },
  },
  'a machine that is deleted asks for no image any more': {
    policy: { concurrency: '0' },
    run: async (world) => {
      const { kube, namespace } = world;
      const ref = { namespace, name: 'vm' };
      const template = { vmDiskImageTemplate: templateOf(world, 'over') };
      await createMachine(world, 'vm', 'over', template, { finalizers: [hold] });
      await untilResolved(world, 'vm', 'ImageFound');
      const uid = (await imageOf(world, 'over'))?.metadata.uid;
      await kube.delete(VirtualMachine, ref);
      await kube.delete(VMDiskImage, refIn(world, 'over'));
      await until(world, VMDiskImage, refIn(world, 'over'), (found) => found?.metadata.uid !== uid);
      // Another machine's image is made after the first had its turn.
      await createMachine(world, 'next', 'next', { vmDiskImageTemplate: templateOf(world, 'next') });
      await untilResolved(world, 'next', 'ImageFound');
      expect(await imageOf(world, 'over')).toBeUndefined();
      await kube.patch(VirtualMachine, ref, { metadata: { finalizers: null } });
      await untilGone(world, VirtualMachine, ref);
    },
  },
  'a machine that its image does not count yet continues as soon as the image has succeeded, without a timer': {
    localOnly: 'a real Broker drops nothing on demand',
    local: {
      faults: {
        drop: ({ event, trigger }) =>
          event.attributes.type === 'dev.knative.sources.ping' || trigger.includes('count-refs'),
      },
    },
    run: async (world) => {
      await putImage(world, 'uncounted');
      await createImage(world, 'uncounted');
      await createMachine(world, 'vm', 'uncounted');
      await untilMachine(world, 'vm', 'Ready');
      expect((await imageOf(world, 'uncounted'))?.status?.references).toBeUndefined();
    },
  },
  'with every event dropped the audit alone makes the image': {
    provesPermissions: { of: ['ensure-vmdi'], byTimers: true },
    localOnly: 'a real Broker drops nothing on demand',
    local: dropsAllButTimers,
    policy: { concurrency: '0' },
    run: async (world) => {
      await createMachine(world, 'vm', 'unheard', { vmDiskImageTemplate: templateOf(world, 'unheard') });
      await untilResolved(world, 'vm', 'ImageFound');
      expect(await imageOf(world, 'unheard')).toBeDefined();
    },
  },
  'with every event delivered twice and late there is one image and one Event': {
    localOnly: 'a real Broker repeats nothing on demand',
    local: { faults: { duplicate: 'all', reorder: { seed: 7, withinMs: 100 } } },
    policy: { concurrency: '0' },
    run: async (world) => {
      await createImage(world, 'twice');
      const vmDiskImageTemplate = { ...templateOf(world, 'twice'), diskSize: '65Mi' };
      for (const name of ['a', 'b']) await createMachine(world, name, 'twice', { vmDiskImageTemplate });
      for (const name of ['a', 'b']) await untilResolved(world, name, 'ImageFound');
      await untilWarning(world, world.namespace, 'TemplateMismatch');
      expect(await warningsOf(world, world.namespace, 'TemplateMismatch')).toHaveLength(2);
    },
  },
});

/** Resolves when a new object gets a later creationTimestamp than the deletion of this one. */
async function pastSecondOf(image: VMDiskImage | undefined): Promise<void> {
  const next = Date.parse(image?.metadata.deletionTimestamp ?? '') + 1000;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - Date.now())));
}
